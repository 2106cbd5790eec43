/**
 * Writing a request for an upstream of the messages format. The turns are `encode_turns.ts`, tools and form `encode_tools.ts`,
 * reasoning `encode_reasoning.ts`; reading a caller's request is `request.ts`.
 *
 * @module
 */
import type { Capabilities } from "../capabilities.ts";
import type { EncodedRequest } from "../dialect.ts";
import { invalidField } from "../error.ts";
import type { JsonObject } from "../json.ts";
import { sha256 } from "../names.ts";
import type { GenerationRequest, NeutralField, Turn } from "../request.ts";
import { encodeReasoning } from "./encode_reasoning.ts";
import { encodeTools, type Lose } from "./encode_tools.ts";
import { arrangedTurns, encodeTurns, lacksReasoning } from "./encode_turns.ts";

/** Fields that this dialect has no word for and whose loss changes nothing that was said. */
const UNSAYABLE: readonly (NeutralField & keyof GenerationRequest)[] = [
  "seed",
  "logprobs",
];
/** Like these, but zero is what every model does anyway. */
const PENALTIES: readonly (NeutralField & keyof GenerationRequest)[] = [
  "presencePenalty",
  "frequencyPenalty",
];

/** Needed for system turns inside the conversation. */
const SYSTEM_TURNS_BETA = "mid-conversation-system-2026-04-07";

const JSON_HINT = "Reply with one JSON object only, without any other text.";

/** The highest temperature that the dialect knows. */
const MAX_TEMPERATURE = 1;
/** With reasoning on, a lower one is refused. */
const MIN_TOP_P_REASONING = 0.95;
const MAX_USER_ID = 256;

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@.]+$/;
const PHONE = /^\+?[\d\s().-]{7,}$/;

/**
 * Writes a request.
 *
 * @throws {ApiError} `invalid_request` naming, in the caller's words, a field that cannot be left out and cannot be said
 */
export function encodeRequest(
  request: GenerationRequest,
  can: Capabilities,
): EncodedRequest {
  const { words } = request;
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
  const losses = new Set<string>(request.unmapped);
  const lose: Lose = (path) => void losses.add(path);
  for (const field of UNSAYABLE) {
    if (request[field] !== undefined) lose(words[field]);
  }
  for (const field of PENALTIES) {
    if ((request[field] ?? 0) !== 0) lose(words[field]);
  }

  const { turns, system } = opening(
    request,
    arrangedTurns(request, can, lose),
  );
  const tools = encodeTools(request, can, lose);
  const ceiling = can.maxOutputTokens ?? Infinity;
  const given = request.maxTokens !== undefined;
  if ((request.maxTokens ?? 0) > ceiling) lose(words.maxTokens);
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
  if (reasoning.lost) lose(words.reasoning);
  if (request.format?.type === "json") lose(words.format);
  const prefill = can.prefill && !reasoning.thinks &&
    tools.format === undefined;
  const messages = encodeTurns(turns, request, can, prefill, lose);
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
      ...sampling(request, can, reasoning.thinks, lose),
      ...stops(request, can, lose),
      ...user(request, lose),
      ...(request.serviceTier === undefined ? {} : {
        service_tier: request.serviceTier === "auto" ? "auto" : "standard_only",
      }),
      ...(request.stream ? { stream: true } : {}),
    },
    headers: turns.some((turn) => turn.role === "system")
      ? { "anthropic-beta": SYSTEM_TURNS_BETA }
      : {},
    losses: [...losses],
    context: {
      toolNames: tools.toolNames,
      ...(tools.formatTool === undefined
        ? {}
        : { formatTool: tools.formatTool }),
    },
  };
}

/** The system prompt and the turns. The dialect demands a turn, so a lone system prompt is said by the user. */
function opening(
  request: GenerationRequest,
  turns: readonly Turn[],
): { readonly turns: readonly Turn[]; readonly system: readonly JsonObject[] } {
  const system = request.system.filter((part) => part.text.trim() !== "");
  if (turns.length === 0 && system.length === 0) {
    throw invalidField(request.words.messages, "holds nothing to answer");
  }
  const alone = turns.length === 0;
  const said = alone ? [] : system;
  const hints = request.format?.type === "json"
    ? [{ type: "text", text: JSON_HINT }]
    : [];
  return {
    turns: alone ? [{ role: "user", parts: system }] : turns,
    system: [
      ...said.map((part) => ({ type: "text", text: part.text })),
      ...hints,
    ],
  };
}

function sampling(
  request: GenerationRequest,
  can: Capabilities,
  thinks: boolean,
  lose: Lose,
): JsonObject {
  const { words, temperature, topP, topK } = request;
  const out: { temperature?: number; top_p?: number; top_k?: number } = {};
  if (temperature !== undefined) {
    const most = Math.min(can.maxTemperature, MAX_TEMPERATURE);
    if (can.sampling === "none" || (thinks && temperature !== 1)) {
      lose(words.temperature);
    } else {
      if (temperature > most) lose(words.temperature);
      out.temperature = Math.min(temperature, most);
    }
  }
  if (topP !== undefined) {
    const second = can.sampling === "one" && out.temperature !== undefined;
    if (
      can.sampling === "none" || second ||
      (thinks && topP < MIN_TOP_P_REASONING)
    ) lose(words.topP);
    else out.top_p = topP;
  }
  if (topK !== undefined) {
    if (can.sampling === "none" || !can.topK || thinks) lose(words.topK);
    else out.top_k = topK;
  }
  return out;
}

/** Stop strings of blanks are refused by the dialect. */
function stops(
  request: GenerationRequest,
  can: Capabilities,
  lose: Lose,
): JsonObject {
  const all = request.stop ?? [];
  const kept = all.filter((stop) => stop.trim() !== "").slice(0, can.maxStops);
  if (kept.length < all.length) lose(request.words.stop);
  return kept.length === 0 ? {} : { stop_sequences: kept };
}

/** The dialect forbids e-mail addresses and phone numbers here, and longer values. */
function user(request: GenerationRequest, lose: Lose): JsonObject {
  const { user } = request;
  if (user === undefined) return {};
  if (EMAIL.test(user) || PHONE.test(user)) {
    lose(request.words.user);
    return {};
  }
  return {
    metadata: { user_id: user.length > MAX_USER_ID ? sha256(user) : user },
  };
}
