/**
 * Checks a request that is passed through: the fields that the gateway itself reads (model, cap,
 * streaming, attribution), and that the request does not refer to stored state. The upstream
 * checks everything else.
 */
import { z } from "zod";
import { invalidField } from "../../model/error.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import {
  arrayOr,
  isObject,
  type JsonObject,
  textIn,
} from "../../bytes/json.ts";
import { check, list } from "../../model/schema.ts";
import { SEND_ALL } from "./state_errors.ts";

const ROLES = ["user", "assistant", "system", "developer"] as const;
const content = z.union([z.string(), list(z.unknown())]);
const message = z.looseObject({
  type: z.literal("message").nullish(),
  role: z.enum(ROLES, `expected one of ${ROLES.join(", ")}`),
  content,
});
const item = z.union([
  message,
  z.looseObject({
    type: z.string().refine((type) => type !== "message"),
  }),
]);

const passable = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string(), list(item)]),
  stream: z.boolean().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  tools: list(z.unknown()).nullish(),
  include: list(z.unknown()).nullish(),
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
});

/**
 * Checks the body of a request that is passed through.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function checkPassable(body: unknown): void {
  refuseOther(body);
  check(passable, body);
  refuseState(body);
}

/** Types of tools and items that not every upstream of this format has. */
const GROUPS: ReadonlySet<unknown> = new Set(["namespace", "additional_tools"]);
const FREE_TEXT: ReadonlySet<unknown> = new Set([
  "custom",
  "custom_tool_call",
  "custom_tool_call_output",
]);

/** Whether the model has the kinds of tools that a request offers or has called. */
export function isPassable(body: JsonObject, can: Capabilities): boolean {
  if (can.toolGroups && can.customTools) return true;
  return [...arrayOr(body["tools"]), ...arrayOr(body["input"])].every((one) =>
    !isObject(one) ||
    (can.toolGroups ||
        !GROUPS.has(one["type"]) && textIn(one["namespace"]) === undefined) &&
      (can.customTools || !isFreeText(one))
  );
}

function isFreeText(one: JsonObject): boolean {
  return FREE_TEXT.has(one["type"]) ||
    arrayOr(one["tools"]).some((tool) => isObject(tool) && isFreeText(tool));
}

/**
 * A body of another endpoint is refused before its fields are looked at.
 *
 * @throws {ApiError} `invalid_request` where it is one
 */
export function refuseOther(body: unknown): void {
  if (
    !isObject(body) || body["input"] !== undefined ||
    body["messages"] === undefined
  ) return;
  throw invalidField(
    "messages",
    "is not a field of this endpoint; put the conversation in input",
  );
}

function refuse(field: string, problem: string): never {
  throw invalidField(field, problem, "unsupported_parameter");
}

/**
 * Refuses references to stored replies. A gateway that stores replies has resolved them before.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function refuseState(body: unknown): void {
  if (!isObject(body)) return;
  refuseUnsupported(body);
  if (textIn(body["previous_response_id"]) !== undefined) {
    refuse("previous_response_id", `replies are not stored here; ${SEND_ALL}`);
  }
  if (!Array.isArray(body["input"])) return;
  body["input"].forEach((item: unknown, index) => {
    if (!isObject(item) || item["type"] !== "item_reference") return;
    refuse(
      `input[${index}]`,
      `replies are not stored here, so an item_reference refers to nothing; ${SEND_ALL}`,
    );
  });
}

/**
 * Refuses what no stored reply can serve: jobs, conversations and prompts that live on the server.
 *
 * @throws {ApiError} `invalid_request` naming the field
 */
export function refuseUnsupported(body: JsonObject): void {
  if (body["background"] === true) {
    refuse("background", "replies cannot be generated in the background here");
  }
  if (body["conversation"] !== null && body["conversation"] !== undefined) {
    refuse(
      "conversation",
      "conversations are not stored here; continue a reply by previous_response_id, or send the whole conversation in input",
    );
  }
  if (body["prompt"] !== null && body["prompt"] !== undefined) {
    refuse("prompt", "stored prompts are not supported; send instructions");
  }
}
