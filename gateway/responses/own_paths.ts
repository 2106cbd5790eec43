/**
 * Errors of a request that continues a stored reply, in the client's words: its own items keep
 * their numbers, although earlier items precede them.
 *
 * @module
 */
import { ApiError } from "../../translate/model/error.ts";

const INDEX = /\binput\[(\d+)\]((?:\.\w+|\[\d+\])*)/g;
/** The field that brought the earlier items. */
const PREVIOUS = "previous_response_id";

/** The error with the paths of the client's own request, without the `earlier` items before it. */
export function withOwnPaths(error: unknown, earlier: number): unknown {
  if (earlier === 0 || !(error instanceof ApiError)) return error;
  const { param } = error.details;
  if (param === undefined || param.search(INDEX) !== 0) return error;
  const own = (text: string): string =>
    text.replaceAll(INDEX, (_, index: string, rest: string) => {
      const at = Number(index) - earlier;
      return at < 0 ? `${PREVIOUS}: an earlier item` : `input[${at}]${rest}`;
    });
  const at = Number(/\d+/.exec(param)?.[0]) - earlier;
  const moved = new ApiError(error.kind, own(error.message), {
    ...error.details,
    param: at < 0 ? PREVIOUS : own(param),
  });
  moved.cause = error.cause;
  return moved;
}
