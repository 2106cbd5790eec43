/**
 * Decodes a client's request before its upstream is known. An upstream of the client's own dialect
 * validates the request itself, so a value outside the schema is not refused here: the error is
 * kept until the request must be translated.
 */
import { ApiError, invalidField } from "../model/error.ts";
import { withDoubles } from "../bytes/exact_json.ts";
import { isObject, type JsonDraft, type JsonObject } from "../bytes/json.ts";
import type { GenerationRequest, RequestTarget } from "../model/request.ts";
import { atOnce, type Steps } from "../steps.ts";

/** The fields that a request needs, and the shortest that can be read in place of each. */
const CONVERSATIONS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["messages", [{ role: "user", content: "." }]],
  ["input", "."],
  ["contents", [{ parts: [{ text: "." }] }]],
]);
const IMAGE = /^data:image\//i;
/** Bytes rather than text: a `data:` URL or a long run of base64. */
const BYTES = /^(?:data:|[A-Za-z0-9+/_=-]{1000})/i;
/** Characters of text that have as many tokens as an image. */
const IMAGE_CHARS = 6_400;
/**
 * Characters of text per character of other bytes: a token has about 13 of these, and about 4 of
 * text.
 */
const CHARS_PER_BYTE_CHAR = 4 / 13;

/**
 * Decodes a request. Where `decode` refuses a field that `check` accepts, the result holds that
 * error as its `refusal`, and the rest of it is decoded without the field.
 *
 * @param target what the path states, for a format whose bodies do not
 * @throws {ApiError} `invalid_request` with the path of a field that every upstream needs
 */
export function* readRequest(
  given: JsonObject,
  decode: (body: unknown) => Steps<GenerationRequest>,
  check: (body: unknown) => void,
  target?: RequestTarget,
): Steps<GenerationRequest> {
  const body = withDoubles(given);
  if (target !== undefined) assertModel(body["model"], target.model);
  const read = target === undefined
    ? decode
    : function* (value: unknown): Steps<GenerationRequest> {
      return { ...(yield* decode(value)), ...target };
    };
  const refusal = refusalOf(shortConversation(body), read);
  if (refusal === undefined) {
    try {
      return yield* read(body);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return yield* readable(body, read, check, error);
    }
  }
  return yield* readable(body, read, check, refusal);
}

/** Turns of a conversation that is read only once the other fields are known to be right. */
const MANY_TURNS = 1_000;

/** The body with a turn in place of very many; undefined if it has fewer. */
function shortConversation(body: JsonObject): JsonObject | undefined {
  for (const [name, short] of CONVERSATIONS) {
    const turns = body[name];
    if (Array.isArray(turns) && turns.length > MANY_TURNS) {
      return { ...body, [name]: short };
    }
  }
  return undefined;
}

function refusalOf(
  body: JsonObject | undefined,
  read: (body: unknown) => Steps<GenerationRequest>,
): ApiError | undefined {
  if (body === undefined) return undefined;
  try {
    atOnce(read(body));
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** The path chooses the model, and with it the price: a host could read the body's instead. */
function assertModel(given: unknown, model: string): void {
  const same = [undefined, null, model, `models/${model}`];
  if (same.includes(given as string)) return;
  throw invalidField("model", "must be the model of the path, or absent");
}

/**
 * Decodes the request without the fields at fault. Their content is kept as text, because estimates
 * count it.
 */
function* readable(
  body: JsonObject,
  decode: (body: unknown) => Steps<GenerationRequest>,
  check: (body: unknown) => void,
  refusal: ApiError,
): Steps<GenerationRequest> {
  check(body);
  yield;
  const left: JsonDraft = { ...body };
  const skipped = new Set<string>();
  let fault = refusal;
  for (;;) {
    const field = /^[^.[]+/.exec(fault.details.param ?? "")?.[0];
    if (field === undefined || skipped.has(field)) throw refusal;
    for (const one of [field, ...fault.details.wrongFields ?? []]) {
      skipped.add(one);
      delete left[one];
    }
    try {
      const request = yield* decode({
        ...left,
        ...Object.fromEntries(
          [...skipped].flatMap((name) =>
            CONVERSATIONS.has(name) ? [[name, CONVERSATIONS.get(name)]] : []
          ),
        ),
      });
      const text = [...skipped].map((name) => textOf(body[name])).join("\n");
      return {
        ...request,
        refusal,
        turns: [...request.turns, {
          role: "user",
          parts: [{ type: "text", text }],
        }],
      };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      fault = error;
    }
  }
}

/**
 * A value as text, with bytes shortened to the characters that they count for. Ignores levels
 * deeper than in any real request.
 */
function textOf(value: unknown, depth = 0): string {
  if (typeof value === "string") {
    return IMAGE.test(value)
      ? value.slice(0, IMAGE_CHARS)
      : BYTES.test(value)
      ? value.slice(0, Math.ceil(value.length * CHARS_PER_BYTE_CHAR))
      : value;
  }
  if (depth > MAX_DEPTH) return "";
  if (Array.isArray(value)) {
    return value.map((inner) => textOf(inner, depth + 1)).join("\n");
  }
  if (!isObject(value)) return String(value);
  return Object.entries(value).map(([key, inner]) =>
    `${key}: ${textOf(inner, depth + 1)}`
  ).join("\n");
}

const MAX_DEPTH = 100;
