/**
 * What a run found, with what it was found on, as a file. It names no machine, no folder and nobody.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { arch, cpus, platform, totalmem } from "node:os";
import type { MemoryRow, StartRow } from "./memory.ts";
import type { Row } from "./summary.ts";

/** A run. */
export interface RunResult {
  /** In UTC, as ISO 8601 has it. */
  readonly date: string;
  /** What it ran on. */
  readonly machine: Machine;
  /** Of Deno, and of each target that is not this project's. */
  readonly versions: Readonly<Record<string, string>>;
  /** Rounds that counted. */
  readonly rounds: number;
  /** Those in which paced streams were measured. */
  readonly pacedRounds: number;
  /** Of one measurement. */
  readonly ms: number;
  /** What was measured, and what each is. */
  readonly targets: readonly {
    readonly name: string;
    readonly about: string;
  }[];
  /** What could not be measured, and why. */
  readonly skipped: readonly { readonly what: string; readonly why: string }[];
  /** A scenario on a target each. */
  readonly rows: readonly Row[];
  /** 1,000 streams held open; empty where they were not. */
  readonly memory: readonly MemoryRow[];
  /** How long starts take; empty where none were measured. */
  readonly starts: readonly StartRow[];
}

/** What it ran on. */
export interface Machine {
  /** Processors, as the system counts them. */
  readonly cores: number;
  /** As it calls itself. */
  readonly processor: string;
  /** Memory, rounded. */
  readonly memoryGiB: number;
  /** Operating system and architecture. */
  readonly system: string;
  /** Processes that were running or waiting to run, on average over the minute before; other work spoils the figures. */
  readonly loadBefore: number;
}

/** Looks at the machine. */
export function machine(): Machine {
  return {
    cores: cpus().length,
    processor: processorName(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${arch()}`,
    loadBefore: Number((Deno.loadavg()[0] ?? 0).toFixed(2)),
  };
}

function processorName(): string {
  try {
    const name = /^model name\s*: (.+)$/m.exec(
      readFileSync("/proc/cpuinfo", "utf8"),
    )?.[1];
    if (name !== undefined) return name.trim();
  } catch {
    // Not Linux.
  }
  return cpus()[0]?.model ?? "unknown";
}

/** The version of a program, as its first line about it tells; undefined where it is not there. */
export async function versionOf(
  program: string,
  flag: string,
): Promise<string | undefined> {
  try {
    const { stdout, stderr } = await new Deno.Command(program, {
      args: [flag],
    }).output();
    const decoder = new TextDecoder();
    const said = decoder.decode(stdout) + decoder.decode(stderr);
    return /\d+\.\d+(\.\d+)?/.exec(said)?.[0];
  } catch {
    return undefined;
  }
}

/** The figures with digits that mean something: files that are compared should not differ in noise. */
export function resultText(result: RunResult): string {
  const rounded = (_: string, value: unknown): unknown =>
    typeof value === "number" && !Number.isInteger(value)
      ? Number(value.toPrecision(4))
      : value;
  return `${JSON.stringify(result, rounded, 2)}\n`;
}

/**
 * Reads a run's file.
 *
 * @throws {TypeError} where it is something else
 */
export async function readResult(path: string): Promise<RunResult> {
  const result: unknown = JSON.parse(await Deno.readTextFile(path));
  if (
    typeof result !== "object" || result === null || !("rows" in result) ||
    !("machine" in result)
  ) throw new TypeError(`${path} is no result of this benchmark`);
  // Who writes these files is above.
  return result as RunResult;
}

/** Writes a run's file into a folder, named after its date. Gives the name. */
export async function keepResult(
  result: RunResult,
  folder: URL,
): Promise<string> {
  const name = `${result.date.slice(0, 16).replaceAll(/[T:]/g, "-")}.json`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(new URL(name, folder), resultText(result));
  return name;
}
