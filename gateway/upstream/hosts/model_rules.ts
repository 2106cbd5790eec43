/**
 * What some models of a host do not take, beyond what is true of all its models. The rules are data
 * of the host table and of the presets; this file joins them with a dialect.
 */
import type {
  Capabilities,
  Effort,
} from "../../../translate/model/capabilities.ts";
import type { HostDialect, ModelRule } from "./host.ts";

/** The first rule for the model. */
export function ruleFor(
  { modelRules }: HostDialect,
  model: string,
): ModelRule | undefined {
  return modelRules?.find(({ models }) =>
    models.some((pattern) => matches(pattern, model))
  );
}

/** The dialect with the first rule for the model applied. */
export function forModel(dialect: HostDialect, model: string): HostDialect {
  const rule = ruleFor(dialect, model);
  if (rule === undefined) return dialect;
  const refuses = [...dialect.edits?.refuses ?? [], ...rule.refuses ?? []];
  return {
    ...dialect,
    capabilities: { ...dialect.capabilities, ...rule.capabilities },
    ...(refuses.length === 0 ? {} : { edits: { ...dialect.edits, refuses } }),
  };
}

function matches(pattern: string, model: string): boolean {
  const parts = pattern.toLowerCase().split("*");
  const name = model.toLowerCase();
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (parts.length === 1) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

/** Claude models that refuse marks of what to cache; their output is short. */
const CLAUDE_WITHOUT_CACHE: ModelRule = {
  models: [
    "*claude-v2*",
    "*claude-instant*",
    "*claude-3-haiku*",
    "*claude-3-sonnet*",
    "*claude-3-opus*",
    "*claude-3-5-sonnet-20240620*",
  ],
  capabilities: { cacheMarks: "none", defaultMaxTokens: 4096 },
};

/** Claude with adaptive thinking, which rejects sampling parameters and a prefilled reply. */
export const ADAPTIVE_CLAUDE: Partial<Capabilities> = {
  sampling: "none",
  reasoning: "adaptive",
  thinkingKinds: "adaptive",
  prefill: false,
  efforts: ["low", "medium", "high", "xhigh", "max"],
};

/** Claude from Opus 4.7 on (anomalyco/opencode#22863). */
const NEWEST_CLAUDE: ModelRule = {
  models: [
    "*claude-opus-4-7*",
    "*claude-opus-4-8*",
    "*claude-opus-5*",
    "*claude-sonnet-5*",
    "*claude-fable-5*",
  ],
  capabilities: ADAPTIVE_CLAUDE,
};

/** Claude with a budget of reasoning alone (docker/docker-agent#3381, diegosouzapw/OmniRoute#4713). */
const BUDGET_CLAUDE: ModelRule = {
  models: [
    "*claude-3-7*",
    "*claude-sonnet-4-20*",
    "*claude-opus-4-20*",
    "*claude-opus-4-1*",
    "*claude-sonnet-4-5*",
    "*claude-haiku-4-5*",
  ],
  capabilities: { thinkingKinds: "budget" },
  refuses: ["output_config.effort"],
};

/** Claude in the messages format. */
export const CLAUDE: readonly ModelRule[] = [
  NEWEST_CLAUDE,
  BUDGET_CLAUDE,
];

/** Claude on Bedrock in the messages format. */
export const BEDROCK_CLAUDE: readonly ModelRule[] = [
  CLAUDE_WITHOUT_CACHE,
  ...CLAUDE,
];

/**
 * Claude by `InvokeModel`, which checks requests against a schema of its own that lacks newer
 * fields for the newest models (vercel/ai `amazon-bedrock-anthropic-model-support.ts`, 2026-11-22).
 */
export const INVOKED_CLAUDE: readonly ModelRule[] = [CLAUDE_WITHOUT_CACHE, {
  ...NEWEST_CLAUDE,
  capabilities: { ...ADAPTIVE_CLAUDE, structuredOutput: false },
}, BUDGET_CLAUDE];

/**
 * Models in the Converse format. Those that are not listed refuse marks of what to cache, and have
 * caps of their own, some below the default.
 */
export const CONVERSE_MODELS: readonly ModelRule[] = [
  {
    ...CLAUDE_WITHOUT_CACHE,
    capabilities: { ...CLAUDE_WITHOUT_CACHE.capabilities, alwaysCapped: true },
  },
  {
    // "temperature is deprecated for this model" (tinovyatkin/amazon-bedrock-copilot-chat#546).
    models: NEWEST_CLAUDE.models,
    capabilities: { cacheMarks: "all", alwaysCapped: true, sampling: "none" },
  },
  {
    models: ["*anthropic.claude*"],
    capabilities: { cacheMarks: "all", alwaysCapped: true },
  },
  { models: ["*amazon.nova*"], capabilities: { cacheMarks: "prompt" } },
  { models: ["*meta.*"], capabilities: { toolChoiceRequired: false } },
];

/**
 * OpenAI's reasoning models: they reject sampling parameters and take the output limit in its newer
 * field.
 */
export const REASONING_GPT: Partial<Capabilities> = {
  maxTokensField: "max_completion_tokens",
  sampling: "none",
  penalties: false,
  maxStops: 0,
  reasoning: "effort",
  reasoningOff: true,
  verbosity: true,
};

/**
 * OpenAI's models. The newest take marks of what to cache, and settings for their cache (type
 * declarations of openai 7.57.0, 2026-11-13), and no tools in the chat format unless their reasoning
 * is off (BerriAI/litellm#34569); those before them take no effort beside tools there
 * (openai/openai-openapi#541).
 */
export const GPT: readonly ModelRule[] = [
  {
    models: ["gpt-5.6*", "gpt-6*"],
    capabilities: {
      ...REASONING_GPT,
      efforts: ["low", "medium", "high", "xhigh"],
      cacheMarks: "prompt",
    },
    preferred: {
      dialect: "responses",
      when: ["reasoning asked", "reasoning left to the model"],
    },
  },
  {
    models: ["gpt-5.4*", "gpt-5.5*"],
    preferred: { dialect: "responses", when: ["reasoning asked"] },
  },
];

const NO_STOPS: ModelRule = {
  models: [],
  capabilities: { maxStops: 0, penalties: false },
  refuses: ["stop", "presence_penalty", "frequency_penalty"],
};

function reasoningGrok(
  models: readonly string[],
  efforts: readonly Effort[],
  reasoningOff = false,
): ModelRule {
  return {
    ...NO_STOPS,
    models,
    capabilities: {
      ...NO_STOPS.capabilities,
      reasoning: "effort",
      efforts,
      reasoningOff,
    },
  };
}

/**
 * Grok: its reasoning models refuse a request for one of these fields, and some of them one with
 * an effort (docs.x.ai/docs/guides/reasoning, 2026-11-22; NousResearch/hermes-agent#23435).
 */
export const GROK: readonly ModelRule[] = [
  { models: ["*non-reasoning*"] },
  reasoningGrok(["*grok-3-mini*"], ["low", "high"]),
  reasoningGrok(["*grok-4.3*"], ["low", "medium", "high"], true),
  reasoningGrok(["*grok-4.5*"], ["low", "medium", "high"]),
  reasoningGrok(
    ["*grok-4.6*", "*grok-4.20-multi-agent*"],
    ["low", "medium", "high", "xhigh"],
  ),
  {
    ...NO_STOPS,
    // BerriAI/litellm#16265
    refuses: [...NO_STOPS.refuses ?? [], "reasoning_effort"],
    models: [
      "*grok-4*",
      "*grok-code*",
      "*grok-build*",
      "*grok-latest*",
      "*grok*-reasoning*",
    ],
  },
];

/** Models with open weights, wherever they are served in the chat format. */
export const OPEN_WEIGHTS: readonly ModelRule[] = [
  {
    // It reads text alone (huggingface.co/openai/gpt-oss-120b).
    models: ["*gpt-oss*"],
    capabilities: {
      reasoning: "effort",
      efforts: ["low", "medium", "high"],
      images: false,
    },
  },
  {
    // "Unexpected role 'user' after role 'tool'" (mistralai/mistral-common#169), and ids of nine
    // letters (anomalyco/opencode#1680).
    models: [
      "*mistral*",
      "*ministral*",
      "*mixtral*",
      "*codestral*",
      "*devstral*",
      "*magistral*",
      "*pixtral*",
      "*voxtral*",
    ],
    capabilities: { userAfterTool: false, callIdForm: "alnum9" },
  },
];

/** Reasoning models on Fireworks (docs.fireworks.ai/guides/reasoning, 2026-11-28). */
export const FIREWORKS_MODELS: readonly ModelRule[] = [{
  models: [
    "*deepseek*",
    "*glm*",
    "*kimi*",
    "*minimax*",
    "*qwen3*",
  ],
  capabilities: { reasoning: "effort" },
}];

/** DeepSeek at its maker (api-docs.deepseek.com/guides/thinking_mode, 2026-11-28). */
export const DEEPSEEK: readonly ModelRule[] = [{
  models: ["deepseek-v4*"],
  capabilities: { reasoning: "effort", efforts: ["low", "high", "max"] },
}];

/** GLM at its maker: those that see are named so (TriDefender/zcode-api#26, justrach/codegraff#812). */
export const GLM: readonly ModelRule[] = [
  { models: ["glm-*v*", "glm-5.3*"] },
  { models: ["glm-*"], capabilities: { images: false } },
];

/** Claude behind OpenRouter (openrouter.ai/docs/features/prompt-caching, 2026-11-28). */
export const OPENROUTER_MODELS: readonly ModelRule[] = [{
  models: ["anthropic/*"],
  capabilities: { cacheMarks: "prompt", cacheWord: "cache_control" },
}];

/** GLM on Cerebras (pydantic-ai `providers/cerebras.py`, 2026-11-22). */
export const CEREBRAS_MODELS: readonly ModelRule[] = [{
  models: ["zai-*"],
  capabilities: { reasoningTags: true, takesReasoning: true },
}];

/**
 * Gemini at Google's chat endpoints: newer models refuse a turn whose first call is unsigned
 * (ai.google.dev/gemini-api/docs/thought-signatures, 2026-11-28).
 */
export const GEMINI_CHAT: Partial<Capabilities> = {
  reasoning: "effort",
  proofFields: "google",
  signedCalls: true,
};

/** Gemini before 3, which checks no signatures; before 2.5 it does not reason. */
export const OLDER_GEMINI: readonly ModelRule[] = [
  {
    models: ["*gemini-2.5*"],
    capabilities: { ...GEMINI_CHAT, signedCalls: false },
  },
  {
    models: ["*gemini-1*", "*gemini-2*"],
    capabilities: { ...GEMINI_CHAT, signedCalls: false, reasoning: "none" },
  },
];

/** Models of several makers at Vertex AI's chat endpoint. */
export const VERTEX_CHAT: readonly ModelRule[] = [
  ...GROK,
  ...OLDER_GEMINI,
  { models: ["*gemini*"], capabilities: GEMINI_CHAT },
];
