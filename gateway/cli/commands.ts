/**
 * The commands: the operation behind each, and the fields that its flags fill.
 *
 * @module
 */
import type { FlagKind, RecordFields } from "../accounts/field.ts";
import { ACCOUNT, KEY, KEY_CHANGES, PLAN } from "../accounts/records.ts";
import { TOKEN } from "../accounts/repositories/token_repository.ts";

/** A flag of a command. */
export interface Flag {
  /** The body or query field that the flag fills. */
  readonly field: string;
  /** How the value is parsed; a switch has none. */
  readonly kind: FlagKind | "switch";
  /** Description in the help. */
  readonly help: string;
}

/** A command: `deno task admin NOUN VERB [ID] [--FLAG …]`. */
export interface Command {
  /** First word; the help is grouped by it. */
  readonly noun: string;
  /** Second word; unique within the noun. */
  readonly verb: string;
  /** Operation of the admin API; `audit`, `exportLedger`, `reconcile`, `discoverModels`, `checkConfig`, `backUpStore` and those on prices are run by the command line itself. */
  readonly operationId: string;
  /** Kind of the id argument; absent: no argument. */
  readonly id?: string;
  /** True: the argument may be left out. */
  readonly isIdOptional?: true;
  /** Flags by name, without the dashes. */
  readonly flags: Readonly<Record<string, Flag>>;
}

const text = (field: string, help: string): Flag => ({
  field,
  kind: "text",
  help,
});
/** The flags of a record's settings. */
function flagsOf(fields: RecordFields): Readonly<Record<string, Flag>> {
  return Object.fromEntries(
    Object.values(fields).flatMap(({ json, flag, flagKind }) =>
      flag === undefined ? [] : [[
        flag.name ?? json,
        { field: json, kind: flag.kind ?? flagKind, help: flag.help },
      ]]
    ),
  );
}

const LIST: Readonly<Record<string, Flag>> = {
  limit: text("limit", "page length, 1 to 1000"),
  after: text("after", "cursor printed by the previous page"),
};
const { id: _plan, ...PLAN_CHANGES } = PLAN;
// The status is not a flag of `accounts create`.
const { status, ...NEW_ACCOUNT } = ACCOUNT;
const { id: _account, ...ACCOUNT_CHANGES } = { ...NEW_ACCOUNT, status };
const FILTERS: Readonly<Record<string, Flag>> = {
  account: text("account", "of this account"),
  key: text("key", "of this key"),
  from: text("from", "first day, such as 2026-11-21"),
  to: text("to", "end day (included in usage, excluded from the ledger)"),
};

const PRICE_TABLE: Readonly<Record<string, Flag>> = {
  table: text(
    "table",
    "litellm, models.dev or openrouter; absent: recognised by its shape",
  ),
  from: text("from", "first day of the new prices; absent: today"),
  models: {
    field: "models",
    kind: "list",
    help: "these models only: ID, or ID=NAME with the name of its row",
  },
};

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  {
    noun: "config",
    verb: "check",
    operationId: "checkConfig",
    id: "file",
    isIdOptional: true,
    flags: {
      url: text(
        "url",
        "the running gateway to compare with; absent: HOST and PORT",
      ),
    },
  },
  {
    noun: "store",
    verb: "backup",
    operationId: "backUpStore",
    id: "file",
    flags: {},
  },
  {
    noun: "models",
    verb: "discover",
    operationId: "discoverModels",
    flags: {
      vendor: text("vendor", "a vendor of the configuration file; required"),
      write: text(
        "write",
        "the configuration file to add the rows to; absent: they are printed",
      ),
    },
  },
  {
    noun: "prices",
    verb: "import",
    operationId: "importPrices",
    id: "file",
    flags: {
      ...PRICE_TABLE,
      apply: {
        field: "apply",
        kind: "switch",
        help: "write the cards; absent: only show what would change",
      },
      output: text(
        "output",
        "the file to write; absent: the one that GATEWAY_CONFIG names",
      ),
    },
  },
  {
    noun: "prices",
    verb: "diff",
    operationId: "diffPrices",
    id: "file",
    flags: PRICE_TABLE,
  },
  {
    noun: "prices",
    verb: "check",
    operationId: "checkPrices",
    flags: {
      "older-than": {
        field: "older_than_seconds",
        kind: "duration",
        help: "also name cards that began longer ago, such as 90d",
      },
    },
  },
  { noun: "accounts", verb: "list", operationId: "listAccounts", flags: LIST },
  {
    noun: "accounts",
    verb: "show",
    operationId: "getAccount",
    id: "account",
    flags: {},
  },
  {
    noun: "accounts",
    verb: "create",
    operationId: "createAccount",
    flags: flagsOf(NEW_ACCOUNT),
  },
  {
    noun: "accounts",
    verb: "update",
    operationId: "updateAccount",
    id: "account",
    flags: flagsOf(ACCOUNT_CHANGES),
  },
  {
    noun: "accounts",
    verb: "top-up",
    operationId: "topUpAccount",
    id: "account",
    flags: {
      usd: { field: "micro_usd", kind: "usd", help: "dollars, such as 12.50" },
      model: text("model", "put the amount into this model's own balance"),
      note: text("note", "note for the ledger"),
    },
  },
  {
    noun: "accounts",
    verb: "top-ups",
    operationId: "listTopUps",
    id: "account",
    flags: LIST,
  },
  {
    noun: "keys",
    verb: "revoke-all",
    operationId: "revokeAllKeys",
    id: "account",
    flags: {},
  },
  {
    noun: "webhooks",
    verb: "show",
    operationId: "getWebhook",
    id: "account",
    flags: {},
  },
  {
    noun: "webhooks",
    verb: "set",
    operationId: "setWebhook",
    id: "account",
    flags: { url: text("url", "https://… that warnings are sent to") },
  },
  {
    noun: "webhooks",
    verb: "test",
    operationId: "testWebhook",
    id: "account",
    flags: {},
  },
  {
    noun: "webhooks",
    verb: "remove",
    operationId: "removeWebhook",
    id: "account",
    flags: {},
  },
  {
    noun: "accounts",
    verb: "import",
    operationId: "importAccounts",
    id: "file",
    flags: {
      apply: {
        field: "apply",
        kind: "switch",
        help: "do it; absent: only show what would change",
      },
      "idempotency-key": text(
        "idempotency_key",
        "what is done with it once is not done again within a day; absent: the file is, so that it is applied once a day",
      ),
    },
  },
  { noun: "plans", verb: "list", operationId: "listPlans", flags: LIST },
  {
    noun: "plans",
    verb: "show",
    operationId: "getPlan",
    id: "plan",
    flags: {},
  },
  {
    noun: "plans",
    verb: "create",
    operationId: "createPlan",
    flags: flagsOf(PLAN),
  },
  {
    noun: "plans",
    verb: "update",
    operationId: "updatePlan",
    id: "plan",
    flags: flagsOf(PLAN_CHANGES),
  },
  {
    noun: "keys",
    verb: "list",
    operationId: "listKeys",
    flags: { account: text("account", "of this account"), ...LIST },
  },
  { noun: "keys", verb: "show", operationId: "getKey", id: "key", flags: {} },
  {
    noun: "keys",
    verb: "issue",
    operationId: "issueKey",
    flags: flagsOf(KEY),
  },
  {
    noun: "keys",
    verb: "update",
    operationId: "updateKey",
    id: "key",
    flags: flagsOf(KEY_CHANGES),
  },
  {
    noun: "keys",
    verb: "rotate",
    operationId: "rotateKey",
    id: "key",
    flags: {
      overlap: {
        field: "overlap_seconds",
        kind: "duration",
        help: "how long the old key stays valid: 24h",
      },
    },
  },
  {
    noun: "keys",
    verb: "revoke",
    operationId: "revokeKey",
    id: "key",
    flags: {},
  },
  {
    noun: "tokens",
    verb: "list",
    operationId: "listTokens",
    flags: { account: text("account", "of this account"), ...LIST },
  },
  {
    noun: "tokens",
    verb: "issue",
    operationId: "issueToken",
    flags: flagsOf(TOKEN),
  },
  {
    noun: "tokens",
    verb: "revoke",
    operationId: "revokeToken",
    id: "token",
    flags: {},
  },
  {
    noun: "console",
    verb: "link",
    operationId: "createSignInLink",
    flags: {
      account: text("account", "account that the link opens"),
      scope: text("scope", "read (the default) or manage"),
      name: text("name", "who it is for: shown beside what they change"),
    },
  },
  {
    noun: "usage",
    verb: "report",
    operationId: "reportUsage",
    flags: {
      by: text("by", "comma-separated: day,hour,account,key,model,user"),
      ...FILTERS,
      model: text("model", "of this model"),
      user: text("user", "of this end user (the client's own id)"),
      ...LIST,
    },
  },
  {
    noun: "ledger",
    verb: "list",
    operationId: "listLedger",
    flags: {
      ...FILTERS,
      model: text("model", "of this model"),
      kind: text("kind", "charge or top_up"),
      request: text("request_id", "of this request"),
      order: text("order", "which entry comes first: oldest or newest"),
      ...LIST,
    },
  },
  {
    noun: "ledger",
    verb: "export",
    operationId: "exportLedger",
    flags: {
      format: text("format", "jsonl, csv or focus"),
      ...FILTERS,
      model: text("model", "of this model"),
      kind: text("kind", "charge or top_up"),
    },
  },
  {
    noun: "ledger",
    verb: "reconcile",
    operationId: "reconcile",
    id: "file",
    flags: {
      vendor: text(
        "vendor",
        "compare all models of this vendor; absent: those that the file names",
      ),
      from: text("from", "first day, such as 2026-11-01"),
      to: text("to", "last day"),
    },
  },
  {
    noun: "calls",
    verb: "list",
    operationId: "listCalls",
    flags: {
      ...FILTERS,
      to: text("to", "before this day or time"),
      model: text("model", "of this model"),
      status: text("status", "with this status, such as 429"),
      ended: text(
        "ended",
        "complete, caller_left, failed, refused, or lost",
      ),
      outcome: text("outcome", "with this outcome, such as upstream_failed"),
      code: text("code", "with this reason, such as requests_per_minute"),
      user: text("user", "of this end user (the client's own id)"),
      "min-usd": {
        field: "min_micro_usd",
        kind: "usd",
        help: "that cost at least these dollars",
      },
      "min-ms": text("min_ms", "that took at least this many milliseconds"),
      limit: text("limit", "page length, 1 to 200"),
      after: text("after", "cursor printed by the previous page"),
    },
  },
  {
    noun: "attempts",
    verb: "list",
    operationId: "listFailedAttempts",
    flags: {
      account: text("account", "of this account"),
      from: text("from", "at or after this day or time"),
      to: text("to", "before this day or time"),
      upstream: text("upstream", "at this upstream: vendor/model"),
      model: text("model", "of this model"),
      error: text("error", "with this status or kind of error"),
      outcome: text("outcome", "of calls with this outcome, such as rescued"),
      limit: text("limit", "page length, 1 to 1000"),
      after: text("after", "cursor printed by the previous page"),
    },
  },
  {
    noun: "calls",
    verb: "show",
    operationId: "getCall",
    id: "request-id",
    flags: {},
  },
  { noun: "ledger", verb: "audit", operationId: "audit", flags: {} },
  { noun: "ledger", verb: "audits", operationId: "listAudits", flags: LIST },
  {
    noun: "changes",
    verb: "list",
    operationId: "listChanges",
    flags: {
      account: text("account", "of this account"),
      action: text("action", "what was done, such as key.revoke"),
      target: text("target", "of this plan, key or other id"),
      actor: text("actor", "made with a credential of this kind"),
      "actor-id": text("actor_id", "made by this key, token or link"),
      from: text("from", "from this day or time"),
      to: text("to", "before this day or time"),
      ...LIST,
    },
  },
];
