/**
 * A request upstream in terms that belong to no dialect, for comparing it with the client's
 * request.
 */
import { mapValues } from "@model-gateway/replay/map_values";
import {
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from "@model-gateway/replay/json";
import type { UpstreamCall } from "./exchange.ts";
import { at, listAt, numberAt, textAt } from "./json_path.ts";

/** Whether a header is one that vendors read their key from. */
export function isCredential(name: string): boolean {
  return ["authorization", "x-api-key", "x-goog-api-key", "api-key"].includes(
    name,
  );
}

/** A piece of a turn. */
type UpstreamPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "image"; readonly source: string }
  | { readonly kind: "call"; readonly name: string; readonly args: Json }
  | { readonly kind: "result"; readonly text: string }
  | { readonly kind: "other"; readonly body: Json };

/** A turn of the conversation; neighbouring turns of one role are one turn. */
interface UpstreamTurn {
  /** The role; the result of a tool belongs to the user. */
  readonly role: string;
  readonly parts: readonly UpstreamPart[];
}

/** A setting that some vendors have. */
export type Tuning =
  | "effort"
  | "verbosity"
  | "topK"
  | "seed"
  | "presencePenalty"
  | "frequencyPenalty";

export interface UpstreamRequest {
  readonly model: string;
  readonly streamed: boolean;
  readonly system: readonly string[];
  readonly turns: readonly UpstreamTurn[];
  /** Cap on output tokens. */
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
  /** Nucleus sampling. */
  readonly topP: number | undefined;
  /** Settings that some vendors have; words are in lower case. */
  readonly tuning: Readonly<Partial<Record<Tuning, number | string>>>;
  readonly stops: readonly string[];
  readonly tools: readonly JsonObject[];
}

export function readUpstreamRequest(call: UpstreamCall): UpstreamRequest {
  const { json } = call;
  switch (call.dialect) {
    case "messages":
      return messagesSent(json);
    case "chat_completions":
      return chatSent(json);
    case "generate_content":
      return geminiSent(call);
    case "responses":
      return responsesSent(json);
  }
}

/** All text in a request except the text of the model and of tools. */
export function textsOf(request: UpstreamRequest): readonly string[] {
  return request.turns.flatMap(({ parts }) =>
    parts.flatMap((part) => part.kind === "text" ? [part.text] : [])
  );
}

/** The turns as text: `role: text|text`, with other parts by their kind. */
export function turnsText({ turns }: UpstreamRequest): string {
  return JSON.stringify(turns.map(({ role, parts }) => [role, ...parts]));
}

function messagesSent(json: Json | undefined): UpstreamRequest {
  return {
    model: textAt(json, "model"),
    streamed: at(json, "stream") === true,
    system: textsIn(at(json, "system")),
    turns: merged(
      listAt(json, "messages").map((entry) => ({
        role: textAt(entry, "role"),
        parts: blocksIn(at(entry, "content")).map(messagesPart),
      })),
    ),
    maxTokens: numberAt(json, "max_tokens"),
    temperature: numberAt(json, "temperature"),
    topP: numberAt(json, "top_p"),
    tuning: tuningIn(json, { effort: "output_config.effort", topK: "top_k" }),
    stops: strings(at(json, "stop_sequences")),
    tools: listAt(json, "tools").map((tool) =>
      toolOf(tool, at(tool, "input_schema"))
    ),
  };
}

function messagesPart(block: Json): UpstreamPart {
  if (typeof block === "string") return { kind: "text", text: block };
  switch (at(block, "type")) {
    case "text":
      return { kind: "text", text: textAt(block, "text") };
    case "image": {
      const url = textAt(block, "source.url");
      const media = textAt(block, "source.media_type");
      const source = url === ""
        ? `data:${media};base64,${textAt(block, "source.data")}`
        : url;
      return { kind: "image", source };
    }
    case "tool_use": {
      const args = at(block, "input") ?? null;
      return { kind: "call", name: textAt(block, "name"), args };
    }
    case "tool_result":
      return { kind: "result", text: textsIn(at(block, "content")).join("\n") };
  }
  return { kind: "other", body: block };
}

function chatSent(json: Json | undefined): UpstreamRequest {
  const entries = listAt(json, "messages");
  const instructs = (entry: Json): boolean =>
    ["system", "developer"].includes(textAt(entry, "role"));
  const stop = at(json, "stop");
  return {
    model: textAt(json, "model"),
    streamed: at(json, "stream") === true,
    system: entries.filter(instructs).flatMap((entry) =>
      textsIn(at(entry, "content"))
    ),
    turns: merged(entries.filter((entry) => !instructs(entry)).map(chatTurn)),
    maxTokens: numberAt(json, "max_completion_tokens") ??
      numberAt(json, "max_tokens"),
    temperature: numberAt(json, "temperature"),
    topP: numberAt(json, "top_p"),
    tuning: tuningIn(json, {
      effort: "reasoning_effort",
      verbosity: "verbosity",
      topK: "top_k",
      seed: "seed",
      presencePenalty: "presence_penalty",
      frequencyPenalty: "frequency_penalty",
    }),
    stops: typeof stop === "string" ? [stop] : strings(stop),
    tools: listAt(json, "tools").map((tool) =>
      toolOf(at(tool, "function"), at(tool, "function.parameters"))
    ),
  };
}

function chatTurn(entry: Json): UpstreamTurn {
  const role = textAt(entry, "role");
  if (role === "tool") {
    const text = textsIn(at(entry, "content")).join("\n");
    return { role: "user", parts: [{ kind: "result", text }] };
  }
  const contentParts = blocksIn(at(entry, "content")).map(
    (part): UpstreamPart => {
      if (typeof part === "string") return { kind: "text", text: part };
      if (at(part, "type") === "text") {
        return { kind: "text", text: textAt(part, "text") };
      }
      const url = textAt(part, "image_url.url");
      return url === ""
        ? { kind: "other", body: part }
        : { kind: "image", source: url };
    },
  );
  const calls = listAt(entry, "tool_calls").map((call): UpstreamPart => ({
    kind: "call",
    name: textAt(call, "function.name"),
    args: parseJson(textAt(call, "function.arguments")) ?? null,
  }));
  return { role, parts: [...contentParts, ...calls] };
}

function responsesSent(json: Json | undefined): UpstreamRequest {
  const input = at(json, "input");
  const items = typeof input === "string"
    ? [{ role: "user", content: input }]
    : listAt(json, "input");
  const first = items.findIndex((item) =>
    !["system", "developer"].includes(textAt(item, "role"))
  );
  const start = first < 0 ? items.length : first;
  return {
    model: textAt(json, "model"),
    streamed: at(json, "stream") === true,
    system: [
      ...blocksIn(at(json, "instructions")).map(String),
      ...items.slice(0, start).flatMap((item) => textsIn(at(item, "content"))),
    ],
    turns: merged(items.slice(start).map(responsesTurn)),
    maxTokens: numberAt(json, "max_output_tokens"),
    temperature: numberAt(json, "temperature"),
    topP: numberAt(json, "top_p"),
    tuning: tuningIn(json, {
      effort: "reasoning.effort",
      verbosity: "text.verbosity",
      presencePenalty: "presence_penalty",
      frequencyPenalty: "frequency_penalty",
    }),
    stops: [],
    tools: listAt(json, "tools").map((tool) =>
      toolOf(tool, at(tool, "parameters"))
    ),
  };
}

function responsesTurn(item: Json): UpstreamTurn {
  switch (at(item, "type") ?? "message") {
    case "function_call": {
      const args = parseJson(textAt(item, "arguments")) ?? null;
      const name = textAt(item, "name");
      return { role: "assistant", parts: [{ kind: "call", name, args }] };
    }
    case "function_call_output": {
      const parts = blocksIn(at(item, "output")).map(responsesPart);
      const text = parts.map((part) => part.kind === "text" ? part.text : "")
        .join("");
      return {
        role: "user",
        parts: [
          { kind: "result", text },
          ...parts.filter(({ kind }) => kind !== "text"),
        ],
      };
    }
    case "message": {
      const parts = blocksIn(at(item, "content")).map(responsesPart);
      return { role: textAt(item, "role"), parts };
    }
  }
  return { role: "assistant", parts: [{ kind: "other", body: item }] };
}

function responsesPart(part: Json): UpstreamPart {
  if (typeof part === "string") return { kind: "text", text: part };
  const text = at(part, "text");
  if (typeof text === "string") return { kind: "text", text };
  const source = textAt(part, "image_url");
  return source === ""
    ? { kind: "other", body: part }
    : { kind: "image", source };
}

function geminiSent({ json, path }: UpstreamCall): UpstreamRequest {
  const config = at(json, "generationConfig") ?? at(json, "generation_config");
  const system = at(json, "systemInstruction") ??
    at(json, "system_instruction");
  return {
    model: decodeURIComponent(/\/models\/([^/:?]+):/.exec(path)?.[1] ?? ""),
    streamed: path.includes(":streamGenerateContent"),
    system: textsIn(at(system, "parts")),
    turns: merged(
      listAt(json, "contents").map((entry) => ({
        role: textAt(entry, "role") === "model" ? "assistant" : "user",
        parts: listAt(entry, "parts").map(geminiPart),
      })),
    ),
    maxTokens: numberAt(config, "maxOutputTokens") ??
      numberAt(config, "max_output_tokens"),
    temperature: numberAt(config, "temperature"),
    topP: numberAt(config, "topP"),
    tuning: tuningIn(config, {
      effort: "thinkingConfig.thinkingLevel",
      topK: "topK",
      seed: "seed",
      presencePenalty: "presencePenalty",
      frequencyPenalty: "frequencyPenalty",
    }),
    stops: strings(at(config, "stopSequences")),
    tools: listAt(json, "tools").flatMap((tool) =>
      listAt(tool, "functionDeclarations")
    ).map((tool) =>
      toolOf(tool, at(tool, "parametersJsonSchema") ?? at(tool, "parameters"))
    ),
  };
}

function geminiPart(part: Json): UpstreamPart {
  const text = at(part, "text");
  if (typeof text === "string") return { kind: "text", text };
  const uri = textAt(part, "fileData.fileUri");
  if (uri !== "") return { kind: "image", source: uri };
  const media = textAt(part, "inlineData.mimeType");
  if (media !== "") {
    const data = textAt(part, "inlineData.data");
    return { kind: "image", source: `data:${media};base64,${data}` };
  }
  const name = textAt(part, "functionCall.name");
  if (name !== "") {
    return { kind: "call", name, args: at(part, "functionCall.args") ?? null };
  }
  const response = at(part, "functionResponse.response");
  if (response === undefined) return { kind: "other", body: part };
  const output = isObject(response)
    ? Object.values(response).find((value) => typeof value === "string")
    : undefined;
  return { kind: "result", text: typeof output === "string" ? output : "" };
}

/** One dialect writes the types in schemas in upper case. */
function lowered(schema: Json | undefined): Json {
  if (Array.isArray(schema)) return schema.map(lowered);
  if (!isObject(schema)) return schema ?? null;
  return mapValues(
    schema,
    (value, key) =>
      key === "type" && typeof value === "string"
        ? value.toLowerCase()
        : lowered(value),
  );
}

function tuningIn(
  json: Json | undefined,
  paths: Readonly<Partial<Record<Tuning, string>>>,
): UpstreamRequest["tuning"] {
  return Object.fromEntries(
    Object.entries(paths).flatMap(([name, path]) => {
      const value = numberAt(json, path) ?? textAt(json, path).toLowerCase();
      return value === "" ? [] : [[name, value]];
    }),
  );
}

function toolOf(
  tool: Json | undefined,
  schema: Json | undefined,
): JsonObject {
  return {
    name: textAt(tool, "name"),
    description: textAt(tool, "description"),
    schema: lowered(schema),
  };
}

function merged(turns: readonly UpstreamTurn[]): UpstreamTurn[] {
  const all: UpstreamTurn[] = [];
  for (const turn of turns) {
    const last = all.at(-1);
    if (last?.role !== turn.role) all.push(turn);
    else {
      const parts = [...last.parts, ...turn.parts];
      all.splice(-1, 1, { role: turn.role, parts });
    }
  }
  return all;
}

function blocksIn(content: Json | undefined): readonly Json[] {
  if (typeof content === "string") return [content];
  return Array.isArray(content) ? content : [];
}

function textsIn(content: Json | undefined): readonly string[] {
  return blocksIn(content).map((block) =>
    typeof block === "string" ? block : textAt(block, "text")
  );
}

function strings(value: Json | undefined): readonly string[] {
  return (Array.isArray(value) ? value : []).filter((item): item is string =>
    typeof item === "string"
  );
}
