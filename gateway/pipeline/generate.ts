/**
 * The pipeline of a generation call: decode, check model access, choose a candidate, reserve.
 * `active_call.ts` does the rest: attempts, relay and settlement. The caller is authenticated
 * before this; errors are encoded by the router.
 *
 * @module
 */
import { ApiError, invalidField } from "../../translate/model/error.ts";
import { readRequest } from "../../translate/stream/read_request.ts";
import type { GenerationRequest } from "../../translate/model/request.ts";
import { isLarge } from "../http/request_body.ts";
import type { HttpReply } from "../http/http_reply.ts";
import { forwardedHeaders } from "../http/forwarded_headers.ts";
import { askedPrices } from "./asked_prices.ts";
import { inputTokens } from "./estimate.ts";
import { ActiveCall } from "./active_call.ts";
import { Failover } from "./failover.ts";
import type { Gateway } from "../gateway.ts";
import {
  type Conversation,
  openConversation,
} from "../responses/conversation.ts";
import { accessibleModel, assertActive } from "./model_access.ts";
import type { Candidate } from "../upstream/model_registry.ts";
import { nextTurn } from "../accounts/next_turn.ts";
import type { GenerationCall } from "./generation_call.ts";

/**
 * Makes a generation call.
 *
 * @throws {ApiError} an error that occurred before any byte reached the client
 */
export async function generate(
  gateway: Gateway,
  call: GenerationCall,
): Promise<HttpReply> {
  if (!gateway.accepting()) throw shuttingDown();
  const conversation = call.dialect.state === undefined
    ? undefined
    : await openConversation(gateway, call);
  if (conversation === undefined) return await run(gateway, call);
  const { body, bytes, top } = conversation;
  try {
    return await run(gateway, { ...call, body, bytes, top }, conversation);
  } catch (error) {
    const own = conversation.ownError(error);
    if (
      error instanceof Error && own instanceof Error &&
      gateway.loggedErrors.has(error)
    ) gateway.loggedErrors.add(own);
    throw own;
  }
}

async function run(
  gateway: Gateway,
  call: GenerationCall,
  conversation?: Conversation,
): Promise<HttpReply> {
  // The body has just been parsed.
  if (isLarge(call)) await nextTurn();
  const request = readRequest(
    call.body,
    call.dialect.decodeRequest,
    call.dialect.checkPassable,
  );
  if (isLarge(call)) await nextTurn();
  call.facts.model = request.model;
  call.facts.stream = request.stream;
  const user = request.user === undefined
    ? undefined
    : gateway.withoutCredentials(request.user);
  call.facts.user = user;
  assertActive(call.caller);
  const model = accessibleModel(gateway, call.caller, request.model);
  const strict = isStrict(call.headers);
  const client = {
    dialect: call.dialect,
    bytes: call.bytes,
    body: call.body,
    top: call.top,
    request,
    // Read for an upstream of the same dialect only: the first walk through headers is slow.
    get headers() {
      return call.dialect.name === "messages"
        ? forwardedHeaders(call.headers)
        : {};
    },
  };
  const failover = new Failover(gateway, model, client, strict);
  const asked = askedPrices(gateway, {
    caller: call.caller,
    dialect: call.dialect,
    body: call.body,
    model,
    candidates: failover.candidates,
  });
  const reservation = await gateway.accounts.reserve(call.caller, {
    requestId: call.requestId,
    model: model.id,
    inputTokens: inputTokens(request),
    maxOutputTokens: maxOutputTokens(request, failover.candidates),
    ...(user === undefined ? {} : { user }),
    ...(asked === undefined ? {} : { asked }),
  });
  return await new ActiveCall(
    gateway,
    call,
    request,
    failover,
    reservation,
    conversation,
  ).run();
}

/**
 * Whether the client prefers an error to a dropped field.
 *
 * @throws {ApiError} `invalid_request` for a value that a client could mean either way
 */
function isStrict(headers: Headers): boolean {
  const name = "x-gateway-strict";
  switch (headers.get(name)?.toLowerCase()) {
    case "true":
      return true;
    case undefined:
    case "false":
      return false;
  }
  throw invalidField(name, "must be true or false, once");
}

/**
 * The largest output limit among the candidates, because any of them may reply, for each of the
 * answers that the client asks for.
 */
function maxOutputTokens(
  request: GenerationRequest,
  candidates: readonly Candidate[],
): number {
  let largest = 0;
  for (const candidate of candidates) {
    largest = Math.max(largest, outputCap(request, candidate));
  }
  return largest * (request.candidates ?? 1);
}

/**
 * The most tokens that a candidate can generate: the client's limit, or the default that its
 * request carries, capped by the model's own limit.
 */
function outputCap(request: GenerationRequest, candidate: Candidate): number {
  const { maxOutputTokens, defaultMaxTokens, reasoning } =
    candidate.capabilities;
  // With a reasoning budget, the default is sent plus the budget.
  const sentDefault = candidate.dialect.name === "messages" &&
    (request.reasoning === undefined || reasoning !== "budget");
  return Math.min(
    request.maxTokens ??
      (sentDefault ? defaultMaxTokens : maxOutputTokens ?? defaultMaxTokens),
    maxOutputTokens ?? Infinity,
  );
}

function shuttingDown(): ApiError {
  return new ApiError(
    "unavailable",
    "the gateway is shutting down; try again",
    { retryAfterSeconds: 1 },
  );
}
