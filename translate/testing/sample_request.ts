/**
 * A small neutral request of no particular dialect, for the dialects' tests only.
 */
import type { GenerationRequest, Part, Role, Turn } from "../model/request.ts";
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

/** A copy without the paths of its parts, for tables that put one part into several bodies. */
export function withoutPaths(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner) => key === "at" ? undefined : inner),
  );
}
