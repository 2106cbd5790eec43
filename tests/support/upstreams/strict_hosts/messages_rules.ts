/** What hosts of the messages format refuse. */
import type { JsonObject } from "../../../../translate/bytes/json.ts";
import {
  countOf,
  hasKey,
  isProofOf,
  list,
  type Refusal,
  unknownField,
} from "./refusal.ts";

const blocksOf = ({ content }: JsonObject): readonly JsonObject[] =>
  typeof content === "string"
    ? [{ type: "text", text: content }]
    : list(content);

const turnsOf = (body: JsonObject): readonly JsonObject[] =>
  list(body["messages"]);

const ofType = (
  turn: JsonObject | undefined,
  type: string,
): readonly JsonObject[] =>
  turn === undefined
    ? []
    : blocksOf(turn).filter((block) => block["type"] === type);

const CALL = { type: "tool_use", id: "t1", name: "f", input: {} };
const RESULT = { type: "tool_result", tool_use_id: "t1", content: "x" };
const GO = { role: "user", content: "go" };
const messages = (...turns: JsonObject[]): JsonObject => ({ messages: turns });

/** The order of calls and results, at every host of the format. */
const TURNS: readonly Refusal[] = [
  {
    words:
      "messages: `tool_use` ids were found without `tool_result` blocks immediately after. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
    source: "aliasrobotics/cai#182",
    refuses: (body) =>
      turnsOf(body).some((turn, at, turns) => {
        const answered = ofType(turns[at + 1], "tool_result").map((block) =>
          block["tool_use_id"]
        );
        return turn["role"] === "assistant" && ofType(turn, "tool_use").some(
          ({ id }) => !answered.includes(id),
        );
      }),
    bad: messages(GO, { role: "assistant", content: [CALL] }, GO),
  },
  {
    words:
      "messages: `tool_result` blocks must come first in the content array, before any text",
    source:
      "platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
    refuses: (body) =>
      turnsOf(body).some((turn) => {
        const blocks = blocksOf(turn);
        const last = blocks.findLastIndex(({ type }) => type === "tool_result");
        return blocks.slice(0, last + 1).some(({ type }) =>
          type !== "tool_result"
        );
      }),
    bad: messages(GO, { role: "assistant", content: [CALL] }, {
      role: "user",
      content: [{ type: "text", text: "x" }, RESULT],
    }),
  },
];

/** What Claude refuses wherever it is served. */
const CLAUDE: readonly Refusal[] = [
  ...TURNS,
  {
    words: "messages.1.content.0: Invalid `signature` in `thinking` block",
    source: "can1357/oh-my-pi#6379",
    refuses: (body, maker) =>
      turnsOf(body).some((turn) =>
        ofType(turn, "thinking").some(({ signature }) =>
          !isProofOf(maker, signature)
        ) || ofType(turn, "redacted_thinking").some(({ data }) =>
          !isProofOf(maker, data)
        )
      ),
    bad: messages({
      role: "assistant",
      content: [{ type: "thinking", thinking: "x", signature: "eA==" }],
    }),
  },
  {
    words: "messages: text content blocks must contain non-whitespace text",
    source: "anthropics/claude-code#23440",
    refuses: (body) =>
      [...turnsOf(body), { content: body["system"] ?? [] }].some((turn) =>
        ofType(turn, "text").some(({ text }) => `${text}`.trim() === "")
      ),
    bad: messages({ role: "user", content: [{ type: "text", text: "\n" }] }),
  },
  {
    words:
      "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    source: "CommandCodeAI/command-code#323",
    refuses: (body) =>
      turnsOf(body).some((turn) =>
        ofType(turn, "tool_use").some(({ id }) =>
          !/^[a-zA-Z0-9_-]+$/.test(`${id}`)
        )
      ),
    bad: messages(
      { role: "assistant", content: [{ ...CALL, id: "a.b" }] },
      { role: "user", content: [{ ...RESULT, tool_use_id: "a.b" }] },
    ),
  },
  {
    words:
      "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
    source: "anomalyco/opencode#3077",
    refuses: (body) => {
      const turns = turnsOf(body);
      const asked = turns.findLastIndex((turn) =>
        turn["role"] === "user" && ofType(turn, "tool_result").length === 0
      );
      const first = turns[asked + 1];
      return (body["thinking"] as JsonObject | undefined)?.["type"] ===
          "enabled" &&
        first !== undefined &&
        !/thinking/.test(`${blocksOf(first)[0]?.["type"]}`);
    },
    bad: {
      thinking: { type: "enabled", budget_tokens: 1024 },
      ...messages(GO, { role: "assistant", content: [CALL] }, {
        role: "user",
        content: [RESULT],
      }),
    },
  },
  {
    words: "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    source: "Wei-Shaw/sub2api#176",
    refuses: (body) => countOf(body, "cache_control") > 4,
    bad: messages({
      role: "user",
      content: Array(5).fill({
        type: "text",
        text: "x",
        cache_control: { type: "ephemeral" },
      }),
    }),
  },
  {
    words:
      "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
    source: "platform.claude.com/docs/en/build-with-claude/structured-outputs",
    refuses: ({ output_config: config }) => {
      const format = (config as JsonObject | undefined)?.["format"] as
        | JsonObject
        | undefined;
      const schema = format?.["schema"] as JsonObject | undefined;
      return schema?.["type"] === "object" &&
        schema["additionalProperties"] !== false;
    },
    bad: {
      output_config: {
        format: { type: "json_schema", schema: { type: "object" } },
      },
    },
  },
];

/** Claude before 4.6, which reasons by a budget. */
const BUDGET_CLAUDE: readonly Refusal[] = [
  ...CLAUDE,
  {
    words: "adaptive thinking is not supported on this model",
    source: "docker/docker-agent#3381",
    refuses: ({ thinking }) =>
      (thinking as JsonObject | undefined)?.["type"] === "adaptive",
    bad: { thinking: { type: "adaptive" } },
  },
  {
    words: "This model does not support the effort parameter.",
    source: "diegosouzapw/OmniRoute#4713",
    refuses: ({ output_config: config }) => hasKey(config, "effort"),
    bad: { output_config: { effort: "high" } },
  },
];

/** Claude from Opus 4.7 on, which reasons adaptively. */
export const NEWEST_CLAUDE: readonly Refusal[] = [
  ...CLAUDE,
  {
    words:
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    source: "anomalyco/opencode#22863",
    refuses: ({ thinking }) =>
      (thinking as JsonObject | undefined)?.["type"] === "enabled",
    bad: { thinking: { type: "enabled", budget_tokens: 1024 } },
  },
  {
    words: "temperature is deprecated for this model.",
    source: "tinovyatkin/amazon-bedrock-copilot-chat#546",
    refuses: (body) => body["temperature"] !== undefined,
    bad: { temperature: 0.5 },
  },
  {
    words:
      "This model does not support assistant message prefill. The conversation must end with a user message.",
    source: "platform.claude.com/docs/en/about-claude/models/migration-guide",
    refuses: (body) => turnsOf(body).at(-1)?.["role"] === "assistant",
    bad: messages(GO, { role: "assistant", content: "x" }),
  },
];

const EXTRA = "Extra inputs are not permitted";

/** What `InvokeModel` checks before the model sees the body. */
export const INVOKE: readonly Refusal[] = [
  ...BUDGET_CLAUDE,
  unknownField(
    "model",
    `model: ${EXTRA}`,
    "npm @anthropic-ai/bedrock-sdk 1.1.3",
  ),
  unknownField(
    "stream",
    `stream: ${EXTRA}`,
    "npm @anthropic-ai/bedrock-sdk 1.1.3",
  ),
  {
    words: "anthropic_version: Field required",
    source:
      "docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html",
    refuses: (body) => body["anthropic_version"] !== "bedrock-2023-05-31",
    bad: {},
  },
];

/** What Vertex AI checks before the model sees the body. */
export const RAW_PREDICT: readonly Refusal[] = [
  ...BUDGET_CLAUDE,
  unknownField(
    "model",
    `model: ${EXTRA}`,
    "npm @anthropic-ai/vertex-sdk 1.1.3",
  ),
  {
    words: "anthropic_version: Field required",
    source: "npm @anthropic-ai/vertex-sdk 1.1.3",
    refuses: (body) => body["anthropic_version"] !== "vertex-2023-10-16",
    bad: {},
  },
  {
    words: `system.2.cache_control.ephemeral.scope: ${EXTRA}`,
    source: "zhukunpenglinyutong/jetbrains-cc-gui#844",
    refuses: (body) => hasKey(body, "scope"),
    bad: { system: [{ cache_control: { scope: "global" } }] },
  },
];

/** What MiniMax's endpoint of this format refuses. */
export const MINIMAX: readonly Refusal[] = [
  ...TURNS,
  {
    words: "invalid params, tool result's tool id(call_x) not found (2013)",
    source: "MiniMax-AI/MiniMax-M2#76",
    refuses: (body) =>
      turnsOf(body).some((turn, at, turns) => {
        const called = ofType(turns[at - 1], "tool_use").map(({ id }) => id);
        return ofType(turn, "tool_result").some((block) =>
          !called.includes(block["tool_use_id"])
        );
      }),
    bad: messages({ role: "user", content: [RESULT] }),
  },
];
