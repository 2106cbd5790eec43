/** The members of replies and of their items, with the test of each value. */
import type { Exchange } from "../../evidence/exchange.ts";
import { typeOf } from "../../endpoints/read_responses.ts";
import { at, numberAt, sameJson, textAt } from "../../evidence/json_path.ts";
import { isObject, type Json, parseJson } from "@model-gateway/replay/json";
import { fact, factOf, type Finding } from "../../suite/finding.ts";

type Test = (value: Json | undefined) => boolean;
const isText: Test = (value) => typeof value === "string";
const isWord: Test = (value) => isText(value) && value !== "";
const isNumber: Test = (value) => typeof value === "number";
const isWhole: Test = (value) => Number.isInteger(value) && Number(value) >= 0;
const isFlag: Test = (value) => typeof value === "boolean";
const isTextOrObject: Test = (value) => isText(value) || isObject(value);
const orNull = (test: Test): Test => (value) => value === null || test(value);
const oneOf = (...values: readonly string[]): Test => (value) =>
  values.some((each) => each === value);

/** The beginnings of ids, by the type of the item. */
export const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg_",
  reasoning: "rs_",
  function_call: "fc_",
  custom_tool_call: "ctc_",
};

/** Longest id that requests may contain. */
export const LONGEST_ID = 64;

const STATUSES = ["completed", "incomplete", "in_progress"];

export const MEMBERS: Readonly<Record<string, Test>> = {
  id: isWord,
  object: oneOf("response"),
  created_at: isWhole,
  completed_at: orNull(isWhole),
  status: oneOf("completed", "incomplete", "failed", "in_progress", "queued"),
  incomplete_details: orNull(isObject),
  model: isWord,
  previous_response_id: orNull(isText),
  instructions: orNull((value) => isText(value) || Array.isArray(value)),
  output: Array.isArray,
  error: orNull(isObject),
  tools: Array.isArray,
  tool_choice: isTextOrObject,
  truncation: oneOf("auto", "disabled"),
  parallel_tool_calls: isFlag,
  text: isObject,
  top_p: isNumber,
  presence_penalty: isNumber,
  frequency_penalty: isNumber,
  top_logprobs: isWhole,
  temperature: isNumber,
  reasoning: orNull(isObject),
  usage: orNull(isObject),
  max_output_tokens: orNull(isWhole),
  max_tool_calls: orNull(isWhole),
  store: isFlag,
  background: isFlag,
  service_tier: isText,
  metadata: isObject,
  safety_identifier: orNull(isText),
  prompt_cache_key: orNull(isText),
};

/** The members that change while a reply is made. */
const CHANGING = [
  "completed_at",
  "error",
  "incomplete_details",
  "output",
  "service_tier",
  "status",
  "usage",
];

/**
 * The members that all states of a reply share. A gateway may not store a reply that failed,
 * whatever was asked for, and knows of an upstream's own reply only what names it.
 */
function lastingOf({ frames, via }: Exchange): readonly string[] {
  const failed = frames.some((frame) => typeOf(frame) === "response.failed");
  if (failed && via === "responses") {
    return ["id", "object", "created_at", "model"];
  }
  return Object.keys(MEMBERS).filter((name) =>
    !CHANGING.includes(name) && !(failed && name === "store")
  );
}

/** The findings that all states of a reply agree on what does not change. */
export function sameStates(x: Exchange): Finding {
  const lasting = lastingOf(x);
  const states = x.frames.flatMap(({ json }) => {
    const reply = at(json, "response");
    return reply === undefined
      ? []
      : [lasting.map((name) => [name, at(reply, name) ?? null])];
  });
  const [first = []] = states;
  const other = states.flat().find(([name = null, value = null]) =>
    !first.some(([known = null, usual = null]) =>
      known === name && sameJson(usual, value)
    )
  );
  return factOf("states", other ?? "one", x).mustBe(
    "one for what does not change",
    other === undefined,
  );
}

/** Members of each type of item, and of the parts in its lists. */
const ITEMS: Readonly<Record<string, Readonly<Record<string, Test>>>> = {
  message: {
    id: isWord,
    status: oneOf(...STATUSES),
    role: oneOf("assistant"),
    content: partsOf({
      output_text: {
        text: isText,
        annotations: Array.isArray,
        logprobs: isLogs,
      },
      refusal: { refusal: isWord },
    }),
  },
  function_call: {
    id: isWord,
    status: oneOf(...STATUSES),
    call_id: isWord,
    name: isWord,
    arguments: (value) => isText(value) && isObject(parseJson(`${value}`)),
  },
  custom_tool_call: {
    id: isWord,
    call_id: isWord,
    name: isWord,
    input: isText,
  },
  reasoning: {
    id: isWord,
    summary: partsOf({ summary_text: { text: isText } }),
  },
};

function isLogs(value: Json | undefined): boolean {
  return value === undefined || Array.isArray(value);
}

function partsOf(
  types: Readonly<Record<string, Readonly<Record<string, Test>>>>,
): Test {
  return (value) =>
    Array.isArray(value) &&
    value.every((part: Json) =>
      Object.entries(types[textAt(part, "type")] ?? { type: () => false })
        .every(([name, test]) => test(at(part, name)))
    );
}

/** The findings about members of a value: the wrong ones, or one that passes. */
export function members(
  x: Exchange,
  value: Json | undefined,
  tests: Readonly<Record<string, Test>>,
): Finding[] {
  const wrong = Object.entries(tests).filter(([name, test]) =>
    !test(at(value, name))
  );
  if (wrong.length === 0) {
    return [fact(true, "members", "all of their types", "as expected", x)];
  }
  return wrong.map(([name]) =>
    fact(false, name, "present, of its type", at(value, name), x)
  );
}

/** The member of an item that is wrong; undefined where none is. */
export function wrongMember(item: Json): string | undefined {
  const type = textAt(item, "type");
  const tests = Object.entries(ITEMS[type] ?? { type: isWord });
  // The arguments of a call are complete where the call is.
  const isCut = at(item, "status") !== "completed";
  return tests.find(([name, test]) =>
    !(isCut && name === "arguments" ? isText : test)(at(item, name))
  )?.[0];
}

/** Whether a usage is right: whole counts that add up, with parts that are not larger; or none. */
export function isUsage(usage: Json | undefined): boolean {
  if ((usage ?? null) === null) return true;
  const [input = 0, output = 0, total = 0, cached = 0, reasoning = 0] = [
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "input_tokens_details.cached_tokens",
    "output_tokens_details.reasoning_tokens",
  ].map((path) => numberAt(usage, path) ?? NaN);
  return [input, output, total, cached, reasoning].every(Number.isInteger) &&
    total === input + output && cached <= input && reasoning <= output;
}

export function itemMembers(x: Exchange, item: Json): Finding[] {
  return members(x, item, ITEMS[textAt(item, "type")] ?? { type: isWord });
}
