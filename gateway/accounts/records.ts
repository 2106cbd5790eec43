/**
 * The stored records: plans, accounts, keys, reservations, ledger entries. A field is
 * defined here and in its migration (`store/migrations.ts`), nowhere else: rows, JSON, schemas and
 * command-line flags follow from its definition.
 *
 * Replies to requests with an idempotency key are stored as JSON of an `Account`, `Plan`,
 * `KeyRecord` or `LedgerEntry`, so a new name for one of their fields makes replies stored
 * before the upgrade unreadable.
 */
import { z } from "zod";
import type { CallOutcome } from "./call_outcome.ts";
import { CHARGE_LINES, type ChargeLine } from "./charges/charge_lines.ts";
import type { Asked } from "./charges/asked.ts";
import type { RateCard } from "./charges/rate_card.ts";
import {
  BOOLEAN,
  field,
  fields,
  INT,
  type Kind,
  LIST,
  listOf,
  oneOf,
  optional,
  type RecordOf,
  type Setting,
  TEXT,
  TIME,
} from "./field.ts";
import {
  parsePrice,
  priceText,
  type StoredPrice,
  type Tokens,
} from "./charges/money.ts";
import type { WindowName } from "./limits/calendar_window.ts";
import { textOf } from "./store/store.ts";
import {
  chosenId,
  displayName,
  limit,
  microUsd,
  modelList,
  percent,
  reference,
  timestamp,
} from "./values.ts";

/** A limit; absent: no limit. */
function limitField(
  name: string,
  help: string,
): Setting<number | undefined, number | null | undefined> {
  return field(optional(INT), {
    set: limit.nullish().describe("null: no limit"),
    flag: { name, help: `${help}, or none` },
  });
}

/** A limit of money in a calendar window. */
function spendField(
  window: WindowName,
): Setting<number | undefined, number | null | undefined> {
  return field(optional(INT), {
    set: z.int().min(0).max(1e15).nullish().describe(
      `per ${window} in UTC; null: no limit`,
    ),
    flag: {
      name: `usd-per-${window}`,
      kind: "usd",
      help: `dollars per ${window} (UTC), or none`,
    },
  });
}

/** A limit of tokens in a calendar window. */
function tokensField(
  window: WindowName,
): Setting<number | undefined, number | null | undefined> {
  return field(optional(INT), {
    set: limit.nullish().describe(`per ${window} in UTC; null: no limit`),
    flag: {
      name: `tokens-per-${window}`,
      help: `tokens per ${window} (UTC), or none`,
    },
  });
}

/** The limits that a plan and a key may have: the fields of {@linkcode LimitSettings}. */
export const LIMITS = fields({
  requestsPerMinute: limitField("rpm", "requests per minute"),
  tokensPerMinute: limitField("tpm", "tokens per minute"),
  concurrentRequests: limitField("concurrent", "concurrent requests"),
  spendPerDayMicroUsd: spendField("day"),
  spendPerWeekMicroUsd: spendField("week"),
  spendPerMonthMicroUsd: spendField("month"),
  tokensPerDay: tokensField("day"),
  tokensPerWeek: tokensField("week"),
  tokensPerMonth: tokensField("month"),
});

/** Limits of the calls of an account or a key. An absent limit means no limit. */
export interface LimitSettings extends RecordOf<typeof LIMITS> {}

/** Names of the limits. */
// The definition has exactly these keys.
export const LIMIT_NAMES = Object.keys(
  LIMITS,
) as readonly (keyof typeof LIMITS)[];

export function hasLimits(settings: LimitSettings): boolean {
  for (const name of LIMIT_NAMES) if (name in settings) return true;
  return false;
}

export const PLAN = fields({
  id: field(TEXT, {
    set: chosenId.optional(),
    flag: { help: "id of your choice" },
  }),
  // Absent: all models.
  models: field(optional(LIST), {
    set: modelList.transform((models): readonly string[] => [
      ...new Set(models),
    ]).nullish()
      .describe("null: all models"),
    flag: { help: "a,b,c, or none for all" },
  }),
  ...LIMITS,
  // Absent: any part.
  estimatedPercent: field(optional(INT), {
    describe:
      "most percent of what a key spends in a day (UTC) that may be estimated, because its clients leave early",
    set: percent.nullish().describe(
      "most percent of what a key spends in a day (UTC) that may be estimated, because its clients leave early; null: any",
    ),
    flag: {
      name: "estimated-percent",
      help: "most percent of a key's day that may be estimated, or none",
    },
  }),
  createdAtMs: field(TIME),
});

/** The models and limits of the accounts on it. An absent limit means no limit. */
export interface Plan extends RecordOf<typeof PLAN> {}

/**
 * `prepaid`: a call needs a balance that covers its worst case. `postpaid`: calls are only
 * recorded.
 */
export type Billing = "prepaid" | "postpaid";

const STATUS = oneOf("active", "disabled");
const BILLING = oneOf<Billing>("prepaid", "postpaid");
const BILLING_MEANING =
  "prepaid: calls need a balance that covers them; postpaid: calls are only recorded";

/**
 * A balance reserved for one model. If it exists, calls of the model are paid from it alone.
 * The balance includes its reserved part.
 */
export const MODEL_BALANCE = fields({
  model: field(TEXT),
  balanceMicroUsd: field(INT),
  reservedMicroUsd: field(INT),
});

export const ACCOUNT = fields({
  id: field(TEXT, {
    set: chosenId.optional(),
    flag: { help: "id of your choice" },
  }),
  name: field(TEXT, {
    set: displayName.optional(),
    flag: { help: "display name" },
  }),
  // A disabled account may make no calls.
  status: field(STATUS, {
    set: STATUS.reply.optional(),
    flag: { help: "active or disabled" },
  }),
  planId: field(TEXT, {
    set: reference.optional().describe("id of a plan"),
    flag: { help: "id of a plan" },
  }),
  billing: field(BILLING, {
    describe: BILLING_MEANING,
    set: BILLING.reply.describe(BILLING_MEANING).optional(),
    flag: { help: "prepaid or postpaid" },
  }),
  warnBelowMicroUsd: field(optional(INT), {
    describe: "a webhook is sent when the balance falls below it",
    set: microUsd.nullish().describe(
      "a webhook is sent when the balance falls below it; null: none",
    ),
    flag: {
      name: "warn-below",
      kind: "usd",
      help: "dollars: send a webhook when the balance falls below, or none",
    },
  }),
  // Sum of the account's ledger entries, without those of model balances. May be negative
  // if postpaid.
  balanceMicroUsd: field(INT),
  reservedMicroUsd: field(INT, {
    describe: "part of the balance reserved for active calls",
  }),
  // Number of active calls.
  openRequests: field(INT),
  modelBalances: field(listOf(MODEL_BALANCE), {
    describe:
      "balances of single models: calls of such a model are paid from its balance alone",
  }),
  createdAtMs: field(TIME),
});

/** An account: the payer of calls. */
export interface Account extends RecordOf<typeof ACCOUNT> {}

const { modelBalances: _, ...columns } = ACCOUNT;

/** The fields in an account's own row: all but its model balances. */
export const ACCOUNT_ROW: typeof columns = columns;

/** An account without its model balances. */
export type AccountRow = RecordOf<typeof ACCOUNT_ROW>;

export const KEY = fields({
  // Used in logs and the ledger.
  id: field(TEXT),
  accountId: field(TEXT, {
    set: reference,
    flag: { help: "account of the key" },
  }),
  // May be empty.
  name: field(TEXT, {
    set: displayName.optional(),
    flag: { help: "display name" },
  }),
  hint: field(TEXT, { describe: "first and last characters of the key" }),
  models: field(optional(LIST), {
    describe: "subset of the plan's models; null: all of them",
    set: modelList.optional().describe(
      "subset of the plan's models; absent: all of them",
    ),
    flag: { help: "a,b,c: subset of the plan's models" },
  }),
  // Checked in addition to the plan's limits.
  ...LIMITS,
  createdAtMs: field(TIME),
  // The key is refused from this time on; absent: it does not expire.
  expiresAtMs: field(optional(TIME), {
    set: timestamp.transform((text) => Date.parse(text)).optional(),
    flag: { name: "expires", help: "a day, a time, or a duration: 30d" },
  }),
  revokedAtMs: field(optional(TIME)),
  lastUsedAtMs: field(optional(TIME), { describe: "exact to the minute" }),
  // Id of the key that this one replaces.
  replaces: field(optional(TEXT)),
});

/** The fields of a key that can be changed. */
export const KEY_CHANGES: Pick<typeof KEY, "name" | keyof typeof LIMITS> = {
  name: KEY.name,
  ...LIMITS,
};

/** A key's metadata; the key itself is never stored. */
export interface KeyRecord extends RecordOf<typeof KEY> {}

const PRICE: Kind<StoredPrice> = {
  ...TEXT,
  fromSql: (row, column) => parsePrice(textOf(row, column)),
  toSql: priceText,
  toJson: priceText,
};

/** Lines of a charge, stored as JSON. */
const LINES: Kind<readonly ChargeLine[]> = {
  ...TEXT,
  fromSql: (row, column) => JSON.parse(textOf(row, column)),
  toSql: (lines) => JSON.stringify(lines),
  toJson: (lines) => lines,
  reply: CHARGE_LINES,
};

/** The client's own id of its end user. */
const END_USER = field(optional(TEXT), {
  column: "user_id",
  json: "user",
  describe: "the client's own id of its end user",
});

export const RESERVED_CALL = fields({
  requestId: field(TEXT),
  // The account that pays.
  accountId: field(TEXT),
  keyId: field(TEXT),
  // As requested.
  model: field(TEXT),
  user: END_USER,
  // Estimated.
  inputTokens: field(INT),
  // Upper bound of the generated tokens.
  maxOutputTokens: field(INT),
  // The base rates of what the request asked for. A call whose process dies is charged at them.
  price: field(PRICE),
  // The worst-case cost.
  reservedMicroUsd: field(INT),
  // The worst-case number of tokens. Absent: reserved by a process of version 0.9, which
  // counts neither tokens nor the key's limits.
  reservedTokens: field(optional(INT)),
  atMs: field(TIME),
});

/** A granted call that is not settled yet. */
export interface ReservedCall extends RecordOf<typeof RESERVED_CALL> {
  /**
   * The card by which the reply is charged; absent: `price` is all of it. Not stored: only the
   * process that serves the call settles it by a reply.
   */
  readonly card?: RateCard;
  /** What the request asks for; absent: nothing beside tokens. Not stored. */
  readonly asked?: Asked;
}

/** The charge for a call. */
export interface Charge {
  /** Billed tokens. */
  readonly tokens: Tokens;
  /** Part of the output tokens spent on reasoning. */
  readonly reasoningTokens: number;
  /** Whether any count is an estimate because the upstream did not report it. */
  readonly estimated: boolean;
  /** How the call ended; `lost`: the process that served it died, so its end is unknown. */
  readonly ended: CallOutcome["ended"] | "lost";
  /** Cost of everything that is billed. */
  readonly costMicroUsd: number;
  /** The base rates of the card; absent: the reservation's. */
  readonly price?: StoredPrice;
  /** What is billed; absent: the tokens at the four base rates. */
  readonly lines?: readonly ChargeLine[];
  /** Who served the call; absent: not known, or no vendor. */
  readonly vendor?: string;
}

/** Tokens of a charge, as the ledger and the usage reports count them. */
export const TOKEN_COUNTS = {
  // At the full rate.
  inputTokens: field(INT),
  cacheReadTokens: field(INT),
  cacheWriteTokens: field(INT),
  // Reasoning included.
  outputTokens: field(INT),
  reasoningTokens: field(INT),
};

/** The fields of {@linkcode LedgerEntry}, in the order of the export. */
export const LEDGER_ENTRY = fields({
  // Gives the order of the entries.
  seq: field(INT),
  atMs: field(TIME, { json: "time" }),
  kind: field(oneOf("charge", "top_up")),
  // Id of the request, of the top-up, or of the correction. Unique in the ledger.
  requestId: field(TEXT, { json: "request_id" }),
  // The account whose balance changes.
  accountId: field(TEXT),
  // Charges only.
  keyId: field(optional(TEXT)),
  // Charges only.
  model: field(optional(TEXT)),
  balanceModel: field({
    ...optional(TEXT),
    // Part of a key in other tables, so that it is never NULL.
    fromSql: (row, column) => textOf(row, column) || undefined,
    toSql: (model) => model ?? "",
  }, {
    column: "purse",
    json: "balance_model",
    describe:
      "the model whose own balance changes; null: the account's balance",
  }),
  user: END_USER,
  ...TOKEN_COUNTS,
  price: field(optional(TEXT), {
    describe:
      "base rates in micro-dollars per million tokens: input/cache read/cache write/output, and @ with the version of the card, if it has one",
  }),
  // Whether any count is an estimate because the upstream did not report it.
  estimated: field(BOOLEAN),
  // Charges only.
  ended: field(optional(TEXT), {
    describe: "complete, caller_left, failed, refused, lost",
  }),
  // The operator's; top-ups only.
  note: field(optional(TEXT)),
  microUsd: field(INT, {
    describe: "amount added to the balance: negative for a charge",
  }),
  // See `ledger/correction.ts`.
  corrects: field(optional(TEXT), {
    describe:
      "request id of the charge whose estimate this entry corrects: its counts and amount are differences",
  }),
  lines: field(optional(LINES), {
    describe:
      "what is billed: meters, quantities and rates; null: the tokens at the four base rates",
  }),
});

/** A charge for a call, its correction, or money put into an account. */
export interface LedgerEntry extends RecordOf<typeof LEDGER_ENTRY> {}

/** The sums of a usage report. */
export const USAGE_SUMS = fields({
  // Settled calls.
  requests: field(INT),
  estimatedRequests: field(INT, {
    column: "estimated",
    json: "estimated_requests",
    describe: "number of calls whose charge is an estimate",
  }),
  ...TOKEN_COUNTS,
  // Cost of the calls.
  microUsd: field(INT),
});

/** The sums of a row of `usage_days` and `usage_hours`. */
export const ROLL_UP_SUMS = fields({
  ...USAGE_SUMS,
  estimatedMicroUsd: field(INT, {
    describe: "part of the cost that is an estimate",
  }),
});
