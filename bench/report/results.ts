/**
 * The result of a run as a file, with a description of the machine. It contains no host name, path
 * or user name.
 */
import { readFileSync } from "node:fs";
import { arch, cpus, platform, totalmem } from "node:os";
import type { MemoryRow, StartRow } from "../measure/memory.ts";
import { overTlsName } from "../measure/scenarios.ts";
import type { SteadyRow } from "../measure/steady.ts";
import type { Row } from "./summary.ts";

export interface RunResult {
  /** Start of the run, in UTC as ISO 8601. */
  readonly date: string;
  /** The machine of the run. */
  readonly machine: Machine;
  /** Versions of Deno and of the other programs, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** Number of rounds, not counting the warm-up. */
  readonly rounds: number;
  /** True: everything was measured with an upstream over TLS. */
  readonly tls?: boolean;
  /** Number of rounds that include paced streams. */
  readonly pacedRounds: number;
  /** Length of one measurement. */
  readonly ms: number;
  /** The targets, with a description. */
  readonly targets: readonly {
    readonly name: string;
    readonly about: string;
  }[];
  /** Targets and directions that could not be measured, and why. */
  readonly skipped: readonly { readonly what: string; readonly why: string }[];
  /** One row per scenario and target. */
  readonly rows: readonly Row[];
  /** Memory of 1,000 open streams; empty when not measured. */
  readonly memory: readonly MemoryRow[];
  /** A steady rate of calls; absent when not measured. */
  readonly steady?: readonly SteadyRow[];
  /** Start times; empty when not measured. */
  readonly starts: readonly StartRow[];
}

/** Description of a machine. */
export interface Machine {
  /** Number of logical processors. */
  readonly cores: number;
  /** Model name of the processor. */
  readonly processor: string;
  /** Memory, rounded to whole GiB. */
  readonly memoryGiB: number;
  /** Operating system and architecture. */
  readonly system: string;
  /** Load average over the minute before the run; a high load makes the figures unreliable. */
  readonly loadBefore: number;
}

/** Describes this machine. */
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
    // The file exists on Linux only.
  }
  return cpus()[0]?.model ?? "unknown";
}

/** The first version number that a program prints; undefined when it is not installed. */
export async function versionOf(
  program: string,
  flag: string,
): Promise<string | undefined> {
  try {
    const { stdout, stderr } = await new Deno.Command(program, {
      args: [flag],
    }).output();
    const decoder = new TextDecoder();
    const output = decoder.decode(stdout) + decoder.decode(stderr);
    return /\d+\.\d+(\.\d+)?/.exec(output)?.[0];
  } catch {
    return undefined;
  }
}

/** A result as JSON with a line for each row, see {@linkcode roundedJson}. */
export function resultText(result: RunResult): string {
  const json = (value: unknown): string => JSON.stringify(value, rounded);
  const parts = Object.entries(result).map(([name, part]) =>
    `${json(name)}: ${
      Array.isArray(part) ? `[\n${part.map(json).join(",\n")}\n]` : json(part)
    }`
  );
  return `{\n${parts.join(",\n")}\n}\n`;
}

/**
 * A value as JSON, with numbers rounded to four significant digits so that a diff shows no noise.
 */
export function roundedJson(value: unknown): string {
  return `${JSON.stringify(value, rounded, 2)}\n`;
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value)
    ? Number(value.toPrecision(4))
    : value;
}

/**
 * Reads the file of a run.
 *
 * @throws {TypeError} when the file is not a result of this benchmark
 */
export async function readResult(path: string): Promise<RunResult> {
  const result: unknown = JSON.parse(await Deno.readTextFile(path));
  if (
    typeof result !== "object" || result === null || !("rows" in result) ||
    !("machine" in result)
  ) throw new TypeError(`${path} is not a result of this benchmark`);
  // Result files are written by `keepResult` only.
  const run = result as RunResult;
  // Older runs over TLS have no `tls/` in the names.
  return run.tls !== true ? run : {
    ...run,
    rows: run.rows.map((row) => ({
      ...row,
      scenario: overTlsName(row.scenario),
    })),
  };
}

/** Writes a run's file, named after its date, in place of the earlier ones. Returns the name. */
export async function keepResult(
  result: RunResult,
  folder: URL,
): Promise<string> {
  const name = `${result.date.slice(0, 16).replaceAll(/[T:]/g, "-")}.json`;
  try {
    await Deno.remove(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(new URL(name, folder), resultText(result));
  return name;
}
