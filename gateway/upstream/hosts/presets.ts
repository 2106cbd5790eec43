/**
 * Presets of hosts that have the chat-completion format: public address, abilities and habits, as
 * observed in recorded calls or documented by the host. Data only. How their replies differ is in
 * the decoders, which read all of them without knowing the host.
 */
import type { BodyEdits } from "../../../translate/body_edits.ts";
import type { HostErrors } from "../../../translate/host_errors.ts";
import type { Capabilities } from "../../../translate/model/capabilities.ts";
import type { ModelRule } from "./host.ts";
import {
  CEREBRAS_MODELS,
  DEEPSEEK,
  FIREWORKS_MODELS,
  GEMINI_CHAT,
  GLM,
  GROK,
  OLDER_GEMINI,
  OPENROUTER_MODELS,
} from "./model_rules.ts";

/** The habits of one compatible host. */
export interface Preset {
  /** Its public or usual address; absent: each installation has its own. */
  readonly base?: string;
  /** Differences from the defaults of the chat format. */
  readonly capabilities?: Partial<Capabilities>;
  /** Changes to its requests. */
  readonly edits?: BodyEdits;
  /** What is different for some of its models; absent: nothing. */
  readonly modelRules?: readonly ModelRule[];
  /** Whose error form it uses beside the format's own; absent: that of compatible hosts. */
  readonly errors?: HostErrors;
  /** See `Host` in `host.ts`. */
  readonly billsCancelled?: true;
}

/** Hosts that know the older name only, and ignore the newer one. */
const OLDER_LIMIT: BodyEdits = {
  rename: { max_completion_tokens: "max_tokens" },
};

/** Chat templates of open models take one system turn, at the start. */
const OPEN_MODELS: Partial<Capabilities> = { systemAnywhere: false };

/** Servers that refuse or ignore a demand for a tool call. */
const FREE_CHOICE: Partial<Capabilities> = {
  ...OPEN_MODELS,
  toolChoiceRequired: false,
};

/** Servers of open models whose reasoning is in tags unless they are started with a parser. */
const OWN_SERVER: Partial<Capabilities> = { ...FREE_CHOICE, thinkTags: true };

/** The presets by the name that the configuration file uses. */
export const PRESETS: Readonly<Record<string, Preset>> = {
  azure: {
    capabilities: { files: false, developerRole: true },
    errors: "azure",
  },
  cerebras: {
    base: "https://api.cerebras.ai/v1",
    // Any of these is refused (pydantic-ai `providers/cerebras.py`).
    // It refuses reasoning in messages (vercel/ai#15416), a form of the reply beside tools
    // (BerriAI/litellm#31445), and strict tools beside others (RooCodeInc/Roo-Code#10334).
    capabilities: {
      formatBesideTools: false,
      strictTools: false,
      penalties: false,
      takesReasoning: false,
      proofFields: "none",
    },
    edits: {
      refuses: [
        "frequency_penalty",
        "presence_penalty",
        "logit_bias",
        "service_tier",
      ],
    },
    modelRules: CEREBRAS_MODELS,
  },
  crusoe: { capabilities: OPEN_MODELS },
  deepseek: {
    base: "https://api.deepseek.com/v1",
    // Its reasoning models refuse a required call, and want their reasoning back once there are
    // calls, in each turn of the assistant (openclaw/openclaw#73417). A schema is refused ("This
    // response_format type is unavailable now"), and so are pictures (rikkahub/rikkahub#1433).
    capabilities: {
      images: false,
      replayReasoning: true,
      reasoningBesideCalls: true,
      toolChoiceRequired: false,
      structuredOutput: false,
      files: false,
      strictTools: false,
    },
    modelRules: DEEPSEEK,
    edits: OLDER_LIMIT,
  },
  fireworks: {
    base: "https://api.fireworks.ai/inference/v1",
    // Fields of messages that it does not know are refused.
    capabilities: { efforts: ["low", "medium", "high"], proofFields: "none" },
    modelRules: FIREWORKS_MODELS,
  },
  google: {
    base: "https://generativelanguage.googleapis.com/v1beta/openai",
    billsCancelled: true,
    // Fields that it does not know are refused (liliMozi/openhanako#394, ed-donner/agents#45,
    // MinLL/SkyrimNet-GamePlugin#77).
    capabilities: { ...GEMINI_CHAT, penalties: false },
    edits: {
      refuses: [
        "store",
        "metadata",
        "frequency_penalty",
        "presence_penalty",
        "top_k",
        "prompt_cache_key",
        "prompt_cache_options",
      ],
    },
    modelRules: OLDER_GEMINI,
  },
  groq: {
    base: "https://api.groq.com/openai/v1",
    billsCancelled: true,
    // Earlier reasoning has another name there, and its service tiers are its own. A form of the
    // reply beside tools is refused (vercel/ai#16540).
    capabilities: {
      formatBesideTools: false,
      takesReasoning: false,
      proofFields: "none",
      files: false,
    },
    edits: { refuses: ["service_tier", "top_k"] },
  },
  huggingface: {
    base: "https://router.huggingface.co/v1",
    billsCancelled: true,
    capabilities: OPEN_MODELS,
  },
  llamacpp: {
    base: "http://127.0.0.1:8080/v1",
    capabilities: { ...OPEN_MODELS, thinkTags: true, files: false },
  },
  lmstudio: {
    base: "http://127.0.0.1:1234/v1",
    capabilities: { ...OWN_SERVER, jsonObject: false, files: false },
    edits: OLDER_LIMIT,
  },
  mistral: {
    base: "https://api.mistral.ai/v1",
    billsCancelled: true,
    // A prefilled turn is repeated in the reply. Usage comes without being asked for.
    capabilities: {
      callIdForm: "alnum9",
      prefill: false,
      userAfterTool: false,
      includeUsage: false,
      files: false,
      takesReasoning: false,
      proofFields: "none",
    },
    // Fields that it does not know are refused.
    edits: {
      remove: ["stream_options"],
      rename: { ...OLDER_LIMIT.rename, seed: "random_seed" },
      replace: { tool_choice: { required: "any" } },
      refuses: [
        "service_tier",
        "logprobs",
        "top_logprobs",
        "logit_bias",
        "user",
        "safety_identifier",
        "store",
        "prompt_cache_key",
        "prompt_cache_options",
        "verbosity",
      ],
    },
  },
  ollama: {
    base: "http://127.0.0.1:11434/v1",
    capabilities: { ...OWN_SERVER, mediaUrls: false, files: false },
    edits: OLDER_LIMIT,
  },
  openrouter: {
    base: "https://openrouter.ai/api/v1",
    // It wants the reasoning of Claude, Gemini and others back beside their calls
    // (openrouter.ai/docs/guides/best-practices/reasoning-tokens, 2026-11-28).
    capabilities: {
      ...OPEN_MODELS,
      proofFields: "details",
      reasoning: "effort",
      efforts: ["minimal", "low", "medium", "high", "xhigh"],
      reasoningOff: true,
    },
    modelRules: OPENROUTER_MODELS,
    edits: OLDER_LIMIT,
  },
  perplexity: {
    base: "https://api.perplexity.ai",
    billsCancelled: true,
    capabilities: { files: false },
    edits: OLDER_LIMIT,
  },
  sglang: {
    base: "http://127.0.0.1:30000/v1",
    capabilities: { ...OWN_SERVER, files: false },
  },
  snowflake: { capabilities: OPEN_MODELS },
  together: {
    base: "https://api.together.xyz/v1",
    capabilities: OPEN_MODELS,
    edits: OLDER_LIMIT,
  },
  vllm: {
    base: "http://127.0.0.1:8000/v1",
    capabilities: { ...OWN_SERVER, files: false },
  },
  xai: {
    base: "https://api.x.ai/v1",
    capabilities: { cachedBesidePrompt: true },
    modelRules: GROK,
  },
  zai: {
    base: "https://api.z.ai/api/paas/v4",
    // `tool_choice` is `auto` only, and a schema is not known
    // (docs.z.ai/api-reference/llm/chat-completion).
    capabilities: { toolChoiceRequired: false, structuredOutput: false },
    modelRules: GLM,
  },
};
