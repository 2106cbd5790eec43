/**
 * The errors for replies that cannot be used, the same in every format.
 */
import { ApiError } from "./error.ts";

/** A stream that ended before its last event. */
export function cutStream(): ApiError {
  return new ApiError(
    "upstream",
    "the upstream's stream ended before its reply was finished",
  );
}

/** A call without a name, which no client could run. */
export function unnamedCall(): ApiError {
  return new ApiError(
    "upstream",
    "the upstream sent a tool call without a name",
  );
}

/** A whole reply that cannot be read. */
export function unreadableReply(why: string): ApiError {
  return new ApiError(
    "upstream",
    `could not read the upstream's reply: ${why}`,
  );
}

/** A stream that cannot be read. */
export function unreadableStream(why: string): ApiError {
  return new ApiError(
    "upstream",
    `could not read the upstream's stream: ${why}`,
  );
}
