/**
 * Removes a vendor's key from errors that clients receive, because some upstreams repeat it when
 * they fail. Only errors are searched: an answer is the model's output and never mentions the call.
 *
 * @module
 */
import type { UpstreamDialect } from "../dialect.ts";
import { ApiError } from "./error.ts";
import type { ReplyEvent } from "./reply.ts";

const REMOVED = "[removed]";

/**
 * The shortest prefix of a secret that is searched for at a text's end, where the rest may have
 * been cut off.
 */
const MIN_CUT_CHARS = 8;

/**
 * The dialect, with the secret removed from every error that it decodes: by status, in a whole
 * reply, inside a stream.
 */
export function redactKey(
  dialect: UpstreamDialect,
  secret: string,
): UpstreamDialect {
  if (secret === "") return dialect;
  const clean = (events: readonly ReplyEvent[]): readonly ReplyEvent[] =>
    events.at(-1)?.type === "error"
      ? events.map((event) =>
        event.type === "error"
          ? { type: "error", error: cleanError(event.error, secret) }
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
      cleanError(
        dialect.decodeError(status, headers, cleanText(body, secret)),
        secret,
      ),
  };
}

function cleanError(error: ApiError, secret: string): ApiError {
  const { code, param } = error.details;
  return new ApiError(error.kind, cleanText(error.message, secret), {
    ...error.details,
    ...(code === undefined ? {} : { code: cleanText(code, secret) }),
    ...(param === undefined ? {} : { param: cleanText(param, secret) }),
  });
}

/** Messages are cut to a length, so one may end in the middle of the secret. */
function cleanText(text: string, secret: string): string {
  const whole = text.replaceAll(secret, REMOVED);
  for (let length = secret.length - 1; length >= MIN_CUT_CHARS; length--) {
    if (whole.endsWith(secret.slice(0, length))) {
      return whole.slice(0, -length) + REMOVED;
    }
  }
  return whole;
}
