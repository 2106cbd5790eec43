/**
 * The commands: which operation each stands for, and what its flags say in the operation's own words.
 *
 * @module
 */
import type { JsonDraft } from "../translate/json.ts";

/** A flag of a command. */
export interface Flag {
  /** The field of the body or query that it fills. */
  readonly field: string;
  /** How the text after the flag is read; `none` is null for lists, numbers and amounts. */
  readonly kind: "text" | "number" | "list" | "usd" | "duration" | "moment";
  /** What follows the flag's name in the help. */
  readonly help: string;
}

/** A command: `deno task gateway NOUN VERB [ID] [--FLAG …]`. */
export interface Command {
  /** First word; the help is told by it. */
  readonly noun: string;
  /** Second word; the two together are unique. */
  readonly verb: string;
  /** Operation of the admin API; `audit` is the command line's own. */
  readonly operation: string;
  /** What the id that follows names; absent: none follows. */
  readonly id?: string;
  /** By name, without the dashes. */
  readonly flags: Readonly<Record<string, Flag>>;
}

const text = (field: string, help: string): Flag => ({
  field,
  kind: "text",
  help,
});
const LIST: Readonly<Record<string, Flag>> = {
  limit: text("limit", "how many, 1 to 1000"),
  after: text("after", "where the page before ended"),
};
const PLAN: Readonly<Record<string, Flag>> = {
  models: { field: "models", kind: "list", help: "a,b,c, or none for all" },
  rpm: {
    field: "requests_per_minute",
    kind: "number",
    help: "requests a minute, or none",
  },
  tpm: {
    field: "tokens_per_minute",
    kind: "number",
    help: "tokens a minute, or none",
  },
  concurrent: {
    field: "concurrent_requests",
    kind: "number",
    help: "requests at once, or none",
  },
  "usd-per-day": {
    field: "spend_per_day_micro_usd",
    kind: "usd",
    help: "dollars a day (UTC), or none",
  },
};
const ACCOUNT: Readonly<Record<string, Flag>> = {
  name: text("name", "for people"),
  plan: text("plan", "id of a plan"),
  billing: text("billing", "prepaid or postpaid"),
};
const FILTERS: Readonly<Record<string, Flag>> = {
  account: text("account", "of this account"),
  key: text("key", "of this key"),
  from: text("from", "from this day on, as 2026-11-21"),
  to: text("to", "to this day"),
};

/** All commands, in the order in which the help tells them. */
export const COMMANDS: readonly Command[] = [
  { noun: "accounts", verb: "list", operation: "listAccounts", flags: LIST },
  {
    noun: "accounts",
    verb: "show",
    operation: "getAccount",
    id: "account",
    flags: {},
  },
  {
    noun: "accounts",
    verb: "create",
    operation: "createAccount",
    flags: { id: text("id", "an id of your own"), ...ACCOUNT },
  },
  {
    noun: "accounts",
    verb: "update",
    operation: "updateAccount",
    id: "account",
    flags: { ...ACCOUNT, status: text("status", "active or disabled") },
  },
  {
    noun: "accounts",
    verb: "top-up",
    operation: "topUpAccount",
    id: "account",
    flags: {
      usd: { field: "micro_usd", kind: "usd", help: "dollars, as 12.50" },
      model: text("model", "for the calls of this model alone"),
      note: text("note", "what for"),
    },
  },
  {
    noun: "accounts",
    verb: "top-ups",
    operation: "listTopUps",
    id: "account",
    flags: LIST,
  },
  { noun: "plans", verb: "list", operation: "listPlans", flags: LIST },
  { noun: "plans", verb: "show", operation: "getPlan", id: "plan", flags: {} },
  {
    noun: "plans",
    verb: "create",
    operation: "createPlan",
    flags: { id: text("id", "an id of your own"), ...PLAN },
  },
  {
    noun: "plans",
    verb: "update",
    operation: "updatePlan",
    id: "plan",
    flags: PLAN,
  },
  {
    noun: "keys",
    verb: "list",
    operation: "listKeys",
    flags: { account: text("account", "of this account"), ...LIST },
  },
  { noun: "keys", verb: "show", operation: "getKey", id: "key", flags: {} },
  {
    noun: "keys",
    verb: "issue",
    operation: "issueKey",
    flags: {
      account: text("account", "whose key it is"),
      name: text("name", "for people"),
      models: { field: "models", kind: "list", help: "a,b,c of the plan's" },
      expires: {
        field: "expires_at",
        kind: "moment",
        help: "a day, a time, or how long: 30d",
      },
    },
  },
  {
    noun: "keys",
    verb: "rotate",
    operation: "rotateKey",
    id: "key",
    flags: {
      overlap: {
        field: "overlap_seconds",
        kind: "duration",
        help: "how long the old one works on: 24h",
      },
    },
  },
  {
    noun: "keys",
    verb: "revoke",
    operation: "revokeKey",
    id: "key",
    flags: {},
  },
  {
    noun: "usage",
    verb: "report",
    operation: "reportUsage",
    flags: {
      by: text("by", "day,account,key,model,user: some of them"),
      ...FILTERS,
      model: text("model", "of this model"),
      user: text("user", "of this user of the callers' own"),
      ...LIST,
    },
  },
  {
    noun: "ledger",
    verb: "list",
    operation: "listLedger",
    flags: {
      ...FILTERS,
      kind: text("kind", "charge or top_up"),
      request: text("request_id", "of this request"),
      ...LIST,
    },
  },
  {
    noun: "ledger",
    verb: "export",
    operation: "exportLedger",
    flags: {
      format: text("format", "jsonl or csv"),
      ...FILTERS,
      kind: text("kind", "charge or top_up"),
    },
  },
  { noun: "ledger", verb: "audit", operation: "audit", flags: {} },
];

/** A flag that says something that it cannot. */
export class FlagError extends Error {}

/**
 * What the flags say, as the fields of a body or query.
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
        `--${name}: ${command.noun} ${command.verb} has no such flag`,
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

/** Dollars to micro-dollars by their digits: no float comes near money. */
function microUsdOf(name: string, value: string): number {
  const match = /^(-?)\$?(\d{1,9})(?:\.(\d{1,6}))?$/.exec(value);
  if (match === null) {
    throw new FlagError(
      `--${name}: expected dollars, as 12.50, with six digits after the point at most`,
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
      `--${name}: expected how long, as 90s, 30m, 24h or 30d`,
    );
  }
  return Number(match[1]) * unit;
}
