/**
 * Encodes a request for an upstream of the messages format. `encode_messages.ts` encodes the turns,
 * `encode_tools.ts` the tools and the output format, `encode_reasoning.ts` the reasoning;
 * `decode_request.ts` is the inverse.
 *
 * @module
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { EncodedRequest } from "../../dialect.ts";
import { invalidField } from "../../model/error.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { withFewMarks, withoutTakenMarks } from "../../model/cache_marks.ts";
import { sha256 } from "../../model/names.ts";
import type { GenerationRequest, Turn } from "../../model/request.ts";
import type { NeutralField } from "../../model/field_names.ts";
import { markField, MOST_MARKS } from "./cache_marks.ts";
import { encodeReasoning } from "./encode_reasoning.ts";
import { type Drop, encodeTools } from "./encode_tools.ts";
import {
  arrangedTurns,
  encodeMessages,
  lacksReasoning,
} from "./encode_messages.ts";

/** Fields that this dialect cannot express and that may be dropped. */
const INEXPRESSIBLE: readonly (NeutralField & keyof GenerationRequest)[] = [
  "seed",
  "logprobs",
];
/** Fields that may be dropped and are not reported when zero, which is every model's default. */
const PENALTIES: readonly (NeutralField & keyof GenerationRequest)[] = [
  "presencePenalty",
  "frequencyPenalty",
];

/** Required for system turns inside the conversation. */
const SYSTEM_TURNS_BETA = "mid-conversation-system-2026-04-07";

const JSON_HINT =
  "Reply with one JSON object only: no other text, no code fence.";

/** The highest temperature that the dialect accepts. */
const MAX_TEMPERATURE = 1;
/** With reasoning on, the dialect refuses a lower one. */
const MIN_TOP_P_REASONING = 0.95;
const MAX_USER_ID = 256;

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@.]+$/;
const PHONE = /^\+?[\d\s().-]{7,}$/;

/**
 * Encodes a request.
 *
 * @throws {ApiError} `invalid_request` with the client's path of a field that can be neither
 * dropped nor expressed
 */
export function encodeRequest(
  asked: GenerationRequest,
  can: Capabilities,
): EncodedRequest {
  const { fieldNames: words } = asked;
  const wholePrompt = can.promptCaching && asked.promptCache !== "off"
    ? asked.promptCache ?? "5m"
    : undefined;
  const { request, leftOut } = withFewMarks(
    asked,
    can,
    wholePrompt === undefined ? MOST_MARKS : MOST_MARKS - 1,
    wholePrompt,
  );
  const essential = request.essential[0];
  if (essential !== undefined) {
    throw invalidField(essential, "is not available with this model");
  }
  if (request.candidates !== undefined && request.candidates > 1) {
    throw invalidField(
      words.candidates,
      "this model gives one answer at a time",
    );
  }
  const losses = new Set<string>(
    leftOut ? request.unmapped : withoutTakenMarks(request, can),
  );
  const drop: Drop = (path) => void losses.add(path);
  if (wholePrompt === undefined && (asked.promptCache ?? "off") !== "off") {
    drop(words.promptCache);
  }
  for (const field of INEXPRESSIBLE) {
    if (request[field] !== undefined) drop(words[field]);
  }
  for (const field of PENALTIES) {
    if ((request[field] ?? 0) !== 0) drop(words[field]);
  }

  const { turns, system } = opening(
    request,
    arrangedTurns(request, can, drop),
  );
  const tools = encodeTools(request, can, drop);
  const ceiling = can.maxOutputTokens ?? Infinity;
  const given = request.maxTokens !== undefined;
  if ((request.maxTokens ?? 0) > ceiling) drop(words.maxTokens);
  const reasoning = encodeReasoning(
    request.reasoning,
    can,
    {
      maxTokens: Math.min(request.maxTokens ?? can.defaultMaxTokens, ceiling),
      given,
      ceiling,
    },
    !tools.forced && !(can.reasoning === "budget" && lacksReasoning(turns)),
  );
  if (reasoning.dropped) drop(words.reasoning);
  if (request.format?.type === "json") drop(words.format);
  const prefill = can.prefill && !reasoning.thinks &&
    tools.format === undefined;
  const messages = encodeMessages(turns, request, can, prefill, drop);
  const outputConfig = {
    ...(reasoning.effort === undefined ? {} : { effort: reasoning.effort }),
    ...(tools.format === undefined ? {} : { format: tools.format }),
  };
  return {
    body: {
      model: request.model,
      max_tokens: reasoning.maxTokens,
      ...(system.length === 0 ? {} : { system }),
      messages,
      ...(tools.tools === undefined ? {} : { tools: tools.tools }),
      ...(tools.toolChoice === undefined
        ? {}
        : { tool_choice: tools.toolChoice }),
      ...(reasoning.thinking === undefined
        ? {}
        : { thinking: reasoning.thinking }),
      ...(Object.keys(outputConfig).length === 0
        ? {}
        : { output_config: outputConfig }),
      ...sampling(request, can, reasoning.thinks, drop),
      ...stops(request, can, drop),
      ...user(request, drop),
      ...(request.serviceTier === undefined ? {} : {
        service_tier: request.serviceTier === "auto" ? "auto" : "standard_only",
      }),
      ...markField(
        wholePrompt === undefined ? {} : { cacheMark: wholePrompt },
      ),
      ...(request.stream ? { stream: true } : {}),
    },
    headers: turns.some((turn) => turn.role === "system")
      ? { "anthropic-beta": SYSTEM_TURNS_BETA }
      : {},
    dropped: [...losses],
    context: {
      toolNames: tools.toolNames,
      ...(tools.formatTool === undefined
        ? {}
        : { formatTool: tools.formatTool }),
    },
  };
}

/**
 * The system prompt and the turns. The dialect requires a turn, so a lone system prompt becomes a
 * user turn.
 */
function opening(
  request: GenerationRequest,
  turns: readonly Turn[],
): { readonly turns: readonly Turn[]; readonly system: readonly JsonObject[] } {
  const system = request.system.filter((part) => part.text.trim() !== "");
  if (turns.length === 0 && system.length === 0) {
    throw invalidField(request.fieldNames.messages, "holds nothing to answer");
  }
  const alone = turns.length === 0;
  const systemTexts = alone ? [] : system;
  const hints = request.format?.type === "json"
    ? [{ type: "text", text: JSON_HINT }]
    : [];
  return {
    turns: alone ? [{ role: "user", parts: system }] : turns,
    system: [
      ...systemTexts.map((part) => ({
        type: "text",
        text: part.text,
        ...markField(part),
      })),
      ...hints,
    ],
  };
}

function sampling(
  request: GenerationRequest,
  can: Capabilities,
  thinks: boolean,
  drop: Drop,
): JsonObject {
  const { fieldNames: words, temperature, topP, topK } = request;
  const out: { temperature?: number; top_p?: number; top_k?: number } = {};
  if (temperature !== undefined) {
    const most = Math.min(can.maxTemperature, MAX_TEMPERATURE);
    if (can.sampling === "none" || (thinks && temperature !== 1)) {
      drop(words.temperature);
    } else {
      if (temperature > most) drop(words.temperature);
      out.temperature = Math.min(temperature, most);
    }
  }
  if (topP !== undefined) {
    const second = can.sampling === "one" && out.temperature !== undefined;
    if (
      can.sampling === "none" || second ||
      (thinks && topP < MIN_TOP_P_REASONING)
    ) drop(words.topP);
    else out.top_p = topP;
  }
  if (topK !== undefined) {
    if (can.sampling === "none" || !can.topK || thinks) drop(words.topK);
    else out.top_k = topK;
  }
  return out;
}

/** Drops blank stop strings, which the dialect refuses, and those beyond the model's limit. */
function stops(
  request: GenerationRequest,
  can: Capabilities,
  drop: Drop,
): JsonObject {
  const all = request.stop ?? [];
  const kept = all.filter((stop) => stop.trim() !== "").slice(0, can.maxStops);
  if (kept.length < all.length) drop(request.fieldNames.stop);
  return kept.length === 0 ? {} : { stop_sequences: kept };
}

/**
 * Drops e-mail addresses and phone numbers, which the dialect forbids here, and hashes long values.
 */
function user(request: GenerationRequest, drop: Drop): JsonObject {
  const { user } = request;
  if (user === undefined) return {};
  if (EMAIL.test(user) || PHONE.test(user)) {
    drop(request.fieldNames.user);
    return {};
  }
  return {
    metadata: { user_id: user.length > MAX_USER_ID ? sha256(user) : user },
  };
}
