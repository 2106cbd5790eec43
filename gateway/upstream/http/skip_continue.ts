/**
 * `100 Continue` from an upstream whose request did not ask for it. A client skips interim replies
 * even where it expects none (RFC 9110, 15.2), but undici closes the connection at this one alone.
 */

/** What is used of undici's parser. */
export interface ReplyParser {
  onHeadersComplete(status: number, ...more: boolean[]): number;
}

const CONTINUE = 100;
/** Skipped by undici, and as empty of meaning here. */
const PROCESSING = 102;

/** Makes a parser skip `100 Continue`. */
export function skipContinue(parser: ReplyParser): void {
  const onHead = parser.onHeadersComplete;
  parser.onHeadersComplete = function (status, ...more) {
    return onHead.call(
      this,
      status === CONTINUE ? PROCESSING : status,
      ...more,
    );
  };
}
