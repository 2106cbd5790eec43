/**
 * Endpoints of the configuration file: `routes` there.
 */
import type { Caller } from "../gateway/accounts/accounts.ts";
import type { HttpReply } from "../gateway/http/http_reply.ts";
import {
  type PassedBody,
  readPassedBody,
} from "../gateway/http/passed_body.ts";
import { maySendEarly, passOn } from "../gateway/pipeline/pass_on.ts";
import type { PassedRoute } from "../gateway/upstream/catalogue/route_settings.ts";
import { chatCompletions } from "../translate/formats/chat_completions/mod.ts";
import type { KeyRoute, RouteContext } from "./route.ts";

/** The route of a configured endpoint; its errors have the form of the chat completion format. */
export function passedRoute(passed: PassedRoute): KeyRoute {
  return {
    access: "key",
    method: "POST",
    path: passed.endpoint,
    dialect: chatCompletions,
    isPaid: true,
    handle: (context, caller) => handlePassed(context, caller, passed),
  };
}

async function handlePassed(
  context: RouteContext,
  caller: Caller,
  route: PassedRoute,
): Promise<HttpReply> {
  const { gateway, request } = context;
  const { config, timers } = gateway;
  const slot = gateway.concurrency.acquire(caller.keyId);
  let body: PassedBody | undefined;
  try {
    body = await readPassedBody(
      request,
      {
        maxBytes: route.maxBodyBytes ?? config.maxBodyBytes,
        timeoutMs: config.bodyTimeoutMs,
      },
      timers,
      (model) => maySendEarly(gateway, route, model),
    );
    return await passOn(
      gateway,
      {
        dialect: chatCompletions,
        caller,
        requestId: context.requestId,
        headers: request.headers,
        signal: request.signal,
        arrivedMs: context.arrivedMs,
        path: context.path,
        endpoint: context.endpoint,
        facts: context.facts,
        slot,
      },
      route,
      body,
    );
  } catch (error) {
    slot.release();
    // Its rest is discarded by the router, which needs it unlocked.
    await body?.close();
    throw error;
  }
}
