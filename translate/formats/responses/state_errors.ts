/**
 * Errors of requests that refer to stored replies, in this format's words.
 */
import { ApiError, invalidField } from "../../model/error.ts";
import type { ItemReference, StateErrors } from "../../model/stored_state.ts";

/** What a client can do without stored replies. */
export const SEND_ALL =
  "send the whole conversation in input (AI SDK: providerOptions.openai.store = false)";

/** The field that brings earlier items into a request. */
const PREVIOUS = "previous_response_id";
/** The path of an input item, or below it. */
const IN_INPUT = /\binput\[(\d+)\]((?:\.\w+|\[\d+\])*)/g;
const MAX_SHOWN = 100;

/** See {@linkcode StateErrors}. */
export const stateErrors: StateErrors = {
  notContinued: () =>
    invalidField(
      PREVIOUS,
      `this reply, or one that it continues, is not stored for this key: it is unknown, was deleted or has expired; ${SEND_ALL}`,
      "previous_response_not_found",
    ),
  noItem: ({ path, id }: ItemReference) =>
    invalidField(
      path,
      `no item ${
        JSON.stringify(id.toWellFormed().slice(0, MAX_SHOWN))
      } is stored for this key: it is unknown, was deleted or has expired; ${SEND_ALL}`,
      "item_not_found",
    ),
  tooLong({ previousId }, maxBytes) {
    const field = previousId === undefined ? "input" : PREVIOUS;
    return new ApiError(
      "too_large",
      `${field}: the conversation, with the replies and items that the request refers to, has too many of them or is larger than ${maxBytes} bytes`,
      { param: field, retryable: false },
    );
  },
  own: withOwnPaths,
};

/** The error with the paths of the client's own request, without the `earlier` items before it. */
function withOwnPaths(error: ApiError, earlier: number): ApiError {
  const { param } = error.details;
  if (param === undefined || param.search(IN_INPUT) !== 0) return error;
  const inOwnTerms = (text: string): string =>
    text.replaceAll(IN_INPUT, (_, index: string, rest: string) => {
      const at = Number(index) - earlier;
      return at < 0 ? `${PREVIOUS}: an earlier item` : `input[${at}]${rest}`;
    });
  const isEarlier = Number(/\d+/.exec(param)?.[0]) < earlier;
  const moved = new ApiError(error.kind, inOwnTerms(error.message), {
    ...error.details,
    param: isEarlier ? PREVIOUS : inOwnTerms(param),
  });
  moved.cause = error.cause;
  return moved;
}
