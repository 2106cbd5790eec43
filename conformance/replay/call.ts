/**
 * What a request asks for: its dialect, its operation, and the parts that decide the reply. Reads requests of all three
 * dialects and never refuses one; the answers do that.
 */
import {
  arrayOf,
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  parseJson,
  stringOf,
} from "./json.ts";
import { findMarker, type Marker } from "./marker.ts";
import type { ReplayRequest } from "./script.ts";

/** A wire format that a vendor speaks. */
export type Dialect = "messages" | "chat_completions" | "generate_content";

/** What an endpoint does; `unknown` for a path that no vendor has. */
export type Operation = "generate" | "count_tokens" | "models" | "unknown";

/** A request, understood. */
export interface Call {
  /** The dialect of the path. */
  readonly dialect: Dialect;
  /** What the path does. */
  readonly operation: Operation;
  /** True when the reply comes as a stream. */
  readonly streamed: boolean;
  /** True when a stream is to come as one JSON array: generate content without `alt=sse`. */
  readonly asArray: boolean;
  /** The model id asked for; "" when there is none. */
  readonly model: string;
  /** True when a chat stream is to end with a usage frame. */
  readonly usageAsked: boolean;
  /** The JSON body; undefined when it is not an object. */
  readonly body: JsonObject | undefined;
  /** The body as JSON of any kind; undefined when it is not JSON. */
  readonly json: Json | undefined;
  /** The marker of the last turn; undefined when there is none. */
  readonly marker: Marker | undefined;
  /** The request as it arrived. */
  readonly request: ReplayRequest;
}

/** Understands a request. */
export function readCall(request: ReplayRequest): Call {
  const [path = "", query = ""] = request.path.split("?", 2);
  const { dialect, operation, method, model } = readPath(path, request);
  const parsed = request.body === "" ? undefined : parseJson(request.body);
  const body = isObject(parsed) ? parsed : undefined;
  const streamed = dialect === "generate_content"
    ? method === "streamGenerateContent"
    : body?.["stream"] === true;
  return {
    dialect,
    operation,
    streamed,
    asArray: streamed && dialect === "generate_content" &&
      new URLSearchParams(query).get("alt") !== "sse",
    model: model ?? stringOf(body?.["model"]) ?? "",
    usageAsked: objectOf(body?.["stream_options"])["include_usage"] === true,
    body,
    json: parsed,
    marker: body === undefined
      ? undefined
      : findMarkerInTurn(turnTexts(dialect, body)),
    request,
  };
}

interface PathReading {
  /** The dialect of the path. */
  readonly dialect: Dialect;
  /** What the path does. */
  readonly operation: Operation;
  readonly method?: string;
  readonly model?: string;
}

function readPath(path: string, request: ReplayRequest): PathReading {
  const post = request.method === "POST";
  const dialect = dialectOf(path, request);
  const gemini =
    /\/models\/([^/]+):(generateContent|streamGenerateContent|countTokens)$/
      .exec(path);
  if (gemini !== null && post) {
    const [, model = "", method = ""] = gemini;
    return {
      dialect,
      operation: method === "countTokens" ? "count_tokens" : "generate",
      method,
      model: safeDecode(model),
    };
  }
  if (post && path.endsWith("/v1/messages")) {
    return { dialect, operation: "generate" };
  }
  if (post && path.endsWith("/v1/messages/count_tokens")) {
    return { dialect, operation: "count_tokens" };
  }
  if (post && path.endsWith("/chat/completions")) {
    return { dialect, operation: "generate" };
  }
  if (!post && /(^|\/)models$/.test(path)) {
    return { dialect, operation: "models" };
  }
  return { dialect, operation: "unknown" };
}

function dialectOf(path: string, request: ReplayRequest): Dialect {
  if (
    path.startsWith("/v1beta") || path.includes(":generateContent") ||
    path.includes(":streamGenerateContent")
  ) {
    return "generate_content";
  }
  if (
    path.includes("/messages") ||
    request.headers["anthropic-version"] !== undefined
  ) return "messages";
  return "chat_completions";
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function findMarkerInTurn(texts: readonly string[]): Marker | undefined {
  for (const text of texts) {
    const marker = findMarker(text);
    if (marker !== undefined) return marker;
  }
  return undefined;
}

/** The texts of everything after the model's last turn, last message first. */
function turnTexts(dialect: Dialect, body: JsonObject): readonly string[] {
  const turns = arrayOf(
    body[dialect === "generate_content" ? "contents" : "messages"],
  ).map(objectOf);
  const isModel = (turn: JsonObject): boolean =>
    turn["role"] === "assistant" || turn["role"] === "model";
  const lastTurn = turns.slice(turns.findLastIndex(isModel) + 1);
  return lastTurn
    .filter((turn) => turn["role"] !== "system" && turn["role"] !== "developer")
    .map((turn) => textsIn(turn["content"] ?? turn["parts"]).join("\n"))
    .reverse();
}

/** All texts in a content: strings, text blocks and parts, tool results of any depth. */
export function textsIn(content: Json | undefined): string[] {
  if (typeof content === "string") return [content];
  if (Array.isArray(content)) {
    return content.flatMap((part) =>
      typeof part === "string" ? [part] : textsInPart(part)
    );
  }
  return [];
}

function textsInPart(part: Json): string[] {
  const block = objectOf(part);
  const text = stringOf(block["text"]);
  const response = block["functionResponse"] ?? block["function_response"];
  return [
    ...(text === undefined ? [] : [text]),
    ...(block["type"] === "tool_result" ? textsIn(block["content"]) : []),
    ...(response === undefined
      ? []
      : stringsIn(objectOf(response)["response"])),
  ];
}

function stringsIn(value: Json | undefined): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return Object.values(objectOf(value)).flatMap(stringsIn);
}

/** The text of the last user turn, markers included; "" when there is none. */
export function lastUserText(call: Call): string {
  return call.body === undefined
    ? ""
    : turnTexts(call.dialect, call.body)[0] ?? "";
}
