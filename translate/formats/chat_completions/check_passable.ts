/**
 * Checks a request that is passed through: the fields that the gateway itself reads (model, caps,
 * streaming, attribution) and those that its specification bounds. The upstream checks everything
 * else.
 */
import { z } from "zod";
import { invalidField } from "../../model/error.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
} from "../../bytes/json.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import { check, list } from "../../model/schema.ts";
import { ROLES } from "./wire.ts";

/**
 * The content of an assistant message that only calls tools is absent or null. Null in other
 * messages is left to the upstream.
 */
const content = z.union([z.string(), list(z.unknown()), z.null()]);

const message = z.discriminatedUnion("role", [
  z.looseObject({
    role: z.enum(["system", "developer", "user", "tool", "function"]),
    content,
  }),
  z.looseObject({ role: z.literal("assistant"), content: content.optional() }),
], {
  error: (issue) =>
    issue.code === "invalid_union"
      ? `expected one of ${ROLES.join(", ")}`
      : undefined,
});

const cap = z.int().min(1).nullish();

const passable = z.looseObject({
  model: z.string().min(1),
  messages: list(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() })
    .nullish(),
  max_tokens: cap,
  max_completion_tokens: cap,
  temperature: z.number().min(0).max(2).nullish(),
  n: z.int().min(1).max(128).nullish(),
  tools: list(z.unknown()).nullish(),
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
});

/**
 * Checks the body of a request that is passed through.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function checkPassable(body: unknown): void {
  refuseSystem(body);
  check(passable, body);
}

/** Whether the request can pass through: its host takes its schema beside its tools. */
export function isPassable(body: JsonObject, can: Capabilities): boolean {
  return can.formatBesideTools || arrayOr(body["tools"]).length === 0 ||
    objectOr(body["response_format"])["type"] !== "json_schema";
}

/**
 * Refuses `system`, a field of the messages format. Ignoring it would lose the system prompt.
 *
 * @throws {ApiError} `invalid_request` if the body has the field
 */
export function refuseSystem(body: unknown): void {
  if (!isObject(body) || body["system"] === undefined) return;
  throw invalidField(
    "system",
    'is not a field of this endpoint; put the system prompt in the first entry of messages, with role "system"',
  );
}
