/**
 * Shared by the generation endpoints: reads the body and passes it to the pipeline in the
 * endpoint's dialect.
 *
 * @module
 */
import type { Caller } from "../gateway/accounts/accounts.ts";
import type { HttpReply } from "../gateway/http/http_reply.ts";
import { type JsonBody, readJsonBody } from "../gateway/http/request_body.ts";
import { generate } from "../gateway/pipeline/generate.ts";
import type { Dialect } from "../translate/dialect.ts";
import type { RouteContext } from "./route.ts";

/** Reads a route's JSON body within the configured limits. */
export function readBody(context: RouteContext): Promise<JsonBody> {
  const { config, timers } = context.gateway;
  return readJsonBody(context.request, {
    maxBytes: config.maxBodyBytes,
    timeoutMs: config.bodyTimeoutMs,
  }, timers);
}

/**
 * Handles a generation request in a dialect. Its concurrency slot is acquired before the body is
 * read.
 */
export async function handleGeneration(
  context: RouteContext,
  caller: Caller,
  dialect: Dialect,
): Promise<HttpReply> {
  const slot = context.gateway.concurrency.acquire(caller.keyId);
  try {
    const { bytes, json, top } = await readBody(context);
    const { model, stream } = json;
    // Known also where the request turns out to be invalid.
    if (typeof model === "string") context.facts.model = model;
    context.facts.stream = stream === true;
    return await generate(context.gateway, {
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
      facts: context.facts,
      slot,
    });
  } catch (error) {
    slot.release();
    throw error;
  }
}
