/**
 * A generation call: reads the request, with the stored part of its conversation, and has the
 * generation made and paid for. The caller is authenticated before this; errors are encoded by the
 * router.
 */
import { invalidField } from "../../translate/model/error.ts";
import { freeTextNames } from "../../translate/turns/free_text.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { TopLevel } from "../../translate/bytes/json_splice.ts";
import type { Dialect, EncodeContext } from "../../translate/dialect.ts";
import type { GenerationRequest } from "../../translate/model/request.ts";
import { atOnce } from "../../translate/steps.ts";
import { readRequest } from "../../translate/stream/read_request.ts";
import type { ClientRequest } from "../../translate/upstream_request.ts";
import type { Gateway } from "../gateway.ts";
import { isLarge } from "../http/request_body.ts";
import type { HttpReply } from "../http/http_reply.ts";
import { forwardedHeaders } from "../http/forwarded_headers.ts";
import { newIdSeed } from "../http/request_id.ts";
import { nextTurn } from "../accounts/next_turn.ts";
import { inTurns } from "../in_turns.ts";
import {
  type Conversation,
  openConversation,
} from "../responses/conversation.ts";
import { askedPrices } from "./asked_prices.ts";
import type { GenerationCall } from "./call_request.ts";
import { inputTokens } from "./estimate.ts";
import { Generation, maxOutputTokens } from "./generation.ts";
import { hiddenOutputOf } from "./client_presence.ts";
import { emptyReply } from "./empty_reply.ts";
import { keepingTap } from "./keeping_tap.ts";
import { accessibleModel, assertActive } from "./model_access.ts";
import { assertAccepting, payFor } from "./paid_call.ts";
import { usageBoundOf } from "./usage_bound.ts";

/**
 * Makes a generation call.
 *
 * @throws {ApiError} an error that occurred before any byte reached the client
 */
export async function generate(
  gateway: Gateway,
  call: GenerationCall,
): Promise<HttpReply> {
  assertAccepting(gateway);
  const conversation = call.dialect.state === undefined
    ? undefined
    : await openConversation(gateway, call);
  try {
    return await run(
      gateway,
      conversation === undefined ? call : { ...call, ...conversation.request },
      conversation,
    );
  } catch (error) {
    throw conversation === undefined ? error : conversation.ownError(error);
  }
}

async function run(
  gateway: Gateway,
  call: GenerationCall,
  conversation: Conversation | undefined,
): Promise<HttpReply> {
  const { dialect, caller, body, arrivedMs } = call;
  // The body has just been parsed.
  if (isLarge(call)) await nextTurn();
  const reading = readRequest(
    body,
    dialect.decodeRequest,
    dialect.checkPassable,
    call.target,
  );
  const request = isLarge(call) ? await inTurns(reading) : atOnce(reading);
  if (isLarge(call)) await nextTurn();
  call.facts.stream = request.stream;
  const user = request.user === undefined
    ? undefined
    : gateway.withoutCredentials(request.user);
  call.facts.user = user;
  assertActive(caller);
  call.facts.model = request.model;
  const model = accessibleModel(gateway, caller, request.model, "generation");
  const counting = inputTokens(request);
  const tokens = isLarge(call) ? await inTurns(counting) : atOnce(counting);
  const encode: EncodeContext = {
    model: model.id,
    created: Math.floor(arrivedMs / 1000),
    endedAt: () => Math.floor(gateway.now() / 1000),
    idSeed: newIdSeed(),
    requestId: call.requestId,
    wantUsage: request.wantUsage,
    legacyFunctions: request.legacyFunctions === true,
    hidesReasoning: request.hidesReasoning === true,
    freeTextTools: freeTextNames(request),
    inputEstimate: tokens,
    ...(dialect.echoOf === undefined
      ? {}
      : { echo: dialect.echoOf(body), opened: { frames: 0 } }),
    ...(conversation === undefined ? {} : { stored: conversation.stored }),
  };
  if (call.connection?.generates === false) {
    return await emptyReply(call, encode, conversation?.keeper);
  }
  const operation = new Generation(
    new GivenRequest(call, request),
    {
      dialect,
      isStream: request.stream,
      encode,
      timers: gateway.timers,
      firstFrameMs: gateway.config.firstByteTimeoutMs,
    },
    isStrict(call.headers),
  );
  return await payFor(gateway, call, {
    name: "chat",
    model,
    settings: request,
    operation,
    replyCount: request.replyCount ?? 1,
    mostUsage: usageBoundOf(request),
    hidden: hiddenOutputOf(request),
    taps: conversation?.keeper === undefined
      ? []
      : [keepingTap(conversation.keeper)],
    worstCase(candidates) {
      const asked = askedPrices(gateway, {
        caller,
        dialect,
        body,
        model,
        candidates,
      });
      return {
        inputTokens: tokens,
        maxOutputTokens: maxOutputTokens(request, candidates),
        ...(user === undefined ? {} : { user }),
        ...(asked === undefined ? {} : { asked }),
      };
    },
  });
}

/**
 * The client's request, for upstreams. A class, because every object literal with a getter makes a
 * hidden class in the old generation, which keeps the call and its body until a full collection.
 */
class GivenRequest implements ClientRequest {
  readonly dialect: Dialect;
  readonly bytes: Uint8Array;
  readonly body: JsonObject;
  readonly top: TopLevel;
  readonly request: GenerationRequest;
  readonly #headers: Headers;

  constructor(
    { dialect, bytes, body, top, headers }: GenerationCall,
    request: GenerationRequest,
  ) {
    this.dialect = dialect;
    this.bytes = bytes;
    this.body = body;
    this.top = top;
    this.request = request;
    this.#headers = headers;
  }

  /** Read for an upstream of the same dialect only: the first walk through headers is slow. */
  get headers(): Readonly<Record<string, string>> {
    return this.dialect.name === "messages"
      ? forwardedHeaders(this.#headers)
      : {};
  }

  get betas(): string | undefined {
    return this.dialect.name === "messages"
      ? this.#headers.get("anthropic-beta") ?? undefined
      : undefined;
  }
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
