/**
 * The commands: the operation behind each, and the fields that its flags fill.
 */
import type { FlagKind, RecordFields } from "../accounts/field.ts";
import { ACCOUNT, KEY, KEY_CHANGES, PLAN } from "../accounts/records.ts";
import { OPERATOR_TOKEN } from "../accounts/repositories/operator_token_repository.ts";
import { TOKEN } from "../accounts/repositories/token_repository.ts";

export interface Flag {
  /** The body or query field that the flag fills. */
  readonly field: string;
  /** How the value is parsed; a switch has none. */
  readonly kind: FlagKind | "switch";
  readonly help: string;
}

/** A command: `deno task admin NOUN VERB [ID] [--FLAG …]`. */
export interface Command {
  /** Its words and the name of its argument, for help and errors. */
  readonly usage: string;
  /** First word; the help is grouped by it. */
  readonly noun: string;
  /** Second word; unique within the noun. */
  readonly verb: string;
  /** How many ids it takes at the least. */
  readonly leastIds: number;
  /** How many ids it takes at the most. */
  readonly mostIds: number;
  /**
   * Operation of the admin API; `audit`, `exportLedger`, `reconcile`, `discoverModels`,
   * `checkConfig`, `backUpStore` and those on prices are run by the command line itself.
   */
  readonly operationId: string;
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

/** A command by its usage: brackets mark an argument that may be left out. */
function command(
  usage: string,
  operationId: string,
  flags: Command["flags"] = {},
): Command {
  const [noun = "", verb = "", id] = usage.split(" ");
  const mostIds = id === undefined ? 0 : 1;
  const leastIds = id?.startsWith("[") === true ? 0 : mostIds;
  return { usage, noun, verb, leastIds, mostIds, operationId, flags };
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
};
/** The end of a range of times, which is no part of it. */
const BEFORE = text("to", "before this day or time");

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

/** All commands; the help has those of a noun together. */
export const COMMANDS: readonly Command[] = [
  command("config check [FILE]", "checkConfig", {
    url: text(
      "url",
      "the running gateway to compare with; absent: HOST and PORT",
    ),
    reach: {
      field: "reach",
      kind: "switch",
      help: "connect to every vendor's address, without a call",
    },
  }),
  command("store backup FILE", "backUpStore"),
  command("models discover", "discoverModels", {
    vendor: text("vendor", "a vendor of the configuration file; required"),
    write: text(
      "write",
      "the configuration file to add the rows to; absent: they are printed",
    ),
  }),
  command("prices import FILE", "importPrices", {
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
  }),
  command("prices diff FILE", "diffPrices", PRICE_TABLE),
  command("prices check", "checkPrices", {
    "older-than": {
      field: "older_than_seconds",
      kind: "duration",
      help: "also name cards that began longer ago, such as 90d",
    },
  }),
  command("accounts list", "listAccounts", LIST),
  command("accounts show ACCOUNT", "getAccount"),
  command("accounts create", "createAccount", flagsOf(NEW_ACCOUNT)),
  command("accounts update ACCOUNT", "updateAccount", flagsOf(ACCOUNT_CHANGES)),
  command("accounts top-up ACCOUNT", "topUpAccount", {
    usd: { field: "micro_usd", kind: "usd", help: "dollars, such as 12.50" },
    model: text("model", "put the amount into this model's own balance"),
    note: text("note", "note for the ledger"),
  }),
  command("accounts top-ups ACCOUNT", "listTopUps", LIST),
  command("keys revoke-all ACCOUNT", "revokeAllKeys"),
  command("webhooks show ACCOUNT", "getWebhook"),
  command("webhooks set ACCOUNT", "setWebhook", {
    url: text("url", "https://… that warnings are sent to"),
  }),
  command("webhooks test ACCOUNT", "testWebhook"),
  command("webhooks remove ACCOUNT", "removeWebhook"),
  command("accounts import FILE", "importAccounts", {
    apply: {
      field: "apply",
      kind: "switch",
      help: "do it; absent: only show what would change",
    },
    "idempotency-key": text(
      "idempotency_key",
      "what is done with it once is not done again within a day; absent: the file is, so that it is applied once a day",
    ),
  }),
  command("plans list", "listPlans", LIST),
  command("plans show PLAN", "getPlan"),
  command("plans create", "createPlan", flagsOf(PLAN)),
  command("plans update PLAN", "updatePlan", flagsOf(PLAN_CHANGES)),
  command("keys list", "listKeys", {
    account: text("account", "of this account"),
    ...LIST,
  }),
  command("keys show KEY", "getKey"),
  command("keys issue", "issueKey", flagsOf(KEY)),
  command("keys update KEY", "updateKey", flagsOf(KEY_CHANGES)),
  command("keys rotate KEY", "rotateKey", {
    overlap: {
      field: "overlap_seconds",
      kind: "duration",
      help: "how long the old key stays valid: 24h",
    },
  }),
  command("keys revoke KEY", "revokeKey"),
  command("tokens list", "listTokens", {
    account: text("account", "of this account"),
    ...LIST,
  }),
  command("tokens issue", "issueToken", flagsOf(TOKEN)),
  command("tokens revoke TOKEN", "revokeToken"),
  command("operators list", "listOperatorTokens", LIST),
  command("operators issue", "issueOperatorToken", flagsOf(OPERATOR_TOKEN)),
  command("operators revoke TOKEN", "revokeOperatorToken"),
  command("console link", "createSignInLink", {
    account: text("account", "account that the link opens"),
    scope: text("scope", "read (the default) or manage"),
    name: text("name", "who it is for: shown beside what they change"),
  }),
  command("usage report", "reportUsage", {
    by: text("by", "comma-separated: day,hour,account,key,model,user"),
    ...FILTERS,
    to: text("to", "last day"),
    model: text("model", "of this model"),
    user: text("user", "of this end user (the client's own id)"),
    ...LIST,
  }),
  command("ledger list", "listLedger", {
    ...FILTERS,
    to: BEFORE,
    model: text("model", "of this model"),
    kind: text("kind", "charge or top_up"),
    request: text("request_id", "of this request"),
    order: text("order", "which entry comes first: oldest or newest"),
    ...LIST,
  }),
  command("ledger export", "exportLedger", {
    format: text("format", "jsonl, csv or focus"),
    ...FILTERS,
    to: BEFORE,
    model: text("model", "of this model"),
    kind: text("kind", "charge or top_up"),
  }),
  command("ledger reconcile FILE", "reconcile", {
    vendor: text(
      "vendor",
      "compare all models of this vendor; absent: those that the file names",
    ),
    from: text("from", "first day, such as 2026-11-01"),
    to: text("to", "last day"),
  }),
  command("calls list", "listCalls", {
    ...FILTERS,
    to: BEFORE,
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
  }),
  command("attempts list", "listFailedAttempts", {
    account: text("account", "of this account"),
    from: text("from", "from this day or time"),
    to: BEFORE,
    upstream: text("upstream", "at this upstream: vendor/model"),
    model: text("model", "of this model"),
    error: text("error", "with this status or kind of error"),
    outcome: text("outcome", "of calls with this outcome, such as rescued"),
    limit: text("limit", "page length, 1 to 1000"),
    after: text("after", "cursor printed by the previous page"),
  }),
  command("calls show REQUEST-ID", "getCall"),
  command("ledger audit", "audit"),
  command("ledger audits", "listAudits", LIST),
  command("changes list", "listChanges", {
    account: text("account", "of this account"),
    action: text("action", "what was done, such as key.revoke"),
    target: text("target", "of this plan, key or other id"),
    actor: text("actor", "made with a credential of this kind"),
    "actor-id": text("actor_id", "made by this key, token or link"),
    from: text("from", "from this day or time"),
    to: BEFORE,
    ...LIST,
  }),
];
