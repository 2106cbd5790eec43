/** Requests and streams of the reference gateway's upstreams in the generate-content dialect. */
import { at, listAt, numberAt, textAt } from "../evidence/json_path.ts";
import type { Json, JsonObject } from "@model-gateway/replay/json";
import type { StopCause } from "@model-gateway/replay/neutral_reply";
import type { ModelRequest, Part, TurnPart } from "./part.ts";

const STOPS: Readonly<Record<string, StopCause>> = {
  STOP: "end",
  MAX_TOKENS: "max_tokens",
  CONTINUATION: "max_tokens",
  SAFETY: "refusal",
  RECITATION: "refusal",
  BLOCKLIST: "refusal",
  PROHIBITED_CONTENT: "refusal",
  SPII: "refusal",
};

export function geminiBody(request: ModelRequest): JsonObject {
  const names = new Map(
    request.turns.flatMap(({ parts }) =>
      parts.flatMap((part) =>
        part.type === "call" ? [[part.id, part.name] as const] : []
      )
    ),
  );
  return {
    contents: request.turns.map(({ role, parts }) => ({
      role: role === "assistant" ? "model" : "user",
      parts: signed(
        inOrder(parts, [...names.keys()]).flatMap((part) =>
          partBody(part, names)
        ),
      ),
    })),
    ...(request.system === ""
      ? {}
      : { systemInstruction: { parts: [{ text: request.system }] } }),
    generationConfig: {
      maxOutputTokens: request.maxTokens,
      temperature: request.temperature,
      topP: request.topP,
      stopSequences: request.stops.length === 0 ? undefined : request.stops,
      ...request.own.generate_content,
    },
    ...(request.tools.length === 0 ? {} : {
      tools: [{
        functionDeclarations: request.tools.map(({ name, about, schema }) => ({
          name,
          description: about,
          parametersJsonSchema: schema,
        })),
      }],
    }),
    ...(request.choice === undefined
      ? {}
      : { toolConfig: { functionCallingConfig: choiceBody(request) } }),
  };
}

/** The parts with the vendor's word for calls of other models on the first call. */
function signed(parts: readonly JsonObject[]): JsonObject[] {
  const first = parts.findIndex((part) => "functionCall" in part);
  return parts.map((part, index) =>
    index !== first || part["thoughtSignature"] !== undefined
      ? part
      : { ...part, thoughtSignature: "skip_thought_signature_validator" }
  );
}

/** Results in the order of their calls: this dialect pairs them by name and order. */
function inOrder(
  parts: readonly TurnPart[],
  calls: readonly string[],
): readonly TurnPart[] {
  const place = (part: TurnPart): number =>
    part.type === "result" ? calls.indexOf(part.id) : calls.length;
  return parts.toSorted((left, right) => place(left) - place(right));
}

function choiceBody({ choice = "", tools }: ModelRequest): JsonObject {
  // The word for functions whose schemas bind all calls.
  if (
    choice === "auto" && tools.length > 0 &&
    tools.every(({ strict }) => strict === true)
  ) return { mode: "VALIDATED" };
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
      return [{
        functionCall: { name: part.name, args: part.args },
        thoughtSignature: part.signature,
      }];
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

/** The parts in one frame; `called` is the number of calls in earlier frames. */
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
    const signature = textAt(entry, "thoughtSignature");
    if (name === "") {
      if (signature !== "") {
        const of = "generate_content";
        parts.push({ type: "signature", of, value: signature });
      }
      continue;
    }
    const id = textAt(entry, "functionCall.id") || `call_${call}`;
    parts.push({
      type: "tool",
      call,
      id,
      name,
      ...(signature === "" ? {} : { signature }),
    });
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
