/**
 * Shared by the generation endpoints: reads the body and passes it to the pipeline in the
 * endpoint's dialect.
 */
import type { Caller } from "../gateway/accounts/accounts.ts";
import type { HttpReply } from "../gateway/http/http_reply.ts";
import { type JsonBody, readJsonBody } from "../gateway/http/request_body.ts";
import type {
  CallRequest,
  JsonCall,
} from "../gateway/pipeline/call_request.ts";
import { generate } from "../gateway/pipeline/generate.ts";
import type { Dialect } from "../translate/dialect.ts";
import type { RequestTarget } from "../translate/model/request.ts";
import type { RouteContext } from "./route.ts";

/** Reads a route's JSON body within the configured limits. */
export async function readBody(context: RouteContext): Promise<JsonBody> {
  if (context.turn !== undefined) return await context.turn.readBody();
  const { config, timers } = context.gateway;
  return await readJsonBody(context.request, {
    maxBytes: config.maxBodyBytes,
    timeoutMs: config.bodyTimeoutMs,
  }, timers);
}

/**
 * Handles a generation request in a dialect.
 *
 * @param target what the path states, for a dialect whose bodies do not
 */
export function handleGeneration(
  context: RouteContext,
  caller: Caller,
  dialect: Dialect,
  target?: RequestTarget,
): Promise<HttpReply> {
  return withJsonCall(
    context,
    caller,
    dialect,
    target,
    (call) =>
      generate(context.gateway, {
        ...call,
        dialect,
        ...(target === undefined ? {} : { target }),
        ...(context.turn?.connection === undefined
          ? {}
          : { connection: context.turn.connection }),
      }),
  );
}

/**
 * Handles a call with a JSON body that is paid for. Its concurrency slot is acquired before the
 * body is read.
 *
 * @param target what the path states; absent: the body does
 */
export async function withJsonCall(
  context: RouteContext,
  caller: Caller,
  dialect: CallRequest["dialect"],
  target: RequestTarget | undefined,
  handle: (call: JsonCall) => Promise<HttpReply>,
): Promise<HttpReply> {
  const slot = context.gateway.concurrency.acquire(caller.keyId);
  try {
    const { bytes, json, top } = await readBody(context);
    const { model, stream } = target ?? json;
    // Also where the request turns out to be invalid; a name that no model has would be counted.
    if (
      typeof model === "string" &&
      context.gateway.models.model(model) !== undefined
    ) context.facts.model = model;
    context.facts.stream = stream === true;
    return await handle({
      dialect,
      caller,
      requestId: context.requestId,
      bytes,
      body: json,
      top,
      headers: context.request.headers,
      signal: context.request.signal,
      arrivedMs: context.arrivedMs,
      path: context.path,
      endpoint: context.endpoint,
      facts: context.facts,
      slot,
    });
  } catch (error) {
    slot.release();
    throw error;
  }
}
