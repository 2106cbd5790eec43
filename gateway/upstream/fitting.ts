/**
 * Writing a call's request for a candidate, and finding one that can be told it: the dialects of a model's candidates differ in
 * what they can say.
 *
 * @module
 */
import { ApiError } from "../../translate/error.ts";
import {
  type CallerRequest,
  type UpstreamRequest,
  upstreamRequest,
} from "../../translate/relay.ts";
import type { Candidate } from "./candidates.ts";

/** A candidate, and the request as it is written for it. */
export interface Fitting {
  /** Where the request goes. */
  readonly candidate: Candidate;
  /** The request, always written from what the caller sent. */
  readonly upstream: UpstreamRequest;
}

/**
 * The first candidate that `next` gives and that can be told the request; the others are added to `unfit`.
 *
 * @throws {ApiError} `invalid_request` of the first one, where none is left
 */
export function fitting(
  caller: CallerRequest,
  isStrict: boolean,
  unfit: Candidate[],
  next: () => Candidate | undefined,
): Fitting | undefined {
  let refusal: ApiError | undefined;
  for (;;) {
    const candidate = next();
    if (candidate === undefined) {
      if (refusal === undefined) return undefined;
      throw refusal;
    }
    try {
      return { candidate, upstream: written(caller, isStrict, candidate) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusal ??= error;
      unfit.push(candidate);
    }
  }
}

function written(
  caller: CallerRequest,
  isStrict: boolean,
  candidate: Candidate,
): UpstreamRequest {
  const upstream = upstreamRequest(
    caller,
    candidate.dialect,
    candidate.upstreamModel,
    candidate.can,
  );
  const first = upstream.losses[0];
  if (first === undefined || !isStrict) return upstream;
  throw new ApiError(
    "invalid_request",
    `${
      upstream.losses.join(", ")
    }: cannot be said to this model's upstream, and x-gateway-strict forbids leaving it out`,
    { param: first, code: "unsupported_parameter", retryable: false },
  );
}
