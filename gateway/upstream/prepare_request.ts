/**
 * Writes a generation's request for one candidate. The formats of a model's candidates differ in what
 * they can express.
 *
 * @module
 */
import { type ApiError, invalidField } from "../../translate/model/error.ts";
import {
  type ClientRequest,
  type UpstreamRequest,
  upstreamRequest,
} from "../../translate/upstream_request.ts";
import type { Candidate } from "./catalogue/model_registry.ts";

/** The most dropped fields that the error of strict mode lists. */
const MAX_NAMED = 20;

/**
 * Writes the request for a candidate.
 *
 * @throws {ApiError} `invalid_request` if the candidate's format cannot express the request, or,
 * with `isStrict`, if it would drop a field
 */
export function prepareRequest(
  client: ClientRequest,
  candidate: Candidate,
  isStrict: boolean,
): UpstreamRequest {
  const upstream = upstreamRequest(
    client,
    candidate.dialect,
    candidate.upstreamModel,
    candidate.capabilities,
    "sent",
    candidate.host,
  );
  const first = upstream.dropped[0];
  if (first === undefined || !isStrict) return upstream;
  const others = upstream.dropped.slice(1, MAX_NAMED).join(", ");
  throw invalidField(
    first,
    `cannot be sent to this model's upstream, and x-gateway-strict forbids dropping it${
      others === "" ? "" : `; the same applies to ${others}`
    }`,
    "unsupported_parameter",
  );
}

/** The error code of an upstream that refuses reasoning signed for another account. */
const FOREIGN_PROOF = "invalid_encrypted_content";

/**
 * The request for the same candidate without signed reasoning, if the signatures are what it refused; undefined if they are not,
 * or with `isStrict`.
 */
export function withoutProofs(
  client: ClientRequest,
  isStrict: boolean,
  candidate: Candidate,
  refusal: ApiError,
): UpstreamRequest | undefined {
  return isStrict || refusal.details.code !== FOREIGN_PROOF
    ? undefined
    : upstreamRequest(
      client,
      candidate.dialect,
      candidate.upstreamModel,
      candidate.capabilities,
      "left out",
      candidate.host,
    );
}
