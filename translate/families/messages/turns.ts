/**
 * Turns and system prompts as the messages and the Converse formats take them: no blank texts, and
 * only reasoning that they signed themselves.
 */
import { exactJson } from "../../bytes/exact_json.ts";
import {
  isObject,
  type JsonObject,
  MAX_LEVELS,
  nestsWithin,
} from "../../bytes/json.ts";
import { keepsOpaque } from "../../model/dropped_fields.ts";
import { invalidField } from "../../model/error.ts";
import type {
  DialectName,
  GenerationRequest,
  Part,
  ResultPart,
  TextPart,
  Turn,
} from "../../model/request.ts";

/** Records the client's path of a dropped field. */
export type Drop = (path: string) => void;

const JSON_HINT =
  "Reply with one JSON object only: no other text, no code fence.";

/** How the conversation begins. */
interface Opening {
  /** At least one. */
  readonly turns: readonly Turn[];
  /** Without blank parts. */
  readonly system: readonly TextPart[];
  /** Asks for JSON at the end of the system prompt: formats have no field for any JSON. */
  readonly hints: readonly string[];
}

/**
 * The system prompt and the turns. The formats require a turn, so a lone system prompt becomes a
 * user turn.
 *
 * @throws {ApiError} `invalid_request` where there is neither
 */
export function opening(
  request: GenerationRequest,
  turns: readonly Turn[],
): Opening {
  const system = request.system.filter(({ text }) => text.trim() !== "");
  const hints = request.format?.type === "json" ? [JSON_HINT] : [];
  if (turns.length > 0) return { turns, system, hints };
  if (system.length === 0) {
    throw invalidField(request.fieldNames.messages, "holds nothing to answer");
  }
  return { turns: [{ role: "user", parts: system }], system: [], hints };
}

/**
 * Turns without the parts that the format cannot express.
 *
 * @throws {ApiError} `invalid_request` with the path of another format's part that must not be
 * dropped
 */
export function expressibleTurns(
  turns: readonly Turn[],
  format: DialectName,
  drop: Drop,
): readonly Turn[] {
  return turns
    .map((turn) => ({
      ...turn,
      parts: turn.parts.filter((part) => isExpressible(part, format, drop)),
    }))
    .filter((turn) => turn.parts.length > 0);
}

/** Whether the format can express a part; others: as in {@linkcode expressibleTurns}. */
export function isExpressible(
  part: Part | ResultPart,
  format: DialectName,
  drop: Drop,
): boolean {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text.trim() !== "";
    case "reasoning":
      return part.signature?.from === format;
    case "opaque":
      return keepsOpaque(part, format, drop);
    case "image":
    case "document":
    case "audio":
    case "tool_call":
    case "tool_result":
      return true;
  }
}

/**
 * The input of a call, which must be an object. Other arguments are wrapped in one, so that they
 * can still be seen.
 */
export function callInput(
  text: string,
): { readonly input: JsonObject; readonly wrapped: boolean } {
  if (text.trim() === "") return { input: {}, wrapped: false };
  const input = exactJson(text);
  return isObject(input) && nestsWithin(input, MAX_LEVELS)
    ? { input, wrapped: false }
    : { input: { __raw_arguments: text }, wrapped: true };
}
