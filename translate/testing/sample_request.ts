/**
 * A small neutral request of no particular dialect, for the dialects' tests only.
 */
import type {
  DialectName,
  DocumentPart,
  GenerationRequest,
  ImagePart,
  Part,
  ReasoningPart,
  Role,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../model/request.ts";
import { settingNames } from "../model/settings.ts";

/**
 * A request with the text "hi", overridden by the given fields. Its field names are in capitals, so
 * that a test sees where they are used.
 */
export function sampleRequest(
  over: Partial<GenerationRequest> = {},
): GenerationRequest {
  return {
    model: "m",
    stream: false,
    system: [],
    turns: [turn("user", { type: "text", text: "hi" })],
    wantUsage: false,
    fieldNames: {
      ...settingNames((setting) =>
        setting.replaceAll(/[A-Z]/g, "_$&").toUpperCase()
      ),
      messages: "MESSAGES",
      image: "IMAGE",
      document: "DOCUMENT",
      audio: "AUDIO",
      arguments: "ARGUMENTS",
      system: "SYSTEM",
      tools: "TOOLS",
      toolChoice: "TOOL_CHOICE",
      parallelTools: "PARALLEL",
      format: "FORMAT",
      reasoning: "REASONING",
      presencePenalty: "PRESENCE",
      frequencyPenalty: "FREQUENCY",
    },
    unknownFields: [],
    essential: [],
    ...over,
  };
}

/** A turn of the given parts. */
export function turn(role: Role, ...parts: Part[]): Turn {
  return { role, parts };
}

export const call = (id: string, name = "f", args = "{}"): ToolCallPart => ({
  type: "tool_call",
  id,
  name,
  arguments: args,
});
export const result = (
  id: string,
  ...content: ToolResultPart["content"]
): ToolResultPart => ({ type: "tool_result", id, content });
/** Reasoning with the signature of a dialect's upstream. */
export const reasoning = (
  text: string,
  from: DialectName,
  value: string,
): ReasoningPart => ({ type: "reasoning", text, signature: { from, value } });
/** An image in base64. */
export const imagePart = (mediaType: string, data: string): ImagePart => ({
  type: "image",
  source: { type: "base64", mediaType, data },
});
/** A document in base64. */
export const documentPart = (
  mediaType: string,
  data: string,
): DocumentPart => ({
  type: "document",
  source: { type: "base64", mediaType, data },
});

/** A copy without the paths of its parts, for tables that put one part into several bodies. */
export function withoutPaths(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner) => key === "at" ? undefined : inner),
  );
}
