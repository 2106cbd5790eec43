/**
 * Mutants for the checks that every listed model's replies have the endpoint's format: replies of
 * one vendor are changed.
 */
import { at } from "../../evidence/json_path.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type { JsonObject } from "@model-gateway/replay/json";
import { withAt } from "../../reference_gateway/change_reply.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** Changes the JSON of whole replies and frames, for upstreams of one dialect. */
function ofVendor(
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
function put(value: string | undefined, ...paths: readonly string[]) {
  return (body: JsonObject): JsonObject => {
    const path = paths.find((one) => (at(body, one) ?? null) !== null);
    return path === undefined ? body : withAt(body, path, value);
  };
}

/** Part of `MODELS_MUTANTS`. */
export const MODEL_FORMAT_MUTANTS: readonly Mutant[] = [
  {
    name: "one-model-without-usage",
    about: "Replies of one vendor lack the count of input tokens",
    hooks: ofVendor(
      "generate_content",
      put(
        undefined,
        "usage.prompt_tokens",
        "message.usage.input_tokens",
        "usage.input_tokens",
      ),
    ),
  },
  {
    name: "one-model-with-its-own-id",
    about: "Replies of one vendor have ids of another form",
    hooks: ofVendor(
      "messages",
      put("gen-17", "message.id", "id"),
    ),
  },
  {
    name: "one-model-with-its-own-stop",
    about: "Replies of one vendor have no stop cause",
    hooks: ofVendor(
      "chat_completions",
      put(
        undefined,
        "stop_reason",
        "delta.stop_reason",
        "choices.0.finish_reason",
      ),
    ),
  },
  {
    name: "one-model-streams-without-end",
    about: "Streams of one vendor lack their last event",
    hooks: {
      frame: (frame, { via }) =>
        via === "messages" &&
          (frame.data === "[DONE]" || frame.event === "message_stop")
          ? []
          : [frame],
    },
  },
];
