/** What hosts of the generate-content, Responses and Converse formats refuse. */
import { type JsonObject, objectOr } from "../../../../translate/bytes/json.ts";
import {
  hasKey,
  isProofOf,
  list,
  type Refusal,
  unknownField,
} from "./refusal.ts";

const partsOf = (turn: JsonObject | undefined): readonly JsonObject[] =>
  list(turn?.["parts"]);
const having = (
  parts: readonly JsonObject[],
  key: string,
): readonly JsonObject[] => parts.filter((part) => part[key] !== undefined);
const contents = (...turns: JsonObject[]): JsonObject => ({ contents: turns });
const CALL_PART = { functionCall: { name: "f", args: {} } };
const RESULT_PART = { functionResponse: { name: "f", response: {} } };
const SAID = { role: "user", parts: [{ text: "go" }] };

/** Gemini 3. */
export const GEMINI_NATIVE: readonly Refusal[] = [
  {
    words:
      "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.",
    source: "ai.google.dev/gemini-api/docs/thought-signatures",
    refuses: (body) => {
      const turns = list(body["contents"]);
      const running = turns.findLastIndex((turn) =>
        turn["role"] === "user" && having(partsOf(turn), "text").length > 0
      );
      return turns.slice(running + 1).some((turn) =>
        having(partsOf(turn), "functionCall").slice(0, 1).some((part) =>
          part["thoughtSignature"] === undefined
        )
      );
    },
    bad: contents(SAID, { role: "model", parts: [CALL_PART] }, {
      role: "user",
      parts: [RESULT_PART],
    }),
  },
  {
    words: "Corrupted thought signature.",
    source: "heyhuynhgiabuu/proxypal#119",
    refuses: (body, maker) =>
      list(body["contents"]).some((turn) =>
        having(partsOf(turn), "thoughtSignature").some(
          ({ thoughtSignature: signature }) =>
            !/^(?:skip_thought_signature_validator|context_engineering_is_the_way_to_go)$/
              .test(`${signature}`) && !isProofOf(maker, signature),
        )
      ),
    bad: contents({
      role: "model",
      parts: [{ text: "x", thoughtSignature: "eA==" }],
    }),
  },
  {
    words:
      "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    source: "google-gemini/gemini-cli#4217",
    refuses: (body) =>
      list(body["contents"]).some((turn, at, turns) => {
        const calls = having(partsOf(turn), "functionCall").length;
        return calls > 0 &&
          having(partsOf(turns[at + 1]), "functionResponse").length !== calls;
      }),
    bad: contents(SAID, {
      role: "model",
      parts: [{
        ...CALL_PART,
        thoughtSignature: "skip_thought_signature_validator",
      }],
    }, SAID),
  },
  {
    words: "Please use a valid role: user, model.",
    source: "ai.google.dev/api/caching#Content",
    refuses: (body) =>
      list(body["contents"]).some(({ role = "user" }) =>
        !["user", "model"].includes(`${role}`)
      ),
    bad: contents({ role: "system", parts: [{ text: "x" }] }),
  },
  {
    words:
      "Invalid JSON payload received. Unknown name \"$schema\" at 'tools[0].function_declarations[0].parameters': Cannot find field.",
    source: "zed-industries/zed#44875",
    refuses: (body) =>
      list(body["tools"]).some((tool) =>
        list(tool["functionDeclarations"]).some(({ parameters }) =>
          ["$schema", "additionalProperties", "const"].some((word) =>
            hasKey(parameters, word)
          )
        )
      ),
    bad: {
      tools: [{
        functionDeclarations: [{ name: "f", parameters: { $schema: "x" } }],
      }],
    },
  },
];

const input = (...items: JsonObject[]): JsonObject => ({ input: items });
const FUNCTION_CALL = {
  type: "function_call",
  call_id: "call_1",
  name: "f",
  arguments: "{}",
};
const OUTPUT = {
  type: "function_call_output",
  call_id: "call_1",
  output: "x",
};
const ID_STARTS: Readonly<Record<string, string>> = {
  function_call: "fc",
  message: "msg",
  reasoning: "rs",
};

/** OpenAI's reasoning models in the Responses format, without stored replies. */
export const RESPONSES: readonly Refusal[] = [
  {
    words: "No tool output found for function call call_1.",
    source: "tjardoo/openai-client#124",
    refuses: (body) => {
      const items = list(body["input"]);
      const answered = items.filter(({ type }) =>
        type === "function_call_output"
      ).map((item) => item["call_id"]);
      return items.some((item) =>
        item["type"] === "function_call" && !answered.includes(item["call_id"])
      );
    },
    bad: input(FUNCTION_CALL),
  },
  {
    words: "No tool call found for function call output with call_id call_1.",
    source: "agentscope-ai/AgentTeams#299",
    refuses: (body) => {
      const items = list(body["input"]);
      const called = items.filter(({ type }) => type === "function_call").map((
        item,
      ) => item["call_id"]);
      return items.some((item) =>
        item["type"] === "function_call_output" &&
        !called.includes(item["call_id"])
      );
    },
    bad: input(OUTPUT),
  },
  {
    words: "The encrypted content eA== could not be verified.",
    source: "openai/codex#8145",
    refuses: (body, maker) =>
      list(body["input"]).some((item) =>
        item["type"] === "reasoning" &&
        !isProofOf(maker, item["encrypted_content"])
      ),
    bad: input({ type: "reasoning", id: "rs_1", encrypted_content: "eA==" }),
  },
  {
    words: "Invalid 'input[2].id': 'x'. Expected an ID that begins with 'fc'.",
    source: "nodetool-ai/nodetool#4252",
    refuses: (body) =>
      list(body["input"]).some(({ type = "message", id }) =>
        id !== undefined && id !== null &&
        !`${id}`.startsWith(ID_STARTS[`${type}`] ?? "")
      ),
    bad: input({ ...FUNCTION_CALL, id: "x" }, OUTPUT),
  },
  unknownField(
    "temperature",
    "Unsupported parameter: 'temperature' is not supported with this model.",
    "OpenHands/software-agent-sdk#1837",
  ),
  {
    words:
      "Invalid schema for response_format: 'additionalProperties' is required to be supplied and to be false.",
    source: "developers.openai.com/api/docs/guides/structured-outputs",
    refuses: (body) => {
      const { format } = objectOr(body["text"]);
      const { strict, schema } = objectOr(format);
      return strict === true &&
        objectOr(schema)["additionalProperties"] !== false;
    },
    bad: {
      text: {
        format: { type: "json_schema", strict: true, schema: {} },
      },
    },
  },
];

const blocksOf = (turn: JsonObject | undefined): readonly JsonObject[] =>
  list(turn?.["content"]);
const TOOL_USE = { toolUse: { toolUseId: "t1", name: "f", input: {} } };
const TOOL_RESULT = {
  toolResult: { toolUseId: "t1", content: [{ text: "x" }] },
};
const CONFIG = { toolConfig: { tools: [{}] } };

/** Claude in the Converse format. */
export const CONVERSE: readonly Refusal[] = [
  {
    words:
      "The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the text field, and try again.",
    source: "NousResearch/hermes-agent#55092",
    refuses: (body) =>
      list(body["messages"]).some((turn) =>
        having(blocksOf(turn), "text").some(({ text }) =>
          `${text}`.trim() === ""
        )
      ),
    bad: { messages: [{ role: "user", content: [{ text: " " }] }] },
  },
  {
    words:
      "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    source: "vxcontrol/pentagi#196",
    refuses: (body) =>
      list(objectOr(body["toolConfig"])["tools"]).length === 0 &&
      (hasKey(body["messages"], "toolUse") ||
        hasKey(body["messages"], "toolResult")),
    bad: {
      messages: [{ role: "assistant", content: [TOOL_USE] }, {
        role: "user",
        content: [TOOL_RESULT],
      }],
    },
  },
  {
    words:
      "Expected toolResult blocks at messages.2.content for the following Ids: t1",
    source: "zeroclaw-labs/zeroclaw#1476",
    refuses: (body) =>
      list(body["messages"]).some((turn, at, turns) => {
        const answered = having(blocksOf(turns[at + 1]), "toolResult").map((
          { toolResult: result },
        ) => objectOr(result)["toolUseId"]);
        return having(blocksOf(turn), "toolUse").some(({ toolUse: use }) =>
          !answered.includes(objectOr(use)["toolUseId"])
        );
      }),
    bad: { ...CONFIG, messages: [{ role: "assistant", content: [TOOL_USE] }] },
  },
  {
    words:
      "Value at 'messages.1.member.content.1.member.toolUse.toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
    source: "gethnet/litellm-connector-copilot#101",
    refuses: (body) =>
      list(body["messages"]).some((turn) =>
        having(blocksOf(turn), "toolUse").some(({ toolUse: use }) =>
          !/^[a-zA-Z0-9_-]{1,64}$/.test(`${objectOr(use)["toolUseId"]}`)
        )
      ),
    bad: {
      ...CONFIG,
      messages: [{
        role: "assistant",
        content: [{ toolUse: { ...TOOL_USE.toolUse, toolUseId: "a.b" } }],
      }, {
        role: "user",
        content: [{
          toolResult: { ...TOOL_RESULT.toolResult, toolUseId: "a.b" },
        }],
      }],
    },
  },
  {
    words:
      "The model returned the following errors: messages.1.content.0: Invalid `signature` in `thinking` block",
    source: "can1357/oh-my-pi#6379",
    refuses: (body, maker) =>
      list(body["messages"]).some((turn) =>
        having(blocksOf(turn), "reasoningContent").some((block) => {
          const { reasoningText: text, redactedContent: data } = objectOr(
            block["reasoningContent"],
          );
          return !isProofOf(maker, objectOr(text)["signature"] ?? data);
        })
      ),
    bad: {
      messages: [{
        role: "assistant",
        content: [{ reasoningContent: { reasoningText: { text: "x" } } }],
      }],
    },
  },
  {
    words:
      "The model returned the following errors: messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
    source: "anomalyco/opencode#3077",
    refuses: (body) => {
      const turns = list(body["messages"]);
      const asked = turns.findLastIndex((turn) =>
        turn["role"] === "user" &&
        having(blocksOf(turn), "toolResult").length === 0
      );
      const first = turns[asked + 1];
      const extra = objectOr(body["additionalModelRequestFields"]);
      return objectOr(extra["thinking"])["type"] === "enabled" &&
        first !== undefined &&
        blocksOf(first)[0]?.["reasoningContent"] === undefined;
    },
    bad: {
      ...CONFIG,
      additionalModelRequestFields: { thinking: { type: "enabled" } },
      messages: [{ role: "assistant", content: [TOOL_USE] }, {
        role: "user",
        content: [TOOL_RESULT],
      }],
    },
  },
];
