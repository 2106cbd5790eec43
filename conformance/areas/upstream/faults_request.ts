/**
 * Mutants for the checks of the area `upstream`: gateways whose request upstream differs from the
 * client's.
 */
import type { Context, Hooks, OutCall } from "../../reference_gateway/hooks.ts";
import type { ModelRequest, TurnPart } from "../../reference_gateway/part.ts";
import type { JsonObject } from "@model-gateway/replay/json";
import { mutant, parts } from "./faults_conversation.ts";

export function pictures(
  change: (part: TurnPart) => readonly TurnPart[],
): Hooks {
  const hook = parts((part) =>
    part.type.startsWith("image") ? change(part) : [part]
  );
  return hook === undefined ? {} : { modelRequest: hook };
}

export function call(change: (call: OutCall, x: Context) => OutCall): Hooks {
  return { upstream: change };
}

export function withBody(
  change: (body: JsonObject, x: Context) => JsonObject,
): Hooks {
  return call((out, x) => ({ ...out, body: change(out.body, x) }));
}

export function otherModel(request: ModelRequest): ModelRequest {
  return request.model === "vendora-opus-4-8"
    ? { ...request, model: "vendora-haiku-4-5" }
    : request;
}

/** The chat endpoint serves another model of the vendor. */
export const otherModelOnChat: Hooks = mutant((request, { endpoint }) =>
  endpoint === "chat" ? otherModel(request) : request
);

/** The output limit is lost on the chat endpoint. */
export const limitLostOnChat: Hooks = mutant((request, { endpoint }) =>
  endpoint === "chat" ? { ...request, maxTokens: undefined } : request
);
