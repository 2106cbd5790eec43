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
  allDetails,
  isOwnDetail,
  readCallSignature,
  UNSIGNED_CALL,
  writeCallSignature,
} from "./signatures.ts";

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
      withProof(call, index === 0, can, dropped)
    );
    if (proven.some((call, index) => call !== calls[index])) {
      put("tool_calls", proven);
    }
  }
  if (all !== undefined) {
    const { gateway: _, ...others } = objectOr(message["extra_content"]);
    put("extra_content", Object.keys(others).length > 0 ? others : undefined);
  }
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

/** Whether the gateway tagged the signature of a call. */
function isMarked(call: unknown): boolean {
  const google = objectOr(objectOr(objectOr(call)["extra_content"])["google"]);
  return isTagged(google["thought_signature"]);
}

/** A call with the signature that its host takes. */
function withProof(
  call: unknown,
  isFirst: boolean,
  { proofFields, signedCalls }: Capabilities,
  dropped: Set<string>,
): unknown {
  if (!isObject(call)) return call;
  const extra = objectOr(call["extra_content"]);
  const signature = readCallSignature(extra);
  if (signature === undefined && !isMarked(call)) {
    return isFirst && signedCalls
      ? { ...call, extra_content: { ...extra, ...UNSIGNED_CALL } }
      : call;
  }
  if (proofFields === "google" && signature !== undefined) {
    const bare = writeCallSignature(signature, "bare");
    return isMarked(call) && bare !== undefined
      ? { ...call, extra_content: { ...extra, ...bare } }
      : call;
  }
  if (!isMarked(call)) {
    if (proofFields !== "none") return call;
    dropped.add("messages[].tool_calls[].extra_content");
  }
  return withoutSignature(call);
}

function withoutSignature(call: JsonObject): JsonObject {
  const { extra_content: extra, ...copy } = call;
  const { google, ...others } = objectOr(extra);
  const { thought_signature: _, ...rest } = objectOr(google);
  const left = Object.keys(rest).length > 0
    ? { ...others, google: rest }
    : others;
  return Object.keys(left).length > 0 ? { ...copy, extra_content: left } : copy;
}
