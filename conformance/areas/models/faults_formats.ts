/**
 * Mutants for the checks that every listed model's replies have the endpoint's format: replies of
 * one vendor are changed.
 */
import { at } from "../../evidence/json_path.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type { JsonObject } from "@model-gateway/replay/json";
import { withAt } from "../../reference_gateway/change_reply.ts";

/** Changes the JSON of whole replies and frames, for upstreams of one dialect. */
export function ofVendor(
  vendor: NonNullable<Context["via"]>,
  change: (body: JsonObject) => JsonObject | undefined,
): Hooks {
  return {
    reply: (reply, { via }) =>
      reply.status === 200 && via === vendor
        ? { ...reply, body: change(reply.body) ?? reply.body }
        : reply,
    frame: (frame, { via }) => {
      if (via !== vendor || typeof frame.data === "string") return [frame];
      const data = change(frame.data);
      return data === undefined ? [] : [{ ...frame, data }];
    },
  };
}

/** Puts a value at the first of these paths that exists. */
export function put(value: string | undefined, ...paths: readonly string[]) {
  return (body: JsonObject): JsonObject => {
    const path = paths.find((one) => (at(body, one) ?? null) !== null);
    return path === undefined ? body : withAt(body, path, value);
  };
}
