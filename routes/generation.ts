/**
 * What both generation endpoints do with a request: read the body, hand it to the pipeline in their dialect.
 *
 * @module
 */
import type { Caller } from "../gateway/accounts/accounts.ts";
import type { Answer } from "../gateway/answer.ts";
import { type JsonBody, readJsonBody } from "../gateway/body.ts";
import { generate } from "../gateway/generate.ts";
import type { Dialect } from "../translate/dialect.ts";
import type { RouteContext } from "./route.ts";

/** Reads a route's JSON body within the configured limits. */
export function bodyOf(context: RouteContext): Promise<JsonBody> {
  const { config, timers } = context.gateway;
  return readJsonBody(context.request, {
    maxBytes: config.maxBodyBytes,
    timeoutMs: config.bodyTimeoutMs,
  }, timers);
}

/** Answers a generation request in a dialect, in a place of its own from before the body is read. */
export async function answerGeneration(
  context: RouteContext,
  caller: Caller,
  dialect: Dialect,
): Promise<Answer> {
  const slot = context.gateway.slots.take(caller.keyId);
  try {
    const { bytes, json, top } = await bodyOf(context);
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
      slot,
    });
  } catch (error) {
    slot.release();
    throw error;
  }
}
