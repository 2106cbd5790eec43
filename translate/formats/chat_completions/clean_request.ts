/**
 * Makes the conversation of a passed-through request fit for its host: without the signatures of
 * other formats that the gateway added to earlier replies and the reasoning that they belong to,
 * without the fields that the model refuses, with the proofs that it wants. Everything else stays
 * as the client wrote it.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { CleanRequest } from "../../dialect.ts";
import {
  isObject,
  type JsonDraft,
  type JsonObject,
  objectOr,
  textIn,
} from "../../bytes/json.ts";
import { isTagged } from "../../turns/signature_tags.ts";
import {
  hostSettings,
  withCallIds,
  withHostTurns,
  withReasoningTags,
} from "./host_forms.ts";
import {
  carriedSignature,
  carriedValue,
  extraContent,
  withoutCarried,
} from "../../turns/carried_signature.ts";
import { allDetails, isOwnDetail, UNSIGNED_CALL } from "./signatures.ts";

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
  const cleaned = Array.isArray(messages)
    ? cleanMessages(body, messages, can, dropped)
    : messages;
  const changed = cleaned !== messages;
  return changed || Object.keys(settings).length > 0
    ? {
      fields: { ...settings, ...(changed ? { messages: cleaned } : {}) },
      removed: [...dropped],
    }
    : undefined;
}

/** The same list where nothing changes. */
function cleanMessages(
  body: JsonObject,
  messages: readonly unknown[],
  can: Capabilities,
  dropped: Set<string>,
): readonly unknown[] {
  const cleaned = messages.map((message) => {
    const clean = isObject(message)
      ? cleanMessage(message, can, dropped)
      : undefined;
    const tagged = can.reasoningTags && isObject(message) &&
        message["role"] === "assistant"
      ? withReasoningTags(clean ?? message)
      : undefined;
    return withCallIds(tagged ?? clean ?? message, can);
  });
  const isSame = cleaned.every((message, n) => message === messages[n]);
  return withHostTurns(body, isSame ? messages : cleaned, can, dropped);
}

function cleanMessage(
  message: JsonObject,
  can: Capabilities,
  dropped: Set<string>,
): JsonObject | undefined {
  if (message["role"] !== "assistant") return undefined;
  const details = message["reasoning_details"];
  const calls = message["tool_calls"];
  const all = allDetails(message);
  const copy: JsonDraft = { ...message };
  let changed = false;
  let marked = all !== undefined;
  const put = (key: string, value: unknown): void => {
    if (value === copy[key]) return;
    changed = true;
    if (value === undefined) delete copy[key];
    else copy[key] = value;
  };
  const given = can.proofFields === "details" ? all ?? details : details;
  if (Array.isArray(given)) {
    marked ||= given.some(isOwnDetail);
    const kept = keptDetails(given, can);
    if (can.proofFields === "none" && !given.every(isOwnDetail)) {
      dropped.add("messages[].reasoning_details");
    }
    if (marked || kept.length < given.length) {
      put("reasoning_details", kept.length > 0 ? kept : undefined);
    }
  }
  if (Array.isArray(calls)) {
    marked ||= calls.some(isMarked);
    const proven = calls.map((call: unknown, index) =>
      withProof(
        index === 0 && can.signedCalls ? signedCall(call) : call,
        "messages[].tool_calls[].extra_content",
        can,
        dropped,
      )
    );
    if (proven.some((call, index) => call !== calls[index])) {
      put("tool_calls", proven);
    }
  }
  marked ||= isMarked(message);
  const { extra_content: extra } = objectOr(
    withProof(message, "messages[].extra_content", can, dropped),
  );
  const { gateway: _, ...others } = objectOr(extra);
  put(
    "extra_content",
    all === undefined
      ? extra
      : Object.keys(others).length > 0
      ? others
      : undefined,
  );
  // Reasoning beside a foreign signature comes from the same foreign model.
  const withThoughts = message["reasoning_content"] !== undefined &&
    (!can.takesReasoning || (marked && !can.replayReasoning));
  if (withThoughts) put("reasoning_content", undefined);
  if (withThoughts && !marked) dropped.add(REASONING);
  const wantsThoughts = can.reasoningBesideCalls &&
    textIn(copy["reasoning_content"]) === undefined;
  if (wantsThoughts) {
    put("reasoning_content", textIn(message["reasoning"]) ?? "");
  }
  return changed ? copy : undefined;
}

/** The entries that the host takes. Those of the gateway lose their position. */
function keptDetails(
  given: readonly unknown[],
  { proofFields }: Capabilities,
): readonly unknown[] {
  if (proofFields === "none") return [];
  return given.flatMap((entry) => {
    if (!isObject(entry) || !isOwnDetail(entry)) return [entry];
    const { position: _, ...bare } = entry;
    return proofFields === "details" && !isTagged(entry["data"]) ? [bare] : [];
  });
}

/** Whether the gateway tagged the signature of a call or a message. */
function isMarked(carrier: unknown): boolean {
  return isTagged(carriedValue(carrier));
}

/** A call with a signature, where need be the word for calls of other models. */
function signedCall(call: unknown): unknown {
  return !isObject(call) || carriedSignature(call) !== undefined ? call : {
    ...withoutCarried(call),
    extra_content: { ...objectOr(call["extra_content"]), ...UNSIGNED_CALL },
  };
}

/**
 * A call or a message with the signature that its host takes. What else it had, under `path`, is
 * named.
 */
function withProof(
  carrier: unknown,
  path: string,
  { proofFields }: Capabilities,
  dropped: Set<string>,
): unknown {
  if (!isObject(carrier) || carriedValue(carrier) === undefined) {
    return carrier;
  }
  const bare = extraContent(carriedSignature(carrier), "bare");
  if (proofFields === "google" && bare !== undefined) {
    return isMarked(carrier)
      ? {
        ...carrier,
        extra_content: { ...objectOr(carrier["extra_content"]), ...bare },
      }
      : carrier;
  }
  if (!isMarked(carrier)) {
    if (proofFields !== "none") return carrier;
    dropped.add(path);
  }
  return withoutCarried(carrier);
}
