/** The golden gateway's upstream side in the generate-content dialect. */
import { at, listAt, numberAt, textAt } from "../evidence/json_path.ts";
import type { Json, JsonObject } from "../replay/json.ts";
import type { StopCause } from "../replay/said.ts";
import type { Ask, Part, TurnPart } from "./part.ts";

const STOPS: Readonly<Record<string, StopCause>> = {
  STOP: "end",
  MAX_TOKENS: "max_tokens",
  SAFETY: "refusal",
  RECITATION: "refusal",
  BLOCKLIST: "refusal",
  PROHIBITED_CONTENT: "refusal",
  SPII: "refusal",
};

/** The body of a call. */
export function geminiBody(ask: Ask): JsonObject {
  const names = new Map(
    ask.turns.flatMap(({ parts }) =>
      parts.flatMap((part) =>
        part.type === "call" ? [[part.id, part.name] as const] : []
      )
    ),
  );
  return {
    contents: ask.turns.map(({ role, parts }) => ({
      role: role === "assistant" ? "model" : "user",
      parts: parts.flatMap((part) => partBody(part, names)),
    })),
    ...(ask.system === ""
      ? {}
      : { systemInstruction: { parts: [{ text: ask.system }] } }),
    generationConfig: {
      maxOutputTokens: ask.maxTokens,
      temperature: ask.temperature,
      topP: ask.topP,
      stopSequences: ask.stops.length === 0 ? undefined : ask.stops,
    },
    ...(ask.tools.length === 0 ? {} : {
      tools: [{
        functionDeclarations: ask.tools.map(({ name, about, schema }) => ({
          name,
          description: about,
          parametersJsonSchema: schema,
        })),
      }],
    }),
    ...(ask.choice === undefined
      ? {}
      : { toolConfig: { functionCallingConfig: choiceBody(ask.choice) } }),
  };
}

function choiceBody(choice: string): JsonObject {
  if (choice.startsWith("tool:")) {
    return { mode: "ANY", allowedFunctionNames: [choice.slice(5)] };
  }
  return { mode: choice.toUpperCase() };
}

function partBody(
  part: TurnPart,
  names: ReadonlyMap<string, string>,
): JsonObject[] {
  switch (part.type) {
    case "text":
      return [{ text: part.text }];
    case "image":
      return [{ inlineData: { mimeType: part.media, data: part.data } }];
    case "image-url":
      return [{ fileData: { mimeType: "image/*", fileUri: part.url } }];
    case "call":
      return [{ functionCall: { name: part.name, args: part.args } }];
    case "result":
      return [{
        functionResponse: {
          name: names.get(part.id) ?? part.id,
          response: { result: part.text },
        },
      }];
    case "kept":
      return [];
  }
}

/** The parts in one frame; `called` counts the calls seen before. */
export function geminiParts(data: Json, called: number): Part[] {
  const parts: Part[] = [];
  let call = called;
  for (const entry of listAt(data, "candidates.0.content.parts")) {
    const text = textAt(entry, "text");
    if (text !== "") {
      const thought = at(entry, "thought") === true;
      parts.push({ type: thought ? "thinking" : "text", text });
    }
    const name = textAt(entry, "functionCall.name");
    if (name === "") continue;
    const id = textAt(entry, "functionCall.id") || `call_${call}`;
    parts.push({ type: "tool", call, id, name });
    const args = JSON.stringify(at(entry, "functionCall.args") ?? {});
    parts.push({ type: "args", call, text: args });
    call++;
  }
  const usage = at(data, "usageMetadata");
  if (usage !== undefined) {
    const count = (name: string): number => numberAt(usage, name) ?? 0;
    const cacheRead = count("cachedContentTokenCount");
    parts.push({
      type: "usage",
      usage: {
        input: count("promptTokenCount") + count("toolUsePromptTokenCount") -
          cacheRead,
        cacheRead,
        output: count("candidatesTokenCount") + count("thoughtsTokenCount"),
        reasoning: count("thoughtsTokenCount"),
      },
    });
  }
  const blocked = textAt(data, "promptFeedback.blockReason") !== "";
  const reason = textAt(data, "candidates.0.finishReason");
  if (blocked || reason !== "") {
    const cause = blocked ? "refusal" : STOPS[reason] ?? "other";
    parts.push({
      type: "stop",
      cause: cause === "end" && call > 0 ? "tool_use" : cause,
    });
  }
  return parts;
}
