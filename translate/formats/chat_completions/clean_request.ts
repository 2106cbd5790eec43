/**
 * Removes from a passed-through request the signatures of other formats that the gateway added to
 * earlier replies, the reasoning that they belong to, and the fields that the model refuses.
 * Everything else stays as the client wrote it.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { CleanRequest } from "../../dialect.ts";
import {
  isObject,
  type JsonDraft,
  type JsonObject,
  objectOr,
} from "../../bytes/json.ts";
import { hostSettings, withCallIds, withReasoningTags } from "./host_forms.ts";
import { allDetails, isOwnDetail, readCallSignature } from "./signatures.ts";

/** The path reported as dropped when reasoning is removed that has no signature by the gateway. */
const REASONING = "messages[].reasoning_content";

/**
 * The messages without foreign signatures, and without reasoning if the model refuses it; and the
 * fields that the host takes in another form. Undefined if nothing changes, so that the client's
 * bytes can be sent unchanged.
 */
export function cleanRequest(
  body: JsonObject,
  can: Capabilities,
): CleanRequest | undefined {
  const dropped = new Set<string>();
  const settings = hostSettings(body, can, dropped);
  const messages = body["messages"];
  let changed = false;
  const cleaned = !Array.isArray(messages)
    ? []
    : messages.map((message: unknown) => {
      const clean = isObject(message)
        ? cleanMessage(message, can, dropped)
        : undefined;
      const tagged = can.reasoningTags && isObject(message) &&
          message["role"] === "assistant"
        ? withReasoningTags(clean ?? message)
        : undefined;
      const named = withCallIds(tagged ?? clean ?? message, can);
      if (named === message) return message;
      changed = true;
      return named;
    });
  return changed || Object.keys(settings).length > 0
    ? {
      fields: { ...settings, ...(changed ? { messages: cleaned } : {}) },
      removed: [...dropped],
    }
    : undefined;
}

function cleanMessage(
  message: JsonObject,
  can: Capabilities,
  dropped: Set<string>,
): JsonObject | undefined {
  if (message["role"] !== "assistant") return undefined;
  const details = message["reasoning_details"];
  const calls = message["tool_calls"];
  const withDetails = Array.isArray(details) && details.some(isOwnDetail);
  const withCalls = Array.isArray(calls) && calls.some(isSigned);
  const withAll = allDetails(message) !== undefined;
  const marked = withDetails || withCalls || withAll;
  // Reasoning beside a foreign signature comes from the same foreign model.
  const withThoughts = message["reasoning_content"] !== undefined &&
    (!can.takesReasoning || (marked && !can.replayReasoning));
  if (!marked && !withThoughts) return undefined;
  if (withThoughts && !marked) dropped.add(REASONING);
  const copy: JsonDraft = { ...message };
  if (withThoughts) delete copy["reasoning_content"];
  if (withDetails) {
    const others = details.filter((entry: unknown) => !isOwnDetail(entry));
    if (others.length > 0) copy["reasoning_details"] = others;
    else delete copy["reasoning_details"];
  }
  if (withCalls) copy["tool_calls"] = calls.map(withoutSignature);
  if (withAll) {
    const { gateway: _, ...others } = objectOr(message["extra_content"]);
    if (Object.keys(others).length > 0) copy["extra_content"] = others;
    else delete copy["extra_content"];
  }
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
