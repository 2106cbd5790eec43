/**
 * Keeps a vendor's key out of what callers read: some upstreams echo it when they fail. Only failures are looked at, for there
 * alone an upstream speaks about the call; answers are the model's words.
 *
 * @module
 */
import type { UpstreamDialect } from "./dialect.ts";
import { ApiError } from "./error.ts";
import type { ReplyEvent } from "./reply.ts";

const REMOVED = "[removed]";

/** The shortest beginning of a secret that is looked for at a text's end, where the rest may have been cut off. */
const MIN_CUT_CHARS = 8;

/** The dialect, with the secret taken out of every error that it reads: by status, in a whole reply, inside a stream. */
export function withoutSecret(
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
