/**
 * The live list in its JSON form, for account holders and for operators.
 */
import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { check } from "../../translate/model/schema.ts";
import { callTimeMs } from "../accounts/calls/call_record.ts";
import { type AccountScope, assertOwnKey } from "../admin/account_scope.ts";
import type { JustEnded } from "./live_call.ts";
import type { LivePicture, UnderWayAt } from "./live_picture.ts";
import { compact } from "../../translate/bytes/compact.ts";

const ID = z.string().max(200).exactOptional();

/** Query of a holder of an account's credential. */
export const ownLiveQuery = z.strictObject({ key: ID });
export const liveQuery = z.strictObject({ key: ID, account: ID });

/**
 * What an operator asks for.
 *
 * @throws {ApiError} `invalid_request` naming the field of the query
 */
export function liveScope(query: JsonObject): Partial<AccountScope> {
  const { key, account } = check(liveQuery, query);
  return compact({ keyId: key, accountId: account });
}

/**
 * What a holder asks for within the scope of its credential.
 *
 * @throws {ApiError} `invalid_request` naming the field of the query, also for the key of another
 */
export function ownLiveScope(
  scope: AccountScope,
  query: JsonObject,
): AccountScope {
  const { key } = check(ownLiveQuery, query);
  assertOwnKey(scope, key);
  return key === undefined ? scope : { ...scope, keyId: key };
}

const MS = z.int().nullable();
const UNDER_WAY = {
  object: z.literal("call_under_way"),
  request_id: z.string(),
  time: z.string().describe("of its arrival"),
  key: z.string(),
  model: z.string(),
  endpoint: z.string(),
  stream: z.boolean(),
  phase: z.enum(["waiting", "streaming", "client"]).describe(
    "waiting: no byte of a reply yet; client: it leaves the reply unread",
  ),
  age_ms: z.int(),
  first_byte_ms: MS.describe("from the arrival; null: none so far"),
  first_token_ms: MS.describe("from the arrival; null: none so far"),
  silent_ms: MS.describe(
    "since the last byte of the reply; null: none so far, or no stream",
  ),
  output_tokens: z.int().describe("so far"),
  estimated: z.boolean().describe("whether output_tokens is an estimate"),
  attempts: z.int(),
};
const ENDED = {
  object: z.literal("call_ended"),
  request_id: z.string(),
  time: z.string().describe("of its arrival"),
  key: z.string(),
  model: z.string().nullable(),
  endpoint: z.string(),
  stream: z.boolean().nullable(),
  status: z.int().nullable(),
  ended: z.string(),
  outcome: z.string().nullable(),
  code: z.string().nullable(),
  duration_ms: MS,
  first_byte_ms: MS,
  first_token_ms: MS,
  output_tokens: z.int().nullable(),
  estimated: z.boolean(),
  micro_usd: z.int(),
};

function listOfCalls(
  underWay: z.core.$ZodLooseShape,
  ended: z.core.$ZodLooseShape,
): z.ZodType {
  const left = z.int().describe("calls beyond those in data");
  return z.object({
    object: z.literal("live_calls"),
    time: z.string(),
    processes: z.int().describe("whose calls are in it"),
    complete: z.boolean().describe(
      "false: the store does not answer, and only calls of the process that replies are in it",
    ),
    under_way: z.object({ left_out: left, data: z.array(z.object(underWay)) }),
    ended: z.object({ left_out: left, data: z.array(z.object(ended)) })
      .describe(
        "in an event stream those since the event before; else of the last seconds",
      ),
  });
}

/** JSON form for the holder of an account's credential. */
export const ownLiveReply: z.ZodType = listOfCalls(UNDER_WAY, ENDED);
/** JSON form for operators. */
export const liveReply: z.ZodType = listOfCalls(
  {
    ...UNDER_WAY,
    account: z.string(),
    upstream: z.string(),
    process: z.string(),
  },
  { ...ENDED, account: z.string(), upstream: z.string().nullable() },
);

/** The picture; only operators see upstreams and processes. */
export function liveJson(
  { atMs, processes, complete, underWay, ended }: LivePicture,
  isOperator: boolean,
): JsonObject {
  return {
    object: "live_calls",
    time: new Date(atMs).toISOString(),
    processes,
    complete,
    under_way: {
      left_out: underWay.leftOut,
      data: underWay.data.map((call) => underWayJson(call, atMs, isOperator)),
    },
    ended: {
      left_out: ended.leftOut,
      data: ended.data.map((call) => endedJson(call, isOperator)),
    },
  };
}

function underWayJson(
  call: UnderWayAt,
  nowMs: number,
  isOperator: boolean,
): JsonObject {
  const since = (ms: number | undefined): number | null =>
    ms === undefined ? null : Math.max(0, ms - call.arrivedMs);
  return {
    object: "call_under_way",
    request_id: call.requestId,
    time: new Date(call.arrivedMs).toISOString(),
    key: call.keyId,
    model: call.model,
    endpoint: call.endpoint,
    stream: call.stream,
    phase: call.phase,
    age_ms: Math.max(0, nowMs - call.arrivedMs),
    first_byte_ms: since(call.firstByteMs),
    first_token_ms: since(call.firstTokenMs),
    silent_ms: call.lastByteMs === undefined
      ? null
      : Math.max(0, nowMs - call.lastByteMs),
    output_tokens: call.outputTokens,
    estimated: call.estimated,
    attempts: call.attempts,
    ...(isOperator
      ? {
        account: call.accountId,
        upstream: call.upstream,
        process: call.processId,
      }
      : {}),
  };
}

function endedJson(call: JustEnded, isOperator: boolean): JsonObject {
  return {
    object: "call_ended",
    request_id: call.requestId,
    time: new Date(callTimeMs(call.requestId)).toISOString(),
    key: call.keyId,
    model: call.model ?? null,
    endpoint: call.endpoint,
    stream: call.stream ?? null,
    status: call.status ?? null,
    ended: call.ended,
    outcome: call.outcome ?? null,
    code: call.code ?? null,
    duration_ms: call.durationMs ?? null,
    first_byte_ms: call.firstByteMs ?? null,
    first_token_ms: call.firstTokenMs ?? null,
    output_tokens: call.outputTokens ?? null,
    estimated: call.estimated,
    micro_usd: call.microUsd,
    ...(isOperator
      ? { account: call.accountId, upstream: call.upstream ?? null }
      : {}),
  };
}
