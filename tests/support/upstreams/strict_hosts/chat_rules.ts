/** What hosts of the chat-completion format refuse. */
import { type JsonObject, objectOr } from "../../../../translate/bytes/json.ts";
import {
  hasKey,
  isProofOf,
  list,
  type Refusal,
  unknownField,
} from "./refusal.ts";

const turnsOf = (body: JsonObject): readonly JsonObject[] =>
  list(body["messages"]);
const callsOf = (turn: JsonObject): readonly JsonObject[] =>
  list(turn["tool_calls"]);
const hasPicture = ({ content }: JsonObject): boolean =>
  list(content).some(({ type }) => type === "image_url");

const messages = (...turns: JsonObject[]): JsonObject => ({ messages: turns });
const GO = { role: "user", content: "go" };
const PICTURE = {
  role: "user",
  content: [{ type: "image_url", image_url: { url: "data:," } }],
};
const CALL = {
  id: "abcdefghi",
  type: "function",
  function: { name: "f", arguments: "{}" },
};
const CALLS = { role: "assistant", content: null, tool_calls: [CALL] };
const RESULT = { role: "tool", tool_call_id: CALL.id, content: "x" };
const TOOL = { type: "function", function: { name: "f" } };
const SCHEMA = {
  response_format: {
    type: "json_schema",
    json_schema: { name: "x", schema: { type: "object" } },
  },
};

/** A role that the host does not know. */
function unknownRole(role: string, words: string, source: string): Refusal {
  return {
    words,
    source,
    refuses: (body) => turnsOf(body).some((turn) => turn["role"] === role),
    bad: messages({ role, content: "x" }),
  };
}

/** A field of assistant messages that the host does not know. */
function unknownInAssistant(
  field: string,
  words: string,
  source: string,
): Refusal {
  return {
    words,
    source,
    refuses: (body) =>
      turnsOf(body).some((turn) =>
        turn[field] !== undefined ||
        callsOf(turn).some((call) => call[field] !== undefined)
      ),
    bad: messages({ role: "assistant", content: "x", [field]: "x" }),
  };
}

function noPictures(words: string, source: string): Refusal {
  return {
    words,
    source,
    refuses: (body) => turnsOf(body).some(hasPicture),
    bad: messages(PICTURE),
  };
}

/** What belongs to the format: pairs of calls and results, and pictures in users' turns alone. */
const PAIRS: readonly Refusal[] = [
  {
    words:
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    source: "agno-agi/agno#4345",
    refuses: (body) =>
      turnsOf(body).some((turn, at, turns) => {
        const rest = turns.slice(at + 1);
        const end = rest.findIndex(({ role }) => role !== "tool");
        const answered = (end < 0 ? rest : rest.slice(0, end)).map((one) =>
          one["tool_call_id"]
        );
        return callsOf(turn).some(({ id }) => !answered.includes(id));
      }),
    bad: messages(GO, CALLS, GO),
  },
  {
    words:
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    source: "miurla/morphic#136",
    refuses: (body) =>
      turnsOf(body).some((turn, at, turns) => {
        if (turn["role"] !== "tool") return false;
        const before = turns.slice(0, at).findLast(({ role }) =>
          role !== "tool"
        );
        return before === undefined ||
          !callsOf(before).some(({ id }) => id === turn["tool_call_id"]);
      }),
    bad: messages(GO, RESULT),
  },
  {
    words:
      "Invalid 'messages[3]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
    source: "dreadnode/rigging#41",
    refuses: (body) =>
      turnsOf(body).some((turn) => turn["role"] !== "user" && hasPicture(turn)),
    bad: messages(GO, CALLS, { ...RESULT, content: PICTURE.content }),
  },
];

/** A host without further known rules. */
export const ANY_CHAT: readonly Refusal[] = PAIRS;

/** OpenAI, and Azure where it serves the same models. */
export const OPENAI: readonly Refusal[] = [
  ...PAIRS,
  {
    words:
      "Invalid 'messages[10].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 53 instead.",
    source: "agno-agi/agno#5382",
    refuses: (body) =>
      turnsOf(body).some((turn) =>
        callsOf(turn).some(({ id }) => `${id}`.length > 40)
      ),
    bad: messages(
      { ...CALLS, tool_calls: [{ ...CALL, id: "x".repeat(41) }] },
      { ...RESULT, tool_call_id: "x".repeat(41) },
    ),
  },
  {
    words:
      "Invalid schema for response_format: 'additionalProperties' is required to be supplied and to be false.",
    source: "developers.openai.com/api/docs/guides/structured-outputs",
    refuses: (body) => {
      const { json_schema: named } = objectOr(body["response_format"]);
      const { strict, schema } = objectOr(named);
      return strict === true &&
        objectOr(schema)["additionalProperties"] !== false;
    },
    bad: {
      response_format: {
        type: "json_schema",
        json_schema: { name: "x", strict: true, schema: { type: "object" } },
      },
    },
  },
];

/** OpenAI's reasoning models, also as deployments of Azure. */
export const OPENAI_NEWER_LIMIT: readonly Refusal[] = [
  ...OPENAI,
  unknownField(
    "max_tokens",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "ThinkInAIXYZ/deepchat#713",
  ),
  unknownField(
    "temperature",
    "Unsupported parameter: 'temperature' is not supported with this model.",
    "OpenHands/software-agent-sdk#1837",
  ),
];

/** The newer ones, which reason with tools in the Responses format alone. */
export const OPENAI_REASONING: readonly Refusal[] = [
  ...OPENAI_NEWER_LIMIT,
  {
    words:
      "Function tools with reasoning_effort are not supported in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    source: "openai/openai-openapi#541",
    refuses: ({ reasoning_effort: effort, tools }) =>
      effort !== undefined && effort !== "none" && list(tools).length > 0,
    bad: { reasoning_effort: "high", tools: [TOOL] },
  },
];

/** From GPT-5.6 on, also where the effort is left to the model. */
export const OPENAI_NEWEST: readonly Refusal[] = [
  ...OPENAI_NEWER_LIMIT,
  {
    words:
      "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    source: "BerriAI/litellm#34569",
    refuses: ({ reasoning_effort: effort, tools }) =>
      effort !== "none" && list(tools).length > 0,
    bad: { tools: [TOOL] },
  },
];

export const DEEPSEEK: readonly Refusal[] = [
  ...PAIRS,
  unknownRole(
    "developer",
    "Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`, `latest_reminder`",
    "theopenco/llmgateway#3462",
  ),
  noPictures(
    "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text`",
    "rikkahub/rikkahub#1433",
  ),
  {
    words: "This response_format type is unavailable now",
    source: "llm-exe/llm-exe#662",
    refuses: (body) =>
      objectOr(body["response_format"])["type"] === "json_schema",
    bad: SCHEMA,
  },
  {
    words:
      "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.",
    source: "browserbase/stagehand#1204",
    refuses: (body) =>
      objectOr(body["response_format"])["type"] === "json_object" &&
      !/json/i.test(JSON.stringify(body["messages"] ?? [])),
    bad: { response_format: { type: "json_object" }, ...messages(GO) },
  },
  {
    words: "Thinking mode does not support this tool_choice",
    source: "presenton/presenton#676",
    refuses: ({ tool_choice: choice }) =>
      choice === "required" || typeof choice === "object",
    bad: { tool_choice: "required" },
  },
  {
    words:
      "The `reasoning_content` in the thinking mode must be passed back to the API.",
    source: "openclaw/openclaw#73417",
    refuses: (body) => {
      const turns = turnsOf(body);
      return turns.some((turn) => callsOf(turn).length > 0) &&
        turns.some((turn) =>
          turn["role"] === "assistant" &&
          typeof turn["reasoning_content"] !== "string"
        );
    },
    bad: messages(GO, CALLS, RESULT),
  },
];

/** The template of Mistral's models, wherever they are served. */
export const MISTRAL_MODELS: readonly Refusal[] = [
  ...PAIRS,
  {
    words:
      "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
    source: "anomalyco/opencode#1680",
    refuses: (body) =>
      turnsOf(body).some((turn) =>
        callsOf(turn).some(({ id }) => !/^[a-zA-Z0-9]{9}$/.test(`${id}`))
      ),
    bad: messages(
      { ...CALLS, tool_calls: [{ ...CALL, id: "call_1" }] },
      { ...RESULT, tool_call_id: "call_1" },
    ),
  },
  {
    words: "Unexpected role 'user' after role 'tool'",
    source: "mistralai/mistral-common#169",
    refuses: (body) =>
      turnsOf(body).some((turn, at, turns) =>
        turn["role"] === "tool" && turns[at + 1]?.["role"] === "user"
      ),
    bad: messages(GO, CALLS, RESULT, GO),
  },
];

const EXTRA = "Extra inputs are not permitted";

/** The fields of a request (docs.mistral.ai/api, "Chat Completion"). */
const MISTRAL_FIELDS = new Set([
  "model",
  "messages",
  "max_tokens",
  "temperature",
  "top_p",
  "stream",
  "stop",
  "random_seed",
  "metadata",
  "response_format",
  "tools",
  "tool_choice",
  "presence_penalty",
  "frequency_penalty",
  "n",
  "prediction",
  "parallel_tool_calls",
  "prompt_mode",
  "reasoning_effort",
  "safe_prompt",
]);

export const MISTRAL: readonly Refusal[] = [
  ...MISTRAL_MODELS,
  {
    words: `extra_forbidden: body: ${EXTRA}`,
    source: "docs.mistral.ai/api",
    refuses: (body) =>
      Object.keys(body).some((name) => !MISTRAL_FIELDS.has(name)),
    bad: { stream_options: {} },
  },
  unknownInAssistant(
    "reasoning_content",
    `extra_forbidden: body.messages.1.assistant.reasoning_content: ${EXTRA}`,
    "charmbracelet/crush#1590",
  ),
  unknownInAssistant(
    "reasoning_details",
    `extra_forbidden: body.messages.1.assistant: ${EXTRA}`,
    "BerriAI/litellm#30882",
  ),
  unknownInAssistant(
    "extra_content",
    `extra_forbidden: body.messages.1.assistant: ${EXTRA}`,
    "BerriAI/litellm#30882",
  ),
  unknownRole(
    "developer",
    "Input tag 'developer' found using 'role' does not match any of the expected tags: 'system', 'user', 'assistant', 'tool'",
    "bramses/chatgpt-md#189",
  ),
];

export const GROQ: readonly Refusal[] = [
  ...PAIRS,
  unknownInAssistant(
    "reasoning_content",
    "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    "janhq/jan#8136",
  ),
  ...["reasoning_details", "extra_content"].map((field) =>
    unknownInAssistant(
      field,
      `'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property '${field}' is unsupported)]`,
      "tashfeenahmed/freellmapi#1093",
    )
  ),
  {
    words: "json mode cannot be combined with tool/function calling",
    source: "vercel/ai#16540",
    refuses: (body) =>
      list(body["tools"]).length > 0 &&
      /json/.test(`${objectOr(body["response_format"])["type"]}`),
    bad: { tools: [TOOL], ...SCHEMA },
  },
];

/** A text model on Groq. */
export const GROQ_TEXT: readonly Refusal[] = [
  ...GROQ,
  noPictures("messages[1].content must be a string", "vercel/ai#2837"),
];

export const CEREBRAS: readonly Refusal[] = [
  ...PAIRS,
  ...["reasoning_content", "reasoning_details", "extra_content"].map((field) =>
    unknownInAssistant(
      field,
      `messages.2.assistant.${field}: property 'messages.2.assistant.${field}' is unsupported`,
      "Kilo-Org/kilocode#10375",
    )
  ),
  {
    words: '"tools" is incompatible with "response_format"',
    source: "BerriAI/litellm#31445",
    refuses: (body) =>
      list(body["tools"]).length > 0 && body["response_format"] !== undefined,
    bad: { tools: [TOOL], ...SCHEMA },
  },
  {
    words:
      "Tools with mixed values for 'strict' are not allowed. Please set all tools to 'strict: true' or 'strict: false'",
    source: "RooCodeInc/Roo-Code#10334",
    refuses: (body) =>
      new Set(
        list(body["tools"]).map((tool) =>
          objectOr(tool["function"])["strict"] === true
        ),
      ).size > 1,
    bad: {
      tools: [TOOL, { ...TOOL, function: { name: "g", strict: true } }],
    },
  },
  ...["frequency_penalty", "presence_penalty", "logit_bias", "service_tier"]
    .map((name) =>
      unknownField(
        name,
        `property '${name}' is unsupported`,
        "pydantic/pydantic-ai providers/cerebras.py",
      )
    ),
];

export const FIREWORKS: readonly Refusal[] = [
  ...PAIRS,
  {
    words: `${EXTRA}, field: 'messages[0].cache_control'`,
    source: "routatic/proxy#53",
    refuses: (body) => hasKey(body["messages"], "cache_control"),
    bad: messages({ ...GO, cache_control: { type: "ephemeral" } }),
  },
  ...["reasoning_details", "extra_content"].map((field) =>
    unknownInAssistant(
      field,
      `${EXTRA}, field: 'messages[1].${field}'`,
      "routatic/proxy#53",
    )
  ),
];

/** Gemini 3 at Google's chat endpoints. */
export const GEMINI: readonly Refusal[] = [
  ...PAIRS,
  {
    words:
      "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.",
    source: "ai.google.dev/gemini-api/docs/thought-signatures",
    refuses: (body) =>
      turnsOf(body).some((turn) =>
        callsOf(turn).slice(0, 1).some((call) =>
          signatureOf(call) === undefined
        )
      ),
    bad: messages(GO, CALLS, RESULT),
  },
  {
    words: "Corrupted thought signature.",
    source: "heyhuynhgiabuu/proxypal#119",
    refuses: (body, maker) =>
      turnsOf(body).some((turn) =>
        callsOf(turn).some((call) => {
          const signature = signatureOf(call);
          return signature !== undefined &&
            signature !== "skip_thought_signature_validator" &&
            !isProofOf(maker, signature);
        })
      ),
    bad: messages({
      ...CALLS,
      tool_calls: [{
        ...CALL,
        extra_content: { google: { thought_signature: "eA==" } },
      }],
    }, RESULT),
  },
];

/** Gemini 3 at the Gemini API, which knows some fields alone. */
export const GEMINI_API: readonly Refusal[] = [
  ...GEMINI,
  ...([
    ["store", "liliMozi/openhanako#394"],
    ["metadata", "ed-donner/agents#45"],
    ["frequency_penalty", "MinLL/SkyrimNet-GamePlugin#77"],
    ["top_k", "MinLL/SkyrimNet-GamePlugin#77"],
  ] as const).map(([name, source]) =>
    unknownField(
      name,
      `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`,
      source,
    )
  ),
];

function signatureOf(call: JsonObject): unknown {
  return objectOr(objectOr(call["extra_content"])["google"])[
    "thought_signature"
  ];
}

/** Claude behind OpenRouter. */
export const OPENROUTER_CLAUDE: readonly Refusal[] = [
  ...PAIRS,
  {
    words: `tools.3.cache_control: ${EXTRA}`,
    source: "earendil-works/pi#7938",
    refuses: (body) => hasKey(body["tools"], "cache_control"),
    bad: { tools: [{ ...TOOL, cache_control: { type: "ephemeral" } }] },
  },
  unknownInAssistant(
    "prompt_cache_breakpoint",
    "prompt_cache_breakpoint is not a field of messages",
    "openrouter.ai/docs/features/prompt-caching",
  ),
];

/** Qwen's template, which llama.cpp, vLLM, SGLang, LM Studio and Ollama apply. */
export const QWEN: readonly Refusal[] = [
  ...PAIRS,
  {
    words: "Jinja Exception: System message must be at the beginning.",
    source: "moltis-org/moltis#317",
    refuses: (body) =>
      turnsOf(body).some(({ role }, at) => role === "system" && at > 0),
    bad: messages(GO, { role: "system", content: "x" }),
  },
  unknownRole(
    "developer",
    "Jinja Exception: Unexpected message role.",
    "ggml-org/llama.cpp#20733",
  ),
];

export const LM_STUDIO: readonly Refusal[] = [
  ...QWEN,
  {
    words: "'response_format.type' must be 'json_schema' or 'text'",
    source: "lmstudio-ai/lmstudio-bug-tracker#307",
    refuses: (body) =>
      objectOr(body["response_format"])["type"] === "json_object",
    bad: { response_format: { type: "json_object" } },
  },
  {
    words:
      "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
    source: "antropia-studio/linguito#21",
    refuses: (body) => typeof body["tool_choice"] === "object",
    bad: { tool_choice: TOOL },
  },
];

export const OLLAMA: readonly Refusal[] = [
  ...QWEN,
  {
    words: "illegal base64 data at input byte 5",
    source: "miurla/morphic#810",
    refuses: (body) =>
      turnsOf(body).some(({ content }) =>
        list(content).some(({ image_url: image }) =>
          /^https?:/.test(`${objectOr(image)["url"]}`)
        )
      ),
    bad: messages({
      role: "user",
      content: [{ type: "image_url", image_url: { url: "https://x.test" } }],
    }),
  },
  {
    words: 'invalid think value: "xhigh" (must be "high", "medium", "low")',
    source: "BerriAI/litellm#34574",
    refuses: ({ reasoning_effort: effort }) =>
      effort !== undefined &&
      !["none", "low", "medium", "high", "max"].includes(`${effort}`),
    bad: { reasoning_effort: "xhigh" },
  },
];

export const PERPLEXITY: readonly Refusal[] = [
  {
    words: "Tool calling is not supported for this model",
    source: "pipecat-ai/pipecat#4862",
    refuses: (body) => list(body["tools"]).length > 0,
    bad: { tools: [TOOL] },
    lacks: true,
  },
  {
    words:
      "After the (optional) system message(s), user and assistant roles should be alternating.",
    source: "perplexityai/api-discussion#265",
    refuses: (body) => {
      const spoken = turnsOf(body).filter(({ role }) => role !== "system");
      return spoken.some(({ role }, at) => role === spoken[at + 1]?.["role"]);
    },
    bad: messages(GO, GO),
  },
];

export const ZAI: readonly Refusal[] = [
  ...PAIRS,
  noPictures(
    "messages.content.type 参数非法，取值范围 ['text']",
    "TriDefender/zcode-api#26",
  ),
  {
    words: "Invalid API parameter, please check the documentation.",
    source: "docs.z.ai/api-reference/llm/chat-completion",
    refuses: ({ tool_choice: choice, response_format: format }) =>
      (choice !== undefined && choice !== "auto") ||
      objectOr(format)["type"] === "json_schema",
    bad: { tool_choice: "required" },
  },
];

/** xAI's reasoning models that have efforts. */
export const GROK: readonly Refusal[] = [
  ...PAIRS,
  ...["stop", "presence_penalty", "frequency_penalty"].map((name) =>
    unknownField(
      name,
      `Argument not supported on this model: ${name}`,
      "docs.x.ai/docs/guides/reasoning",
    )
  ),
];

/** Those that have none. */
export const GROK_WITHOUT_EFFORT: readonly Refusal[] = [
  ...GROK,
  unknownField(
    "reasoning_effort",
    "Model grok-4-fast-reasoning does not support parameter reasoningEffort.",
    "BerriAI/litellm#16265",
  ),
];

/** Mistral's models at Azure's endpoint for models. */
export const AZURE_MISTRAL: readonly Refusal[] = [
  ...MISTRAL_MODELS,
  unknownField(
    "max_completion_tokens",
    `max_completion_tokens: ${EXTRA}`,
    "pydantic/pydantic-ai#6593",
  ),
];
