import { keptCode, keptWords } from "../../translate/errors/kept_words.ts";
import type { ApiError } from "../../translate/model/error.ts";

/**
 * What an upstream wrote of its failure, for operators: nothing of the request, and no secret.
 * Undefined where there was no failure.
 */
export function vendorWords(error: ApiError | undefined): string | undefined {
  if (error === undefined) return undefined;
  const { refused, upstreamStatus, upstreamCode, upstreamMessage, note } =
    error.details;
  const status = upstreamStatus === undefined ? "" : ` with ${upstreamStatus}`;
  return [
    // The client's message hides what is the operator's.
    refused === undefined
      ? keptWords(error.message) || error.kind.replaceAll("_", " ")
      : `the ${refused} was refused${status}`,
    keptCode(upstreamCode),
    keptWords(upstreamMessage ?? ""),
    note,
  ].filter((part) => part !== undefined && part !== "").join(": ");
}
