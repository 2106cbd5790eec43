/**
 * What a vendor itself refuses about a request. A gateway may leave that to its vendors, so the replay upstream refuses
 * it too: what such a gateway answers is then what its callers would see. Only what every vendor of a dialect refuses
 * stands here, as read from their references on 21 November 2026; what is null counts as absent.
 */
import type { Call } from "./call.ts";
import {
  arrayOf,
  isObject,
  type Json,
  type JsonObject,
  objectOf,
} from "./json.ts";

/** A member that the vendor refuses. */
export interface Fault {
  /** The member, by its path. */
  readonly param: string;
  /** What is wrong with it. */
  readonly why: string;
}

type Test = (value: Json) => boolean;

/** A member with what it must be; a fault is told in these words. */
type Rule = readonly [name: string, test: Test, why: string];

const isText: Test = (value) => typeof value === "string";
const isList: Test = Array.isArray;
const isTextOrList: Test = (value) => isText(value) || isList(value);
const isObjects: Test = (value) =>
  Array.isArray(value) && value.every((item: Json) => isObject(item));
const isTexts: Test = (value) =>
  Array.isArray(value) && value.every((item: Json) => isText(item));

function isWhole(least: number): Test {
  return (value) => Number.isInteger(value) && Number(value) >= least;
}

function isWithin(most: number): Test {
  return (value) => typeof value === "number" && value >= 0 && value <= most;
}

const LIST = "Input should be a valid list";
const WHOLE = "Input should be a valid integer within its bounds";
const STREAM: Rule = [
  "stream",
  (value) => typeof value === "boolean",
  "Input should be a valid boolean",
];

function between(name: string, most: number): Rule {
  return [name, isWithin(most), `Input should be a number from 0 to ${most}`];
}

const RULES: Readonly<Record<Call["dialect"], readonly Rule[]>> = {
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
  generate_content: [
    ["systemInstruction", isObject, "Input should be a valid object"],
    ["tools", isObjects, LIST],
  ],
};

/** Rules of generate content for what stands in `generationConfig`. */
const CONFIG_RULES: readonly Rule[] = [
  ["maxOutputTokens", isWhole(1), WHOLE],
  between("temperature", 2),
  between("topP", 1),
  ["stopSequences", isTexts, "Input should be a valid list of strings"],
];

const ROLES: Readonly<Record<Call["dialect"], readonly string[]>> = {
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
};

/** The first thing that the vendor refuses about a call that generates; undefined when it takes it. */
export function faultOf(call: Call): Fault | undefined {
  const { dialect } = call;
  const body = objectOf(call.body);
  if (dialect === "messages" && (body["max_tokens"] ?? null) === null) {
    return { param: "max_tokens", why: "Field required" };
  }
  const config = objectOf(body["generationConfig"]);
  return broken(body, RULES[dialect]) ??
    (dialect === "generate_content"
      ? broken(config, CONFIG_RULES)
      : undefined) ??
    turnFault(call, body);
}

function broken(body: JsonObject, rules: readonly Rule[]): Fault | undefined {
  const bad = rules.find(([name, test]) => {
    const value = body[name] ?? null;
    return value !== null && !test(value);
  });
  return bad === undefined ? undefined : { param: bad[0], why: bad[2] };
}

function turnFault({ dialect }: Call, body: JsonObject): Fault | undefined {
  const list = dialect === "generate_content" ? "contents" : "messages";
  for (const [index, turn] of arrayOf(body[list]).entries()) {
    const at = `${list}.${index}`;
    if (!isObject(turn)) return { param: at, why: "Input should be an object" };
    const role = turn["role"] ?? null;
    const unnamed = role === null && dialect === "generate_content";
    if (!unnamed && !ROLES[dialect].some((known) => known === role)) {
      return { param: `${at}.role`, why: `Unexpected role ${words(role)}` };
    }
    if (!saysSomething(dialect, turn)) {
      const name = dialect === "generate_content" ? "parts" : "content";
      return { param: `${at}.${name}`, why: "Input should be a valid list" };
    }
  }
  return undefined;
}

function saysSomething(dialect: Call["dialect"], turn: JsonObject): boolean {
  if (dialect === "generate_content") return isList(turn["parts"] ?? null);
  const content = turn["content"] ?? null;
  // Beside calls the chat format has no content.
  return isTextOrList(content) ||
    (dialect === "chat_completions" && content === null &&
      turn["role"] === "assistant");
}

function words(role: Json): string {
  return JSON.stringify(role);
}
