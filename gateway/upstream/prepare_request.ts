/**
 * Writes a generation's request for one candidate. The formats of a model's candidates differ in
 * what they can express. A large request is written in turns of the event loop.
 */
import { type ApiError, invalidField } from "../../translate/model/error.ts";
import { atOnce, type Steps } from "../../translate/steps.ts";
import {
  type ClientRequest,
  type UnwrittenRequest,
  unwrittenRequest,
  type UpstreamRequest,
  writtenRequest,
} from "../../translate/upstream_request.ts";
import { nextTurn } from "../accounts/next_turn.ts";
import { isLarge } from "../http/request_body.ts";
import { inTurns, jsonInTurns } from "../in_turns.ts";
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
): UpstreamRequest | Promise<UpstreamRequest> {
  const upstream = written(client, candidate, "sent");
  if (!isStrict) return upstream;
  return upstream instanceof Promise
    ? upstream.then(strictly)
    : strictly(upstream);
}

function strictly(upstream: UpstreamRequest): UpstreamRequest {
  const first = upstream.dropped[0];
  if (first === undefined) return upstream;
  // A tool's type is behind its path.
  const path = first.replace(/(?<=^[\w.]+\[\d+\]):[^]*$/, "");
  const type = first === path ? "" : `${first.slice(path.length + 1)} `;
  const others = upstream.dropped.slice(1, MAX_NAMED).join(", ");
  throw invalidField(
    path,
    `${type}cannot be sent to this model's upstream, and x-gateway-strict forbids dropping it${
      others === "" ? "" : `; the same applies to ${others}`
    }`,
    "unsupported_parameter",
  );
}

/** The error code of an upstream that refuses reasoning signed for another account. */
const FOREIGN_PROOF = "invalid_encrypted_content";

/**
 * The request for the same candidate without signed reasoning, if the signatures are what it
 * refused; undefined if they are not, or with `isStrict`.
 */
export function withoutProofs(
  client: ClientRequest,
  isStrict: boolean,
  candidate: Candidate,
  refusal: ApiError,
): UpstreamRequest | Promise<UpstreamRequest> | undefined {
  return isStrict || refusal.details.code !== FOREIGN_PROOF
    ? undefined
    : written(client, candidate, "left out");
}

/**
 * The request as a candidate takes it.
 *
 * @param only the fields of the body that are sent; absent: all
 */
export function written(
  client: ClientRequest,
  { dialect, upstreamModel, capabilities, host }: WrittenFor,
  proofs: "sent" | "left out",
  only?: readonly string[],
): UpstreamRequest | Promise<UpstreamRequest> {
  const unwritten = unwrittenRequest(
    client,
    dialect,
    upstreamModel,
    capabilities,
    proofs,
    host,
    only,
  );
  return isLarge(client)
    ? inTurnsOf(unwritten)
    : writtenRequest(atOnce(unwritten));
}

/** The parts of a candidate that a request is written by. */
type WrittenFor = Pick<
  Candidate,
  "dialect" | "upstreamModel" | "capabilities" | "host"
>;

async function inTurnsOf(
  unwritten: Steps<UnwrittenRequest>,
): Promise<UpstreamRequest> {
  await nextTurn();
  const { body, ...request } = await inTurns(unwritten);
  await nextTurn();
  return {
    ...request,
    bytes: body instanceof Uint8Array ? body : await jsonInTurns(body.json),
  };
}
