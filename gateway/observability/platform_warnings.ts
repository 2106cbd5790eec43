/**
 * Warnings of the platform, and what libraries write to the console, as lines of the log: by
 * themselves they are text between its lines.
 */
import process from "node:process";
import { withoutQuotes } from "../../translate/errors/kept_words.ts";
import { withoutSecrets } from "./faults.ts";
import { eventLine } from "./log.ts";

const METHODS = ["debug", "info", "log", "warn", "error", "trace"] as const;
const MAX_CHARS = 300;

interface WarningOptions {
  /** Receives each line. */
  readonly print: (line: string) => void;
  /** Secrets that a text could contain and a log must not. */
  readonly secrets: () => readonly string[];
  /** Absent: the global one. */
  readonly console?: Pick<Console, typeof METHODS[number]>;
}

/** Takes the place of the platform's writers, for good. */
export function watchWarnings(
  { print, secrets, console = globalThis.console }: WarningOptions,
): void {
  const write = (text: string): void =>
    print(eventLine({
      type: "platform_warning",
      text: withoutSecrets(withoutQuotes(text.slice(0, MAX_CHARS)), secrets()),
    }));
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => write(`${name}: ${message}`));
  for (const method of METHODS) {
    console[method] = (...parts: readonly unknown[]) =>
      write(parts.map(String).join(" "));
  }
}
