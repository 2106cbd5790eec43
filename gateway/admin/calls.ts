/**
 * Calls of generation: lists of them, and one with its explanation; for operators, and for the
 * holders of an account's credentials.
 */
import { z } from "zod";
import { compact } from "../../translate/bytes/compact.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { check } from "../../translate/model/schema.ts";
import {
  OUTCOME_FILTERS,
  OUTCOME_GROUPS,
  OUTCOME_NAMES,
  outcomeOf,
  OUTCOMES,
} from "../accounts/calls/outcome.ts";
import { explainCharge } from "../accounts/charges/explanation.ts";
import type { LedgerEntry } from "../accounts/records.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import {
  type CallQuery,
  type FoundCall,
} from "../accounts/reports/call_report.ts";
import { timestampOrDay } from "../accounts/values.ts";
import { type AccountScope, assertOwnKey } from "./account_scope.ts";
import { type AdminOperation, query } from "./operation.ts";
import {
  listJson,
  listOf,
  noQuery,
  PAGE_FIELDS,
  pageOf,
  timeMs,
} from "./pages.ts";

const whole = (what: string) =>
  z.string().regex(/^\d{1,15}$/, "expected a whole number").optional().describe(
    what,
  );

const FILTERS = {
  ...PAGE_FIELDS,
  limit: z.string().regex(/^([1-9]\d?|1\d\d|200)$/, "expected 1 to 200")
    .optional(),
  key: z.string().max(64).optional(),
  model: z.string().max(200).optional(),
  status: z.string().regex(/^\d{3}$/, "expected a status such as 429")
    .optional(),
  ended: z.enum(["complete", "caller_left", "failed", "refused", "lost"])
    .optional(),
  outcome: z.enum(OUTCOME_FILTERS).optional().describe(
    Object.entries(OUTCOME_GROUPS).map(([name, of]) =>
      `${name}: ${of.join(", ")}`
    ).join("; "),
  ),
  code: z.string().max(64).optional().describe(
    "reason of a refusal or failure, such as requests_per_minute",
  ),
  user: z.string().max(512).optional(),
  from: timestampOrDay.optional().describe("calls at or after this time"),
  to: timestampOrDay.optional().describe("calls before this time"),
  min_micro_usd: whole("calls that cost at least this"),
  min_ms: whole("calls that took at least this many milliseconds"),
};

export const ownCallsQuery: z.ZodObject<typeof FILTERS, z.core.$strict> = z
  .strictObject(FILTERS);

const callsQuery = z.strictObject({
  ...FILTERS,
  account: z.string().max(64).optional(),
});

const ms = z.int().nullable();

const ATTEMPT = {
  status: z.int().nullable().describe("null: there was no response"),
  error: z.string().nullable(),
  after_ms: z.int().describe("from the call's arrival"),
  first_byte_ms: ms,
  duration_ms: z.int(),
};

const CALL_SHAPE = {
  object: z.literal("call"),
  request_id: z.string(),
  time: z.string(),
  key: z.string(),
  model: z.string().nullable().describe("as the client sent it"),
  user: z.string().nullable().describe("the client's own id of its end user"),
  endpoint: z.string().nullable(),
  stream: z.boolean().nullable(),
  status: z.int().nullable(),
  ended: z.string().describe(
    "complete, caller_left, failed (during the reply), refused (before it), lost (the process died)",
  ),
  outcome: z.enum(OUTCOME_NAMES).describe(
    Object.entries(OUTCOMES).map((pair) => pair.join(": ")).join("; "),
  ),
  code: z.string().nullable().describe("reason of a refusal or failure"),
  why: z.object({
    limit: z.int().nullable(),
    used: z.int().nullable(),
    needed: z.int().nullable(),
    retry_after_seconds: z.int().nullable(),
  }).nullable().describe("how full the limit was, in its own unit"),
  more_refusals: z.int().describe(
    "further refusals of the key in that minute that have no record of their own",
  ),
  duration_ms: ms,
  first_byte_ms: ms.describe("of the reply; a ping does not count"),
  first_token_ms: ms.describe(
    "of generated text, reasoning or a tool call; null if there was none",
  ),
  attempts: z.array(z.object(ATTEMPT)),
  dropped: z.array(z.string()).describe(
    "request fields that the upstream does not support, and `reply.KIND` for parts of the reply that the client does not receive",
  ),
  tokens: z.object({
    input: z.int(),
    cache_read: z.int(),
    cache_write: z.int(),
    output: z.int(),
    reasoning: z.int(),
  }).nullable().describe("billed tokens"),
  estimated: z.boolean(),
  micro_usd: z.int(),
  ledger_seq: z.int().nullable().describe(
    "null: not charged, or not yet; of a corrected charge, the entry of its correction",
  ),
};

const OPERATOR_SHAPE = {
  ...CALL_SHAPE,
  account: z.string(),
  upstream: z.string().nullable(),
  trace: z.string().nullable(),
  attempts: z.array(z.object({
    upstream: z.string(),
    ...ATTEMPT,
    words: z.string().nullable().describe(
      "what the upstream wrote of its failure, without what may be the request's",
    ),
  })),
};

const CHARGE = z.object({
  seq: z.int(),
  time: z.string(),
  parts: z.array(z.object({
    of: z.string(),
    tokens: z.int(),
    micro_usd_per_million_tokens: z.int().describe(
      "with its factors; for uses of a tool and for calls: of one",
    ),
    reasons: z.array(z.object({
      because: z.string(),
      factor: z.number().nullable(),
    })).describe("why it is not the base price of the model"),
    unpriced: z.boolean().describe(
      "the dearest price of its direction, because the model has none for it",
    ),
    bounded: z.boolean().describe(
      "the most that the call can have used, because the upstream reported more",
    ),
    served_by: z.string().nullable().describe(
      "the upstream's name of the model that served it; null: the call's",
    ),
    pico_usd: z.string().describe("tokens times price: whole 10⁻¹² dollars"),
  })),
  price_version: z.string().nullable(),
  pico_usd: z.string().describe("sum of the parts"),
  micro_usd: z.int().describe("the sum, rounded up to whole micro-dollars"),
  corrected: z.boolean().describe(
    "whether the call was first charged as lost, by estimate",
  ),
  balance_of_model: z.string().nullable().describe(
    "the model whose own balance paid; null: the account's balance",
  ),
}).nullable().describe("how the charge was computed; null: nothing is charged");

/** JSON form of a call, for the holder of its account's credentials. */
export const callReply: z.ZodType = z.object({ ...CALL_SHAPE, charge: CHARGE });
/** JSON form of a list of calls, for the same. */
export const callListReply: z.ZodType = listOf(z.object(CALL_SHAPE));

/** A call without its charge, as the holder of its account's credentials sees it. */
export function callJson({ record, atMs, entry }: FoundCall): JsonObject {
  const why = record.why === undefined ? null : {
    limit: record.why["limit"] ?? null,
    used: record.why["used"] ?? null,
    needed: record.why["needed"] ?? null,
    retry_after_seconds: record.why["retry_after_seconds"] ?? null,
  };
  return {
    object: "call",
    request_id: record.requestId,
    time: new Date(atMs).toISOString(),
    key: record.keyId,
    model: record.model ?? null,
    user: record.user ?? null,
    endpoint: record.endpoint === "" ? null : record.endpoint,
    stream: record.stream ?? null,
    status: record.status ?? null,
    ended: record.ended,
    outcome: outcomeOf(record),
    code: record.code ?? null,
    why,
    more_refusals: record.more,
    duration_ms: record.durationMs ?? null,
    first_byte_ms: record.firstByteMs ?? null,
    first_token_ms: record.firstTokenMs ?? null,
    attempts: (record.attempts ?? []).map(attemptJson),
    dropped: record.dropped ?? [],
    tokens: tokensJson(entry ?? record),
    estimated: entry?.estimated ?? record.estimated,
    // The ledger decides: a process may die between the record and the charge.
    micro_usd: entry === undefined ? record.microUsd : 0 - entry.microUsd,
    ledger_seq: entry?.seq ?? null,
  };
}

function attemptJson(attempt: JsonObject): JsonObject {
  return {
    status: attempt["status"] ?? null,
    error: attempt["error"] ?? null,
    after_ms: attempt["after_ms"] ?? 0,
    first_byte_ms: attempt["first_byte_ms"] ?? null,
    duration_ms: attempt["duration_ms"] ?? 0,
  };
}

function tokensJson(
  of: Partial<Pick<LedgerEntry, keyof LedgerEntry & `${string}Tokens`>>,
): JsonObject | null {
  if (of.inputTokens === undefined) return null;
  return {
    input: of.inputTokens,
    cache_read: of.cacheReadTokens ?? 0,
    cache_write: of.cacheWriteTokens ?? 0,
    output: of.outputTokens ?? 0,
    reasoning: of.reasoningTokens ?? 0,
  };
}

/** The same with the fields that only operators see. */
export function operatorJson(call: FoundCall): JsonObject {
  const { record } = call;
  return {
    ...callJson(call),
    account: record.accountId,
    upstream: record.upstream ?? null,
    trace: record.traceId ?? null,
    attempts: (record.attempts ?? []).map((attempt) => ({
      upstream: attempt["upstream"] ?? "",
      ...attemptJson(attempt),
      words: attempt["words"] ?? null,
    })),
  };
}

function chargeJson(entry: LedgerEntry | undefined): JsonObject | null {
  const explained = entry === undefined ? undefined : explainCharge(entry);
  if (entry === undefined || explained === undefined) return null;
  return {
    seq: entry.seq,
    time: new Date(entry.atMs).toISOString(),
    parts: explained.parts.map((part) => ({
      of: part.of,
      tokens: part.tokens,
      micro_usd_per_million_tokens: part.price,
      reasons: (part.reasons ?? []).map(({ because, factor }) => ({
        because,
        factor: factor ?? null,
      })),
      unpriced: part.unpriced ?? false,
      bounded: part.bounded ?? false,
      served_by: part.model ?? null,
      pico_usd: String(part.picoUsd),
    })),
    price_version: explained.version ?? null,
    pico_usd: String(explained.picoUsd),
    micro_usd: explained.microUsd,
    corrected: entry.corrects !== undefined,
    balance_of_model: entry.balanceModel ?? null,
  };
}

/** The filters of a list of all accounts, without the parameters of its pages. */
export const CALL_FILTERS: readonly string[] = Object.keys(callsQuery.shape)
  .filter((name) => !(name in PAGE_FIELDS));

/**
 * The filters as a query of the repository.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function callQuery(fields: JsonObject): CallQuery {
  const { account, ...filters } = check(callsQuery, fields);
  return {
    ...queryOf(filters),
    ...compact({ accountId: account }),
  };
}

function queryOf(query: z.infer<typeof ownCallsQuery>): CallQuery {
  const number = (text: string | undefined): number | undefined =>
    text === undefined ? undefined : Number(text);
  return compact({
    ...pageOf(query),
    keyId: query.key,
    model: query.model,
    status: number(query.status),
    ended: query.ended,
    outcome: query.outcome,
    code: query.code,
    user: query.user,
    fromMs: timeMs(query.from),
    toMs: timeMs(query.to),
    minMicroUsd: number(query.min_micro_usd),
    minMs: number(query.min_ms),
  });
}

export const CALL_OPERATIONS: readonly AdminOperation[] = [
  query({
    operationId: "getCall",
    summary: "Describe one call, and how its charge was computed",
    path: "/admin/v1/calls/:id",
    query: noQuery,
    reply: z.object({ ...OPERATOR_SHAPE, charge: CHARGE }),
    run: async (admin, _query, id) => {
      const call = await admin.calls.get(id, {});
      return { ...operatorJson(call), charge: chargeJson(call.entry) };
    },
  }),
  query({
    operationId: "listCalls",
    summary: "List calls, newest first",
    path: "/admin/v1/calls",
    query: callsQuery,
    reply: listOf(z.object(OPERATOR_SHAPE)),
    run: async (admin, { account, ...filters }) =>
      listJson(
        await admin.calls.list({
          ...queryOf(filters),
          ...compact({ accountId: account }),
        }),
        operatorJson,
      ),
  }),
];

/**
 * The calls that a credential may see, newest first.
 *
 * @throws {ApiError} `invalid_request` naming the field of the query; `unavailable`
 */
export async function ownCalls(
  admin: Admin,
  scope: AccountScope,
  query: JsonObject,
): Promise<JsonObject> {
  const filters = queryOf(check(ownCallsQuery, query));
  assertOwnKey(scope, filters.keyId);
  return listJson(await admin.calls.list({ ...filters, ...scope }), callJson);
}

/**
 * One call that a credential may see, and how its charge was computed.
 *
 * @throws {ApiError} `not_found` if there is none within the scope; `unavailable`
 */
export async function ownCall(
  admin: Admin,
  scope: AccountScope,
  requestId: string,
): Promise<JsonObject> {
  const call = await admin.calls.get(requestId, scope);
  return { ...callJson(call), charge: chargeJson(call.entry) };
}
