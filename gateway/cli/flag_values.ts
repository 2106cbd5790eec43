/**
 * Reads the values of a command's flags as the fields of a body or query.
 */
import type { JsonDraft } from "../../translate/bytes/json.ts";
import type { Command, Flag } from "./commands.ts";

/** A flag with an invalid value. */
export class FlagError extends Error {}

/**
 * Converts flags to the fields of a body or query.
 *
 * @throws {FlagError} naming the flag
 */
export function fieldsOf(
  command: Command,
  flags: Readonly<Record<string, string>>,
  nowMs: number,
): JsonDraft {
  const fields: JsonDraft = {};
  for (const [name, value] of Object.entries(flags)) {
    const flag = command.flags[name];
    if (flag === undefined) {
      throw new FlagError(
        `--${name}: not a flag of ${command.noun} ${command.verb}`,
      );
    }
    fields[flag.field] = valueOf(name, flag, value, nowMs);
  }
  return fields;
}

function valueOf(
  name: string,
  flag: Flag,
  value: string,
  nowMs: number,
): unknown {
  const isNone = value === "none";
  switch (flag.kind) {
    case "text":
      return value;
    case "switch":
      return true;
    case "list":
      return isNone ? null : value.split(",").map((part) => part.trim());
    case "number":
      if (isNone) return null;
      if (!/^\d{1,15}$/.test(value)) {
        throw new FlagError(`--${name}: expected a whole number or none`);
      }
      return Number(value);
    case "usd":
      return isNone ? null : microUsdOf(name, value);
    case "duration":
      return seconds(name, value);
    case "moment":
      return /^\d+[smhd]$/.test(value)
        ? new Date(nowMs + seconds(name, value) * 1000).toISOString()
        : /^\d{4}-\d{2}-\d{2}$/.test(value)
        ? `${value}T00:00:00Z`
        : value;
  }
}

/** Parsed digit by digit: amounts of money never pass through a float. */
function microUsdOf(name: string, value: string): number {
  const match = /^(-?)\$?(\d{1,9})(?:\.(\d{1,6}))?$/.exec(value);
  if (match === null) {
    throw new FlagError(
      `--${name}: expected dollars such as 12.50, with at most six digits after the point`,
    );
  }
  const [, sign, whole = "", part = ""] = match;
  const amount = Number(whole + part.padEnd(6, "0"));
  return sign === "-" ? -amount : amount;
}

const SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
};

function seconds(name: string, value: string): number {
  const match = /^(\d{1,9})([smhd])$/.exec(value);
  const unit = SECONDS[match?.[2] ?? ""];
  if (match === null || unit === undefined) {
    throw new FlagError(
      `--${name}: expected a duration such as 90s, 30m, 24h or 30d`,
    );
  }
  return Number(match[1]) * unit;
}
