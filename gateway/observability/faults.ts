/**
 * Uncaught exceptions: thrown in a timer or an event handler, or a promise rejection without a
 * handler. Each is logged with its stack, and the process then stops in order: the damage is
 * unknown, so it accepts no new calls, but running streams may finish within the drain time.
 */
import { eventLine } from "./log.ts";
import { withoutQuotes } from "../../translate/errors/kept_words.ts";

/** Dependencies of {@linkcode watchFaults}. */
interface FaultOptions {
  /** Receives the platform's error events; absent: the global scope. */
  readonly target?: EventTarget;
  /** Writes one line of JSON per exception. */
  readonly print: (line: string) => void;
  /** Increments the metric. */
  readonly count: () => void;
  /**
   * Begins the orderly stop, with exit code 1. Called for each exception; later calls do nothing.
   */
  readonly stop: () => void;
  /**
   * Secrets that a message could contain and a log must not: keys, tokens, passwords of addresses.
   */
  readonly secrets: () => readonly string[];
  /** Unix time in milliseconds. */
  readonly now: () => number;
}

const MAX_MESSAGE_CHARS = 300;
const MAX_FRAMES = 30;
/** Shorter texts occur by chance. */
const MIN_SECRET_CHARS = 4;
const REMOVED = "[removed]";

/** Handles uncaught exceptions, for which the platform would end the process at once. */
export function watchFaults(options: FaultOptions): void {
  const { target = globalThis, print, count, stop, now } = options;
  const report = (
    event: { preventDefault(): void },
    source: string,
    thrown: unknown,
  ): void => {
    // Otherwise the platform prints the error and ends the process at once.
    event.preventDefault();
    count();
    print(eventLine({
      type: "fault",
      source,
      error: new Error(withoutSecrets(faultText(thrown), options.secrets())),
    }, new Date(now()).toISOString()));
    stop();
  };
  target.addEventListener("error", (event) => {
    report(event, "exception", "error" in event ? event.error : undefined);
  });
  target.addEventListener("unhandledrejection", (event) => {
    report(event, "rejection", "reason" in event ? event.reason : undefined);
  });
}

/**
 * Name, message and stack of the error and its causes. Quotes in the message may be of a request;
 * that of a syntax error quotes what was parsed.
 */
function faultText(thrown: unknown): string {
  const parts: string[] = [];
  for (let error = thrown, depth = 0; depth < 3; depth++) {
    if (!(error instanceof Error)) {
      if (depth === 0) parts.push(`a value of type ${typeof error} was thrown`);
      break;
    }
    const frames = (error.stack ?? "").split("\n").filter((line) =>
      /^\s+at /.test(line)
    );
    parts.push([
      error instanceof SyntaxError
        ? error.name
        : `${error.name}: ${
          withoutQuotes(error.message.slice(0, MAX_MESSAGE_CHARS))
        }`,
      ...frames.slice(0, MAX_FRAMES).map((line) => line.trim()),
    ].join(" | "));
    error = error.cause;
  }
  return parts.join(" | caused by ");
}

/** The text without the secrets that are long enough not to occur by chance. */
export function withoutSecrets(
  text: string,
  secrets: readonly string[],
): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_CHARS) continue;
    clean = clean.replaceAll(secret, REMOVED);
  }
  return clean;
}

/** The password in a database address, as written and decoded. */
export function passwordsIn(address: string): readonly string[] {
  const written = /^[a-z]+:\/\/[^:@/]*:([^@/]*)@/.exec(address)?.[1] ?? "";
  try {
    return [written, decodeURIComponent(written)];
  } catch {
    return [written];
  }
}
