/**
 * Request fields that a vendor validates. A gateway may leave validation to its vendors, so the
 * replay upstream validates too, and the gateway's clients see the resulting error. Only rules that
 * every vendor of a dialect has are listed (from their API references, read on 21 November 2026);
 * null counts as absent.
 */
import { type ParsedRequest, TURNS, turnsOf } from "../parse_request.ts";
import { isObject, type Json, type JsonObject, objectOf } from "../json.ts";

/** A field that the vendor refuses. */
interface RequestFault {
  /** Path of the field, such as `messages.0.role`. */
  readonly param: string;
  /** Text of the error, without the path. */
  readonly why: string;
}

type IsValid = (value: Json) => boolean;

/** A field, its valid values, and the error text for any other value. */
type FieldRule = readonly [name: string, test: IsValid, why: string];

const isText: IsValid = (value) => typeof value === "string";
const isList: IsValid = Array.isArray;
const isTextOrList: IsValid = (value) => isText(value) || isList(value);
const isObjects: IsValid = (value) =>
  Array.isArray(value) && value.every((item: Json) => isObject(item));
const isTexts: IsValid = (value) =>
  Array.isArray(value) && value.every((item: Json) => isText(item));

function isWhole(least: number): IsValid {
  return (value) => Number.isInteger(value) && Number(value) >= least;
}

function isWithin(most: number): IsValid {
  return (value) => typeof value === "number" && value >= 0 && value <= most;
}

const LIST = "Input should be a valid list";
const WHOLE = "Input should be a valid integer within its bounds";
const STREAM: FieldRule = [
  "stream",
  (value) => typeof value === "boolean",
  "Input should be a valid boolean",
];

function between(name: string, most: number): FieldRule {
  return [name, isWithin(most), `Input should be a number from 0 to ${most}`];
}

const RULES: Readonly<Record<ParsedRequest["dialect"], readonly FieldRule[]>> =
  {
    messages: [
      ["max_tokens", isWhole(0), WHOLE],
      between("temperature", 1),
      between("top_p", 1),
      STREAM,
      ["system", isTextOrList, "Input should be a valid string or list"],
      ["stop_sequences", isTexts, "Input should be a valid list of strings"],
      ["tools", isObjects, LIST],
      ["metadata", isObject, "Input should be a valid object"],
    ],
    chat_completions: [
      ["max_tokens", isWhole(1), WHOLE],
      ["max_completion_tokens", isWhole(1), WHOLE],
      between("temperature", 2),
      between("top_p", 1),
      STREAM,
      ["system", () => false, "Unrecognized request argument supplied"],
      ["tools", isObjects, LIST],
    ],
    responses: [
      ["max_output_tokens", isWhole(16), WHOLE],
      between("temperature", 2),
      between("top_p", 1),
      STREAM,
      ["instructions", isText, "Input should be a valid string"],
      ["tools", isObjects, LIST],
    ],
    generate_content: [
      ["systemInstruction", isObject, "Input should be a valid object"],
      ["tools", isObjects, LIST],
    ],
  };

/** Rules of generate content for the fields of `generationConfig`. */
const CONFIG_RULES: readonly FieldRule[] = [
  ["maxOutputTokens", isWhole(1), WHOLE],
  between("temperature", 2),
  between("topP", 1),
  ["stopSequences", isTexts, "Input should be a valid list of strings"],
];

const ROLES: Readonly<Record<ParsedRequest["dialect"], readonly string[]>> = {
  messages: ["user", "assistant", "system"],
  chat_completions: [
    "system",
    "developer",
    "user",
    "assistant",
    "tool",
    "function",
  ],
  generate_content: ["user", "model", "function"],
  responses: ["user", "assistant", "system", "developer"],
};

/** The first invalid field of a generation request; undefined when the request is valid. */
export function requestFault(call: ParsedRequest): RequestFault | undefined {
  const { dialect } = call;
  const body = objectOf(call.body);
  if (dialect === "messages" && (body["max_tokens"] ?? null) === null) {
    return { param: "max_tokens", why: "Field required" };
  }
  if (dialect === "messages" && isSet(body, "temperature", "top_p")) {
    return { param: "top_p", why: "Use it or temperature, not both" };
  }
  const config = objectOf(body["generationConfig"]);
  return broken(body, RULES[dialect]) ??
    (dialect === "generate_content"
      ? broken(config, CONFIG_RULES)
      : undefined) ??
    turnFault(call, body);
}

function isSet(body: JsonObject, ...names: readonly string[]): boolean {
  return names.every((name) => (body[name] ?? null) !== null);
}

function broken(
  body: JsonObject,
  rules: readonly FieldRule[],
): RequestFault | undefined {
  const bad = rules.find(([name, test]) => {
    const value = body[name] ?? null;
    return value !== null && !test(value);
  });
  return bad === undefined ? undefined : { param: bad[0], why: bad[2] };
}

function turnFault(
  { dialect }: ParsedRequest,
  body: JsonObject,
): RequestFault | undefined {
  const list = TURNS[dialect];
  for (const [index, turn] of turnsOf(dialect, body).entries()) {
    const at = `${list}.${index}`;
    if (!isObject(turn)) return { param: at, why: "Input should be an object" };
    const role = turn["role"] ?? null;
    // Other items have no role.
    if (dialect === "responses" && (turn["type"] ?? "message") !== "message") {
      continue;
    }
    const unnamed = role === null && dialect === "generate_content";
    if (!unnamed && !ROLES[dialect].some((known) => known === role)) {
      return {
        param: `${at}.role`,
        why: `Unexpected role ${JSON.stringify(role)}`,
      };
    }
    if (!hasContent(dialect, turn)) {
      const name = dialect === "generate_content" ? "parts" : "content";
      return { param: `${at}.${name}`, why: "Input should be a valid list" };
    }
  }
  return undefined;
}

function hasContent(
  dialect: ParsedRequest["dialect"],
  turn: JsonObject,
): boolean {
  if (dialect === "generate_content") return isList(turn["parts"] ?? null);
  const content = turn["content"] ?? null;
  // An assistant turn with tool calls may have null content in the chat format.
  return isTextOrList(content) ||
    (dialect === "chat_completions" && content === null &&
      turn["role"] === "assistant");
}
