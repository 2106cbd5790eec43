/**
 * Parses a request of any dialect: the dialect, the operation, and the fields that decide the
 * reply. It never rejects a request; `answer.ts` does.
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

/** Name of a wire format. */
export type DialectName =
  | "messages"
  | "chat_completions"
  | "generate_content"
  | "responses";

/** What an endpoint does; `unknown` for a path that no vendor serves. */
type VendorOperation =
  | "generate"
  | "count_tokens"
  | "embed"
  | "media"
  | "models"
  | "unknown";

export interface ParsedRequest {
  readonly dialect: DialectName;
  readonly operation: VendorOperation;
  /** True when the request asks for a stream. */
  readonly streamed: boolean;
  /** True when the stream must be one JSON array: generate content without `alt=sse`. */
  readonly asArray: boolean;
  /** The requested model id; "" when there is none. */
  readonly model: string;
  /** True when a chat request asks for a usage frame at the end of the stream. */
  readonly usageAsked: boolean;
  /** The JSON body; undefined when it is not an object. */
  readonly body: JsonObject | undefined;
  /** The body as any JSON value; undefined when it is not JSON. */
  readonly json: Json | undefined;
  /** The marker of the last turn; undefined when there is none. */
  readonly marker: Marker | undefined;
  readonly request: ReplayRequest;
}

/** Parses a request; never throws. */
export function parseRequest(request: ReplayRequest): ParsedRequest {
  const [path = "", query = ""] = request.path.split("?", 2);
  const { dialect, operation, method, model } = readPath(path, request);
  const parsed = request.body === "" ? undefined : parseJson(request.body);
  const whole = isObject(parsed) ? parsed : undefined;
  // A count of generate content may be asked for a whole request.
  const inner = whole?.["generateContentRequest"];
  const body = method === "countTokens" && isObject(inner) ? inner : whole;
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
      : findMarkerInTurn(markedTexts(operation, dialect, body)),
    request,
  };
}

function markedTexts(
  operation: VendorOperation,
  dialect: DialectName,
  body: JsonObject,
): readonly string[] {
  switch (operation) {
    case "embed":
      return inputTexts(body);
    case "media":
      return ["input", "prompt", "query"].flatMap((name) =>
        textsIn(body[name])
      );
    default:
      return turnTexts(dialect, body);
  }
}

/** The ends of the paths that `media.ts` replies to. */
export const MEDIA_PATH: RegExp =
  /\/(audio\/transcriptions|audio\/speech|images\/generations|rerank|moderations)$/;

/** Operations of generate content that generate nothing, by the end of their path. */
const OPERATIONS: Readonly<Record<string, VendorOperation>> = {
  countTokens: "count_tokens",
  batchEmbedContents: "embed",
};

interface PathReading {
  readonly dialect: DialectName;
  readonly operation: VendorOperation;
  readonly method?: string;
  readonly model?: string;
}

function readPath(path: string, request: ReplayRequest): PathReading {
  const post = request.method === "POST";
  const dialect = dialectOf(path, request);
  const gemini =
    /\/models\/([^/]+):(generateContent|streamGenerateContent|countTokens|batchEmbedContents)$/
      .exec(path);
  if (gemini !== null && post) {
    const [, model = "", method = ""] = gemini;
    return {
      dialect,
      operation: OPERATIONS[method] ?? "generate",
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
  if (post && path.endsWith("/embeddings")) {
    return { dialect, operation: "embed" };
  }
  if (post && MEDIA_PATH.test(path)) return { dialect, operation: "media" };
  if (post && path.endsWith("/v1/responses")) {
    return { dialect, operation: "generate" };
  }
  if (!post && /(^|\/)models$/.test(path)) {
    return { dialect, operation: "models" };
  }
  return { dialect, operation: "unknown" };
}

function dialectOf(path: string, request: ReplayRequest): DialectName {
  if (
    path.startsWith("/v1beta") || path.includes(":generateContent") ||
    path.includes(":streamGenerateContent")
  ) {
    return "generate_content";
  }
  if (
    path.includes("/responses")
  ) return "responses";
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

/** The member of a request that holds the conversation. */
export const TURNS: Readonly<Record<DialectName, string>> = {
  messages: "messages",
  chat_completions: "messages",
  generate_content: "contents",
  responses: "input",
};

/** The turns of a conversation; in the Responses dialect its items. */
export function turnsOf(
  dialect: DialectName,
  body: JsonObject,
): readonly Json[] {
  const turns = body[TURNS[dialect]];
  return dialect === "responses" && typeof turns === "string"
    ? [{ role: "user", content: turns }]
    : arrayOf(turns);
}

/** One text per message after the model's last turn, last message first. */
function turnTexts(dialect: DialectName, body: JsonObject): readonly string[] {
  const turns = turnsOf(dialect, body).map(objectOf);
  const isModel = (turn: JsonObject): boolean =>
    turn["role"] === "assistant" || turn["role"] === "model" ||
    /^(reasoning|(function|custom_tool)_call)$/.test(
      stringOf(turn["type"]) ?? "",
    );
  const lastTurn = turns.slice(turns.findLastIndex(isModel) + 1);
  return lastTurn
    .filter((turn) => turn["role"] !== "system" && turn["role"] !== "developer")
    .map((turn) =>
      textsIn(turn["content"] ?? turn["parts"] ?? turn["output"]).join("\n")
    )
    .reverse();
}

/** All texts in a message's content: strings, text blocks and parts, tool results at any depth. */
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

function inputTexts({ input, requests }: JsonObject): string[] {
  return [
    ...textsIn(input),
    ...arrayOf(requests).map(objectOf).flatMap(({ content }) =>
      textsIn(objectOf(content)["parts"])
    ),
  ];
}

/** The text of the last user turn, markers included; "" when there is none. */
export function lastUserText(call: ParsedRequest): string {
  return call.body === undefined
    ? ""
    : turnTexts(call.dialect, call.body)[0] ?? "";
}
