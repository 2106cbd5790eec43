import type { ApiError } from "../../translate/model/error.ts";

/** The words; undefined where there was no failure. The error's message contains no secret. */
export function vendorWords(error: ApiError | undefined): string | undefined {
  if (error === undefined) return undefined;
  const { refused, upstreamStatus, upstreamCode, upstreamMessage, note } =
    error.details;
  const status = upstreamStatus === undefined ? "" : ` with ${upstreamStatus}`;
  return [
    // The client's message hides what is the operator's.
    refused === undefined
      ? error.message
      : `the ${refused} was refused${status}`,
    upstreamCode,
    upstreamMessage,
    note,
  ].filter((part) => part !== undefined).join(": ");
}
