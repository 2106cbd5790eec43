/**
 * Validates a request that passes through: only what the gateway itself reads (model, cap,
 * streaming, attribution) and what its own specification bounds. The upstream validates the rest.
 */
import { z } from "zod";
import { isObject, type JsonObject, objectOr } from "../../bytes/json.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import { invalidField } from "../../model/error.ts";
import { check, list } from "../../model/schema.ts";

const content = z.union([z.string(), list(z.unknown())]);

const message = z.discriminatedUnion("role", [
  z.looseObject({ role: z.enum(["user", "assistant"]), content }),
  z.looseObject({ role: z.literal("system"), content: content.optional() }),
], {
  error: (issue) =>
    issue.code === "invalid_union"
      ? "expected user, assistant or system"
      : undefined,
});

const commonFields = {
  model: z.string().min(1),
  messages: list(message).min(1),
  system: content.nullish(),
  tools: list(z.unknown()).nullish(),
};

const countable = z.looseObject(commonFields);

const passable = z.looseObject({
  ...commonFields,
  max_tokens: z.int().min(0),
  stream: z.boolean().nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop_sequences: list(z.string()).nullish(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
});

/**
 * Validates a body of `POST /v1/messages`.
 *
 * @throws {ApiError} `invalid_request` with the field's path
 */
export function checkPassable(body: unknown): void {
  const { temperature, top_p } = check(passable, body);
  if (typeof temperature === "number" && typeof top_p === "number") {
    throw invalidField("top_p", "cannot be used together with temperature");
  }
}

/**
 * Validates a body of `POST /v1/messages/count_tokens`.
 *
 * @throws {ApiError} `invalid_request` with the field's path
 */
export function checkCountable(body: unknown): void {
  check(countable, body);
}

/**
 * Whether an upstream has the conversation before this request: no other upstream can answer it.
 */
export function continuesThread(body: unknown): boolean {
  return isObject(body) && objectOr(body["thread"])["type"] === "continue";
}

/** Whether the model has all that the request refers to. */
export function isPassable(
  body: JsonObject,
  { threads }: Capabilities,
): boolean {
  return threads || !continuesThread(body);
}
