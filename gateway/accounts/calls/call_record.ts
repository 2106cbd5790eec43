/**
 * The record of a call: who called what, how it ended, what it cost, and why it was
 * refused. No prompt, no reply, no header.
 */
import { z } from "zod";
import { isObject, type JsonObject } from "../../../translate/bytes/json.ts";
import { field, fields, INT, optional, type RecordOf, TEXT } from "../field.ts";

/** The fields of {@linkcode CallRecord} that lists filter by. Each has a column. */
export const CALL = fields({
  // Begins with the time of arrival; see callTimeMs().
  requestId: field(TEXT),
  accountId: field(TEXT),
  keyId: field(TEXT),
  // As the client sent it, also where no model has this id.
  model: field(optional(TEXT)),
  // The client's own id of its end user.
  user: field(optional(TEXT), { column: "user_id" }),
  // Absent for a call whose process died.
  status: field(optional(INT)),
  // `complete`, `caller_left`, `failed`, `refused` or `lost`.
  ended: field(TEXT),
  // Why it failed or was refused.
  code: field(optional(TEXT)),
  durationMs: field(optional(INT)),
  microUsd: field(INT),
  // Number of refusals of the same key in the same minute without a record of their own; stands in
  // the last record of that minute.
  more: field(INT),
});

const COUNT = z.int().exactOptional();
const OBJECT = z.custom<JsonObject>(isObject);

/** The other fields of {@linkcode CallRecord}: one column holds them all, as JSON. */
export const CALL_DETAIL = z.object({
  endpoint: z.string(),
  stream: z.boolean().exactOptional(),
  // The limit that refused it.
  why: OBJECT.exactOptional(),
  firstByteMs: COUNT,
  firstTokenMs: COUNT,
  // Billed tokens; absent where nothing was billed.
  inputTokens: COUNT,
  cacheReadTokens: COUNT,
  cacheWriteTokens: COUNT,
  outputTokens: COUNT,
  reasoningTokens: COUNT,
  estimated: z.boolean(),
  // The model's price had no rate for a part of the call.
  unpriced: z.boolean().exactOptional(),
  // The upstream reported more than the call can have used.
  bounded: z.boolean().exactOptional(),
  // Name of the upstream that replied, or whose error the client received.
  upstream: z.string().exactOptional(),
  // Attempts at upstreams.
  attempts: z.array(OBJECT).readonly().exactOptional(),
  // Request fields that the upstream does not support.
  dropped: z.array(z.string()).readonly().exactOptional(),
  traceId: z.string().exactOptional(),
});

/** See {@linkcode CALL_DETAIL}. */
export type CallDetail = Readonly<z.infer<typeof CALL_DETAIL>>;

/** Written when the call has ended; see `call_book.ts`. */
export interface CallRecord extends RecordOf<typeof CALL>, CallDetail {}

const TIME_CHARS = 9;

/** The time of a call's arrival, Unix milliseconds: its id begins with it. */
export function callTimeMs(requestId: string): number {
  const text = requestId.slice("req_".length, "req_".length + TIME_CHARS);
  const ms = parseInt(text, 36);
  return /^[0-9a-z]{9}$/.test(text) && ms <= 8.64e15 ? ms : 0;
}

/** The lowest id of a call that arrived at `ms` or later. */
export function firstCallId(ms: number): string {
  const whole = Math.max(0, Math.ceil(ms));
  return `req_${whole.toString(36).padStart(TIME_CHARS, "0")}`;
}
