/**
 * THE pipeline of a generation call: decode → choose → reserve → call → relay → settle. The last three are `exchange.ts`. Who
 * is calling has been found out before; how errors look on the wire is said by whoever catches them.
 *
 * @module
 */
import type { Dialect } from "../translate/dialect.ts";
import { ApiError } from "../translate/error.ts";
import type { JsonObject } from "../translate/json.ts";
import type { TopLevel } from "../translate/json_splice.ts";
import type { GenerationRequest } from "../translate/request.ts";
import type { Caller } from "./accounts/accounts.ts";
import type { Answer } from "./answer.ts";
import { inputTokens } from "./estimate.ts";
import { Exchange } from "./exchange.ts";
import type { Gateway } from "./gateway.ts";
import { permittedModel, refuseDisabled } from "./permitted_model.ts";
import type { Slot } from "./slots.ts";
import type { Candidate } from "./upstream/candidates.ts";
import { choose } from "./upstream/choose.ts";
import { fitting } from "./upstream/fitting.ts";

/** A call as it reaches the pipeline. */
export interface GenerationCall {
  /** What the request is written in, and the reply will be. */
  readonly dialect: Dialect;
  /** Decides which models may be called; pays. */
  readonly caller: Caller;
  /** Names the call to the caller, in the log and in the ledger. */
  readonly requestId: string;
  /** After decompression; forwarded where the upstream speaks the same dialect. */
  readonly bytes: Uint8Array;
  /** What the bytes parse to; not checked yet. */
  readonly body: JsonObject;
  /** Where its fields stand in the bytes. */
  readonly top: TopLevel;
  /** As sent: `x-gateway-strict`, version and betas are read from them. */
  readonly headers: Headers;
  /** Aborted when the caller leaves before it has a reply. */
  readonly signal: AbortSignal;
  /** Unix time in milliseconds; the logged duration and the reply's `created` count from it. */
  readonly arrivedMs: number;
  /** For the log: the request's path, which is the route's. */
  readonly path: string;
  /** The call's place; released once the call is settled. */
  readonly slot: Slot;
}

/**
 * Makes a generation call.
 *
 * @throws {ApiError} what went wrong before the caller was told anything
 */
export async function generate(
  gateway: Gateway,
  call: GenerationCall,
): Promise<Answer> {
  if (!gateway.accepting()) throw stopping();
  const request = call.dialect.decodeRequest(call.body);
  refuseDisabled(call.caller);
  const model = permittedModel(gateway, call.caller, request.model);
  const candidates = gateway.offer.candidates(model, call.dialect.name);
  const isStrict =
    call.headers.get("x-gateway-strict")?.toLowerCase() === "true";
  const unfit: Candidate[] = [];
  const caller = {
    dialect: call.dialect,
    bytes: call.bytes,
    body: call.body,
    top: call.top,
    request,
  };
  const first = fitting(
    caller,
    isStrict,
    unfit,
    () => choose(candidates, unfit, gateway.now(), gateway.random),
  );
  if (first === undefined) {
    throw new Error(`model ${model.id} is on offer without a candidate`);
  }
  const estimate = inputTokens(request);
  const reservation = await gateway.accounts.reserve(call.caller, {
    requestId: call.requestId,
    model: model.id,
    inputTokens: estimate,
    maxOutputTokens: worstCap(request, candidates),
    ...(request.user === undefined ? {} : { user: request.user }),
  });
  const exchange = new Exchange({
    gateway,
    call,
    caller,
    model,
    candidates,
    unfit,
    isStrict,
    first,
    reservation,
    inputEstimate: estimate,
  });
  return await exchange.run();
}

/** The most tokens that any candidate can generate: which of them will answer is not known yet. */
function worstCap(
  request: GenerationRequest,
  candidates: readonly Candidate[],
): number {
  let worst = 0;
  for (const one of candidates) {
    worst = Math.max(worst, outputCap(request, one));
  }
  return worst;
}

/** The most tokens that can be generated: the caller's cap, that of the upstream's request where it must have one, the model's. */
function outputCap(request: GenerationRequest, candidate: Candidate): number {
  const { maxOutputTokens, defaultMaxTokens, reasoning } = candidate.can;
  // A budget for reasoning comes on top of the default.
  const sentDefault = candidate.dialect.name === "messages" &&
    (request.reasoning === undefined || reasoning !== "budget");
  return Math.min(
    request.maxTokens ??
      (sentDefault ? defaultMaxTokens : maxOutputTokens ?? defaultMaxTokens),
    maxOutputTokens ?? Infinity,
  );
}

function stopping(): ApiError {
  return new ApiError(
    "unavailable",
    "the gateway is being stopped; try again",
    { retryAfterSeconds: 1 },
  );
}
