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

/** A whole reply that does not report how it ended, so that it may be a part of one. */
export function unendedReply(): ApiError {
  return unreadableReply("it is without an ending");
}

/** What a stop reason means that no table has. */
export function unknownEnd(word: string): string {
  return `the upstream ended its reply with an unknown word: ${
    word.slice(0, 100)
  }`;
}
