/**
 * The record of a generation call: who called what, how it ended, what it cost, and why it was
 * refused. No prompt, no reply, no header.
 *
 * @module
 */
import { isObject, type JsonObject } from "../../../translate/bytes/json.ts";
import {
  BOOLEAN,
  field,
  fields,
  INT,
  type Kind,
  optional,
  type RecordOf,
  TEXT,
} from "../field.ts";
import { textOf } from "../store/store.ts";

/** A list of objects, stored as JSON. */
const OBJECTS: Kind<readonly JsonObject[]> = {
  ...TEXT,
  fromSql(row, column) {
    const list: unknown = JSON.parse(textOf(row, column));
    return Array.isArray(list) ? list.filter(isObject) : [];
  },
  toSql: (value) => JSON.stringify(value),
  toJson: (value) => value,
};

/** An object, stored as JSON. */
const OBJECT: Kind<JsonObject> = {
  ...TEXT,
  fromSql(row, column) {
    const value: unknown = JSON.parse(textOf(row, column));
    return isObject(value) ? value : {};
  },
  toSql: (value) => JSON.stringify(value),
  toJson: (value) => value,
};

/** A list of texts, stored as JSON. */
const TEXTS: Kind<readonly string[]> = {
  ...TEXT,
  fromSql(row, column) {
    const list: unknown = JSON.parse(textOf(row, column));
    return Array.isArray(list)
      ? list.filter((item) => typeof item === "string")
      : [];
  },
  toSql: (value) => JSON.stringify(value),
  toJson: (value) => value,
};

/** The fields of {@linkcode CallRecord}. */
export const CALL = fields({
  // Begins with the time of arrival; see callTimeMs().
  requestId: field(TEXT),
  accountId: field(TEXT),
  keyId: field(TEXT),
  // As the client sent it, also where no model has this id.
  model: field(optional(TEXT)),
  // The client's own id of its end user.
  user: field(optional(TEXT), { column: "user_id" }),
  endpoint: field(TEXT),
  stream: field(optional(BOOLEAN)),
  // Absent for a call whose process died.
  status: field(optional(INT)),
  // `complete`, `caller_left`, `failed`, `refused` or `lost`.
  ended: field(TEXT),
  // Why it failed or was refused.
  code: field(optional(TEXT)),
  why: field(optional(OBJECT)),
  durationMs: field(optional(INT)),
  firstByteMs: field(optional(INT)),
  firstTokenMs: field(optional(INT)),
  // Billed tokens; absent where nothing was billed.
  inputTokens: field(optional(INT)),
  cacheReadTokens: field(optional(INT)),
  cacheWriteTokens: field(optional(INT)),
  outputTokens: field(optional(INT)),
  reasoningTokens: field(optional(INT)),
  estimated: field(BOOLEAN),
  microUsd: field(INT),
  // Name of the upstream that replied, or whose error the client received.
  upstream: field(optional(TEXT)),
  // Attempts at upstreams.
  attempts: field(optional(OBJECTS)),
  // Request fields that the upstream does not support.
  dropped: field(optional(TEXTS)),
  traceId: field(optional(TEXT)),
  // Refusals of the same key in the same minute that have no record of their own; in the record
  // of the last one that has.
  more: field(INT),
});

/** Written when the call has ended; see `call_book.ts`. */
export interface CallRecord extends RecordOf<typeof CALL> {}

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
