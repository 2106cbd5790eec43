/** Faults for the checks of the area `responses`: how a request is understood. */
import { listAt, textAt } from "../../evidence/json_path.ts";
import { type Json, type JsonObject, objectOf } from "../../../replay/json.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import {
  asked,
  askedItems,
  askedTools,
  type Faults,
  forgets,
  frameOf,
  inFrames,
  inItems,
  refuses,
  sent,
} from "./change.ts";

const isInstruction = (item: Json): boolean =>
  ["system", "developer"].includes(textAt(item, "role"));

/** Removes parts of a type from the content of messages. */
function withoutParts(type: string): Hooks {
  return askedItems((item) =>
    Array.isArray(item["content"])
      ? {
        ...item,
        content: item["content"].filter((part: Json) =>
          textAt(part, "type") !== type
        ),
      }
      : item
  );
}

const ofType =
  (type: string, change: (item: JsonObject) => JsonObject | undefined) =>
  (item: JsonObject): JsonObject | undefined =>
    item["type"] === type ? change(item) : item;

/** Removes or adds the header about dropped members. */
function droppedHeader(value: string | undefined): Hooks {
  const change = (
    headers: Readonly<Record<string, string>>,
  ): Readonly<Record<string, string>> => {
    const { "x-gateway-dropped": _, ...rest } = headers;
    return value === undefined ? rest : { ...rest, "x-gateway-dropped": value };
  };
  return {
    reply: (reply) => ({ ...reply, headers: change(reply.headers) }),
    streamHeaders: change,
  };
}

const FORMAT_LOST = forgets("text");
const NO_INSTRUCTIONS = askedItems((item) =>
  isInstruction(item) ? undefined : item
);

/** Part of `RESPONSES_MUTANTS`. */
export const REQUEST_FAULTS: Faults = {
  "responses-untyped-refused": refuses('[{"role"'),
  "responses-developer-refused": refuses('"developer"'),
  "responses-turns-lost": asked((body) =>
    Array.isArray(body["input"])
      ? { ...body, input: body["input"].slice(-1) }
      : body
  ),
  "responses-instructions-lost": forgets("instructions"),
  "responses-opening-lost": NO_INSTRUCTIONS,
  "responses-developer-lost": NO_INSTRUCTIONS,
  "responses-developer-moved": asked((body) =>
    Array.isArray(body["input"])
      ? {
        ...body,
        input: [
          ...body["input"].filter(isInstruction),
          ...body["input"].filter((item: Json) => !isInstruction(item)),
        ],
      }
      : body
  ),
  "responses-picture-lost": withoutParts("input_image"),
  "responses-file-lost": withoutParts("input_file"),
  "responses-results-swapped": askedItems(
    ofType("function_call_output", (item) => ({
      ...item,
      call_id: item["call_id"] === "call_1" ? "call_2" : "call_1",
    })),
  ),
  "responses-item-id-pairs": askedItems(
    ofType("function_call", (item) => ({ ...item, call_id: item["id"] })),
  ),
  "responses-results-late": askedItems((item) =>
    item["content"] === "I am looking it up." ? { ...item, role: "user" } : item
  ),
  "responses-empty-arguments-null": askedItems(
    ofType(
      "function_call",
      (item) =>
        item["arguments"] === ""
          ? { ...item, arguments: '{"input":null}' }
          : item,
    ),
  ),
  "responses-result-picture-lost": askedItems(
    ofType(
      "function_call_output",
      (item) =>
        Array.isArray(item["output"])
          ? { ...item, output: item["output"].slice(0, 1) }
          : item,
    ),
  ),
  "responses-result-picture-text": askedItems(
    ofType(
      "function_call_output",
      (item) =>
        Array.isArray(item["output"])
          ? { ...item, output: JSON.stringify(item["output"]) }
          : item,
    ),
  ),
  "responses-free-text-lost": askedItems(
    ofType("custom_tool_call", (item) => ({ ...item, input: "" })),
  ),
  "responses-group-history-flat": askedItems(
    ofType("function_call", ({ namespace: _, ...item }) => item),
  ),
  "responses-foreign-reasoning-sent": askedItems(
    ofType("reasoning", (item) => ({
      role: "assistant",
      content: textAt(item, "encrypted_content"),
    })),
  ),
  "responses-reasoning-not-returned": askedItems(
    ofType("reasoning", () => undefined),
  ),
  "responses-seal-kept": sent((body) =>
    objectOf(
      JSON.parse(
        JSON.stringify(body).replaceAll('"signature":"', '"signature":"ref:'),
      ),
    )
  ),
  "responses-format-lost": FORMAT_LOST,
  "responses-dropped-silently": droppedHeader(undefined),
  "responses-dropped-always": droppedHeader("store"),
  "responses-choice-ignored": forgets("tool_choice"),
  "responses-none-calls": asked((body) =>
    body["tool_choice"] === "none" ? { ...body, tool_choice: "required" } : body
  ),
  "responses-allowed-ignored": asked((body) =>
    textAt(body, "tool_choice.type") === "allowed_tools"
      ? { ...body, tool_choice: "required" }
      : body
  ),
  "responses-schema-halved": askedTools((tool) => ({
    ...tool,
    parameters: { type: "object" },
  })),
  "responses-description-lost": askedTools((
    { description: _, ...tool },
  ) => tool),
  "responses-always-strict": sent((body) => ({
    ...body,
    tools: listAt(body, "tools").map((tool) => ({
      ...objectOf(tool),
      strict: true,
    })),
  })),
  "responses-parallel-lost": forgets("parallel_tool_calls"),
  "responses-custom-as-function": inItems("custom_tool_call", (item) => ({
    ...item,
    type: "function_call",
    arguments: JSON.stringify({ input: item["input"] ?? "" }),
  })),
  "responses-custom-wrapped": inItems("custom_tool_call", (item) => ({
    ...item,
    input: JSON.stringify({ input: item["input"] ?? "" }),
  })),
  "responses-custom-escaped": inFrames(
    /^custom_tool_call_input\.delta$/,
    (data) => ({
      ...data,
      delta: JSON.stringify(textAt(data, "delta")).slice(1, -1),
    }),
  ),
  "responses-custom-stream-arguments": inFrames(
    /^custom_tool_call_input\.delta$/,
    (data) => [
      frameOf({ ...data, type: "response.function_call_arguments.delta" }),
    ],
  ),
  "responses-namespace-lost": inItems(
    "function_call",
    ({ namespace: _, ...item }) => item,
  ),
  "responses-namespace-joined": inItems(
    "function_call",
    ({ namespace, ...item }) => ({
      ...item,
      name: `${namespace}__${item["name"]}`,
    }),
  ),
  "responses-groups-collide": {
    modelRequest: (request) => ({
      ...request,
      tools: request.tools.map((tool) => ({
        ...tool,
        name: tool.name.replace(/^.*__/, ""),
      })),
    }),
  },
  "responses-long-name-sent": {
    modelRequest: (request) => ({
      ...request,
      tools: request.tools.map((tool) => ({
        ...tool,
        name: tool.name.padEnd(130, "x"),
      })),
    }),
  },
  "responses-short-name-returned": inItems("function_call", (item) => ({
    ...item,
    name: textAt(item, "name").slice(0, 20),
  })),
  "responses-additional-tools-lost": askedItems(
    ofType("additional_tools", () => undefined),
  ),
  "responses-hosted-refused": refuses('"web_search"'),
};
