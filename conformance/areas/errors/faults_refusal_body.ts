/** Mutants for the checks of the area `errors` about the bodies of refusals. */
import type { Hooks, JsonReply } from "../../reference_gateway/hooks.ts";
import type { Json, JsonObject } from "@model-gateway/replay/json";
import { withAt } from "../../reference_gateway/change_reply.ts";

/** Changes refusals; only those of one endpoint when it is given. */
export function refusal(
  change: (reply: JsonReply) => JsonReply,
  endpoint?: "messages" | "chat",
): Hooks {
  return {
    reply: (reply, x) =>
      reply.status >= 400 && (endpoint ?? x.endpoint) === x.endpoint
        ? change(reply)
        : reply,
  };
}

/** Changes one value in the body of refusals. */
export function withValue(
  path: string,
  value: Json | undefined | ((reply: JsonReply) => Json),
  endpoint?: "messages" | "chat",
): Hooks {
  return refusal((reply) => ({
    ...reply,
    body: withAt(
      reply.body,
      path,
      typeof value === "function" ? value(reply) : value,
    ),
  }), endpoint);
}

export function withType(type: string): Hooks {
  return refusal((reply) => ({
    ...reply,
    headers: { ...reply.headers, "content-type": type },
  }));
}

export function without(body: JsonObject, name: string): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([key]) => key !== name),
  );
}
