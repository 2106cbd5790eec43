/**
 * Takes out of a passed-through request what only this gateway's replies put there: signatures of other dialects, which the
 * upstream cannot know, and other models' thoughts, which it may refuse as an unknown field. Everything else stays as the caller wrote it.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import { isObject, type JsonDraft, type JsonObject } from "../json.ts";
import { isMessagesDetail, readCallSignature } from "./carriers.ts";

/**
 * A copy without carriers, and without thoughts where the model wants none back; undefined where there are none, so that the
 * caller's bytes can go as they are.
 */
export function cleanRequest(
  body: JsonObject,
  can: Capabilities,
): JsonObject | undefined {
  const messages = body["messages"];
  if (!Array.isArray(messages)) return undefined;
  let changed = false;
  const cleaned = messages.map((message: unknown) => {
    const clean = isObject(message) ? cleanMessage(message, can) : undefined;
    if (clean === undefined) return message;
    changed = true;
    return clean;
  });
  return changed ? { ...body, messages: cleaned } : undefined;
}

function cleanMessage(
  message: JsonObject,
  can: Capabilities,
): JsonObject | undefined {
  if (message["role"] !== "assistant") return undefined;
  const details = message["reasoning_details"];
  const calls = message["tool_calls"];
  const withDetails = Array.isArray(details) && details.some(isMessagesDetail);
  const withCalls = Array.isArray(calls) && calls.some(isSigned);
  const withThoughts = message["reasoning_content"] !== undefined &&
    !can.replayReasoning;
  if (!withDetails && !withCalls && !withThoughts) return undefined;
  const copy: JsonDraft = { ...message };
  if (withThoughts) delete copy["reasoning_content"];
  if (withDetails) {
    const others = details.filter((entry: unknown) => !isMessagesDetail(entry));
    if (others.length > 0) copy["reasoning_details"] = others;
    else delete copy["reasoning_details"];
  }
  if (withCalls) copy["tool_calls"] = calls.map(withoutSignature);
  return copy;
}

function isSigned(call: unknown): call is JsonObject {
  return isObject(call) &&
    readCallSignature(call["extra_content"]) !== undefined;
}

function withoutSignature(call: unknown): unknown {
  if (!isSigned(call)) return call;
  const { extra_content: extra, ...copy } = call;
  const { google, ...others } = isObject(extra) ? extra : {};
  const { thought_signature: _, ...rest } = isObject(google) ? google : {};
  const left = Object.keys(rest).length > 0
    ? { ...others, google: rest }
    : others;
  return Object.keys(left).length > 0 ? { ...copy, extra_content: left } : copy;
}
