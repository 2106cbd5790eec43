/**
 * Removes a vendor's key from errors that clients receive, because some upstreams repeat it when
 * they fail. Only errors are searched here: the gateway searches whole replies that succeed.
 */
import type { UpstreamDialect } from "../dialect.ts";
import { exactJson } from "../bytes/exact_json.ts";
import { type JsonObject, objectOr } from "../bytes/json.ts";
import { ApiError, type ErrorDetails } from "../model/error.ts";
import { secretPattern } from "./secret_pattern.ts";
import type { ReplyEvent } from "../model/reply.ts";

const REMOVED = "[removed]";

/** The details of an error that hold an upstream's text. */
const TEXTS = [
  "code",
  "param",
  "note",
  "upstreamCode",
  "upstreamMessage",
] as const;

type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** A shorter one is a placeholder for a server that asks for no key, and occurs in words. */
const MIN_SECRET_CHARS = 4;

/**
 * The shortest prefix of a secret that is searched for at a text's end, where the rest may have
 * been cut off.
 */
const MIN_CUT_CHARS = 8;

/**
 * The dialect, with secrets removed from every error that it decodes: by status, in a whole reply,
 * inside a stream.
 *
 * @param secret one secret, or a function that returns the present ones
 */
export function redactKey(
  dialect: UpstreamDialect,
  secret: string | (() => readonly string[]),
): UpstreamDialect {
  if (secret === "") return dialect;
  const secrets = typeof secret === "string" ? () => [secret] : secret;
  const cleanText = (text: string): string =>
    secrets().reduce(withoutSecret, text);
  const cleanObject = (object: JsonObject): JsonObject => {
    const text = JSON.stringify(object);
    const cleaned = secrets().reduce(withoutSpellings, text);
    return cleaned === text ? object : objectOr(exactJson(cleaned));
  };
  const cleanError = (error: ApiError): ApiError => {
    const cleaned: Draft<ErrorDetails> = { ...error.details };
    for (const name of TEXTS) {
      const text = cleaned[name];
      if (text !== undefined) cleaned[name] = cleanText(text);
    }
    const { vendorError } = cleaned;
    if (vendorError !== undefined) {
      const fields = cleanObject(vendorError.fields);
      cleaned.vendorError = { ...vendorError, fields };
    }
    return new ApiError(error.kind, cleanText(error.message), cleaned);
  };
  const clean = (events: readonly ReplyEvent[]): readonly ReplyEvent[] =>
    events.at(-1)?.type === "error"
      ? events.map((event) =>
        event.type === "error"
          ? { type: "error", error: cleanError(event.error) }
          : event
      )
      : events;
  return {
    ...dialect,
    decodeReply: (body, context) => clean(dialect.decodeReply(body, context)),
    streamDecoder(context) {
      const decoder = dialect.streamDecoder(context);
      return {
        ...decoder,
        push: (frame) => clean(decoder.push(frame)),
        end: () => clean(decoder.end()),
      };
    },
    decodeError: (status, headers, body) =>
      cleanError(dialect.decodeError(status, headers, cleanText(body))),
  };
}

/** Without the secret, however its characters are escaped. */
function withoutSpellings(text: string, secret: string): string {
  return secret.length < MIN_SECRET_CHARS
    ? text
    : text.replace(secretPattern(secret), REMOVED);
}

/** Messages are cut to a length, so one may end in the middle of the secret. */
function withoutSecret(text: string, secret: string): string {
  const whole = withoutSpellings(text, secret);
  for (let length = secret.length - 1; length >= MIN_CUT_CHARS; length--) {
    if (whole.endsWith(secret.slice(0, length))) {
      return whole.slice(0, -length) + REMOVED;
    }
  }
  return whole;
}
