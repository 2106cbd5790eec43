/** Reads a request of the generate-content format; its model and its form are in the path. */
import { mapValues } from "@model-gateway/replay/map_values";
import { compact } from "@model-gateway/replay/compact";
import { at, listAt, textAt } from "../../evidence/json_path.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import {
  invalid,
  type ModelRequest,
  type Tool,
  type Turn,
  type TurnPart,
} from "../part.ts";
import type { Operation } from "../operation.ts";
import { merged } from "./read_chat.ts";
import {
  members,
  optionalCount,
  optionalList,
  optionalNumber,
  optionalObject,
  textList,
  textPart,
} from "./read_request.ts";

const CONFIG = "generationConfig";

/** Marks a `thoughtSignature` that is a signature of the message dialect. */
const SIGNED = "cmVmOm1lc3NhZ2VzOg";

/** A signature of the message dialect as clients keep it. */
export function foreignSignature(value: string): string {
  return SIGNED + value;
}

/**
 * Reads a body, whose keys may have either spelling.
 * @throws {Refused} when a field is wrong
 */
export function readGenerateContent(
  body: JsonObject,
  { inPath }: Operation,
): ModelRequest {
  const asked = objectOf(camel(body));
  const contents = asked["contents"];
  if (!Array.isArray(contents) || contents.length === 0) {
    throw invalid("contents", "an array with at least one entry is required");
  }
  const config = optionalObject(asked, CONFIG);
  // Errors name a field by its whole path.
  const settings = Object.fromEntries(
    Object.entries(config).map(([key, value]) => [`${CONFIG}.${key}`, value]),
  );
  const calling = objectOf(at(asked, "toolConfig.functionCallingConfig"));
  const mode = textAt(calling, "mode").toUpperCase();
  const tools = optionalList(asked, "tools").flatMap((tool) =>
    listAt(tool, "functionDeclarations")
  ).map((tool) => toolOf(tool, mode === "VALIDATED"));
  return {
    model: inPath?.model ?? "",
    stream: inPath?.stream ?? false,
    system: systemOf(asked["systemInstruction"]),
    turns: merged(withIds(contents.map(turnOf))),
    maxTokens: optionalCount(settings, `${CONFIG}.maxOutputTokens`),
    temperature: optionalNumber(settings, `${CONFIG}.temperature`, 0, 2),
    topP: optionalNumber(settings, `${CONFIG}.topP`, 0, 1),
    stops: textList(config["stopSequences"] ?? [], `${CONFIG}.stopSequences`),
    tools,
    choice: choiceOf(mode, listAt(calling, "allowedFunctionNames")),
    parallel: true,
    usageAsked: true,
    user: undefined,
    own: formats(config),
  };
}

/** The body with the keys of the format in one spelling; schemas and arguments stay. */
function camel(value: Json): Json {
  if (Array.isArray(value)) return value.map(camel);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = key.replaceAll(
        /_([a-z])/g,
        (_, letter: string) => letter.toUpperCase(),
      );
      const isOpaque =
        /^(args|response|parameters|parametersJsonSchema|response(Json)?Schema)$/
          .test(name);
      return [name, isOpaque ? inner : camel(inner ?? null)];
    }),
  );
}

function systemOf(system: Json | undefined): string {
  if (typeof system === "string") return system;
  return listAt(system, "parts").map((part) => textAt(part, "text")).join("\n");
}

function turnOf(entry: Json, index: number): Turn {
  const name = `contents[${index}]`;
  const role = at(entry, "role") ?? "user";
  if (role !== "user" && role !== "model" && role !== "function") {
    throw invalid(`${name}.role`, "must be user or model");
  }
  if (!Array.isArray(at(entry, "parts"))) {
    throw invalid(`${name}.parts`, "must be a list of parts");
  }
  return {
    role: role === "model" ? "assistant" : "user",
    parts: listAt(entry, "parts").flatMap((part, at) =>
      partOf(objectOf(part), `${name}.parts[${at}]`)
    ),
  };
}

function partOf(part: JsonObject, name: string): TurnPart[] {
  const { functionCall: call, functionResponse: answer, inlineData: blob } =
    part;
  if (isObject(call)) {
    return [{
      type: "call",
      id: textAt(call, "id"),
      name: textAt(call, "name"),
      args: objectOf(call["args"]),
      ...(typeof part["thoughtSignature"] === "string"
        ? { signature: part["thoughtSignature"] }
        : {}),
    }];
  }
  if (isObject(answer)) {
    return [{
      type: "result",
      id: textAt(answer, "id"),
      name: textAt(answer, "name"),
      text: resultOf(objectOf(answer["response"])),
    }];
  }
  if (isObject(blob)) {
    const media = textAt(blob, "mimeType");
    return [{ type: "image", media, data: textAt(blob, "data") }];
  }
  const url = textAt(part, "fileData.fileUri");
  if (url !== "") return [{ type: "image-url", url }];
  const signature = textAt(part, "thoughtSignature");
  if (part["thought"] === true) {
    const thinking = textAt(part, "text");
    return signature.startsWith(SIGNED)
      ? [{
        type: "kept",
        block: {
          type: "thinking",
          thinking,
          signature: signature.slice(SIGNED.length),
        },
      }]
      : [];
  }
  if (
    isObject(part["executableCode"]) || isObject(part["codeExecutionResult"])
  ) {
    return [{ type: "kept", block: part }];
  }
  const { text } = part;
  if (typeof text !== "string") throw invalid(name, "is of an unknown kind");
  return text === "" ? [] : [textPart(text)];
}

/** A result with one text is that text. */
function resultOf(response: JsonObject): string {
  const { output, result, error } = response;
  const only = output ?? result ?? error;
  return Object.keys(response).length === 1 && typeof only === "string"
    ? only
    : JSON.stringify(response);
}

/** The turns with an id for each call, which its result has too; names pair those without. */
function withIds(turns: readonly Turn[]): readonly Turn[] {
  const open: { readonly id: string; readonly name: string }[] = [];
  let calls = 0;
  return turns.map((turn) => ({
    ...turn,
    parts: turn.parts.map((part): TurnPart => {
      if (part.type === "call") {
        const id = part.id === "" ? `call_${calls}` : part.id;
        calls++;
        open.push({ id, name: part.name });
        return { ...part, id };
      }
      if (part.type !== "result") return part;
      const place = open.findIndex(({ id, name }) =>
        part.id === "" ? name === part.name : id === part.id
      );
      const [found] = place < 0 ? [] : open.splice(place, 1);
      return { ...part, id: found?.id ?? part.id };
    }),
  }));
}

function toolOf(entry: Json, strict: boolean): Tool {
  const schema = at(entry, "parametersJsonSchema") ??
    lowered(at(entry, "parameters"));
  return {
    name: textAt(entry, "name"),
    about: textAt(entry, "description") || undefined,
    schema: schema ?? { type: "object", properties: {} },
    ...(strict ? { strict } : {}),
  };
}

/** A schema of the format's own kind, which has types in upper case. */
function lowered(schema: Json | undefined): Json | undefined {
  if (Array.isArray(schema)) {
    return schema.map((each: Json) => lowered(each) ?? null);
  }
  if (!isObject(schema)) return schema;
  return mapValues(
    schema,
    (value, key) =>
      key === "type" && typeof value === "string"
        ? value.toLowerCase()
        : lowered(value),
  );
}

function choiceOf(mode: string, names: readonly Json[]): string | undefined {
  switch (mode) {
    case "":
    case "MODE_UNSPECIFIED":
      return undefined;
    case "AUTO":
    case "VALIDATED":
      return "auto";
    case "NONE":
      return "none";
    case "ANY":
      return names.length === 1 ? `tool:${String(names[0])}` : "any";
  }
  throw invalid(
    "toolConfig.functionCallingConfig.mode",
    "must be AUTO, ANY, NONE or VALIDATED",
  );
}

/** The settings that each upstream has a word of its own for. */
function formats(config: JsonObject): ModelRequest["own"] {
  const own = members(config, [
    "topK",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "thinkingConfig",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
  ]);
  const schema = config["responseJsonSchema"] ??
    lowered(config["responseSchema"]);
  const isJson = config["responseMimeType"] === "application/json";
  const effort = textAt(config, "thinkingConfig.thinkingLevel").toLowerCase();
  const messages = compact({ top_k: config["topK"] });
  const chat = compact({
    reasoning_effort: effort || undefined,
    seed: config["seed"],
    presence_penalty: config["presencePenalty"],
    frequency_penalty: config["frequencyPenalty"],
  });
  if (schema === undefined && !isJson) {
    return { generate_content: own, messages, chat_completions: chat };
  }
  return {
    generate_content: own,
    messages: schema === undefined ? messages : {
      ...messages,
      output_config: { format: { type: "json_schema", schema } },
    },
    chat_completions: {
      ...chat,
      response_format: schema === undefined ? { type: "json_object" } : {
        type: "json_schema",
        json_schema: { name: "reply", schema },
      },
    },
  };
}
