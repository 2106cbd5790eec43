/**
 * Every host of the gateway as it treats an agent: the rules that it applies, and how it writes.
 * A host whose models differ has a row for each kind of model.
 */
import type { HostKind } from "../../../../gateway/upstream/hosts/host.ts";
import * as chat from "./chat_rules.ts";
import {
  INVOKE,
  MINIMAX,
  NEWEST_CLAUDE,
  RAW_PREDICT,
} from "./messages_rules.ts";
import { CONVERSE, GEMINI_NATIVE, RESPONSES } from "./other_rules.ts";
import type { Refusal } from "./refusal.ts";
import type { ReasoningPlace, ReplyFormat } from "./replies.ts";

/** The rules of a host for each format in which it is called. */
export type Rules = Readonly<Partial<Record<ReplyFormat, readonly Refusal[]>>>;

/** A host, with one of its models. */
export interface StrictHost {
  readonly kind: HostKind;
  /** Preset of `openai_compatible`; absent there: any other host. */
  readonly preset?: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly model: string;
  /** A built-in model whose capabilities the operator's row has. */
  readonly like?: string;
  readonly rules: Rules;
  /** Who signs: proofs of one maker are valid at all its hosts. */
  readonly maker?: string;
  readonly reasoning?: ReasoningPlace;
  /** The name of the output limit that it reads; absent: either. */
  readonly limit?: "max_tokens";
  /** Writes the id of a call; absent: as OpenAI does. */
  readonly callId?: (number: number, at: number) => string;
  /** True: a token of Google Cloud; absent: a key, or none for a preset. */
  readonly token?: true;
}

const claude = (
  kind: HostKind,
  model: string,
  rules: Rules = { messages: NEWEST_CLAUDE },
  more: Partial<StrictHost> = {},
): StrictHost => ({
  kind,
  model,
  rules,
  maker: "Anthropic",
  callId: (number, at) => `toolu_${number}_${at}`,
  ...more,
});

const preset = (
  name: string,
  model: string,
  rules: readonly Refusal[],
  reasoning: ReasoningPlace,
  more: Partial<StrictHost> = {},
): StrictHost => ({
  kind: "openai_compatible",
  preset: name,
  model,
  rules: { chat: rules },
  reasoning,
  ...more,
});

const REGION = { region: "us-east-1" };
const RESOURCE = { resource: "contoso" };
const PROJECT = { project: "contoso-ml", location: "europe-west1" };
const WORKSPACE = { workspace: "wrkspc_01" };
const GOOGLE = { maker: "Google" };
/**
 * api-docs.deepseek.com/api/create-chat-completion, docs.mistral.ai/api,
 * lmstudio.ai/docs/developer/openai-compat/chat-completions,
 * docs.ollama.com/api/openai-compatibility: each has `max_tokens` alone.
 */
const OLDER_LIMIT = { limit: "max_tokens" } as const;

/** As Mistral's own API writes them. */
const nineLetters = (number: number, at: number): string =>
  `m${`${number}`.padStart(7, "0")}${at}`;
/** As Kimi writes them. */
const functionNames = (number: number, at: number): string =>
  `functions.tool:${number}${at}`;
/** As vLLM writes them. */
const longIds = (number: number, at: number): string =>
  `chatcmpl-tool-${`${number}`.padStart(31, "0")}${at}`;

/** The hosts by a name of their own. */
export const STRICT_HOSTS: Readonly<Record<string, StrictHost>> = {
  vendora: claude("vendora", "claude-opus-4-8"),
  vendorb: {
    kind: "vendorb",
    model: "gpt-5.5",
    rules: { chat: chat.OPENAI_REASONING, responses: RESPONSES },
    maker: "OpenAI",
  },
  vendorb_gpt_6: {
    kind: "vendorb",
    model: "gpt-6-sol",
    rules: { chat: chat.OPENAI_NEWEST, responses: RESPONSES },
    maker: "OpenAI",
  },
  vendorc: {
    kind: "vendorc",
    model: "gemini-3-pro",
    rules: { generate: GEMINI_NATIVE },
    ...GOOGLE,
  },
  vendord: {
    kind: "vendord",
    model: "MiniMax-M3",
    rules: { messages: MINIMAX, chat: chat.ANY_CHAT },
    maker: "MiniMax",
    reasoning: "reasoning_content",
  },
  azure_openai: {
    kind: "azure_openai",
    settings: RESOURCE,
    model: "gpt-5-we",
    like: "vendorb-5",
    rules: { chat: chat.OPENAI_NEWER_LIMIT },
  },
  azure_deployments: {
    kind: "azure_deployments",
    settings: { ...RESOURCE, api_version: "2024-10-21" },
    model: "gpt-5-we",
    like: "vendorb-5",
    rules: { chat: chat.OPENAI_NEWER_LIMIT },
  },
  azure_models: {
    kind: "azure_models",
    settings: RESOURCE,
    model: "Mistral-large",
    rules: { chat: chat.AZURE_MISTRAL },
    callId: nineLetters,
  },
  foundry_messages: claude("foundry_messages", "claude-opus-4-8", undefined, {
    settings: RESOURCE,
  }),
  bedrock_messages: claude(
    "bedrock_messages",
    "anthropic.claude-opus-4-8",
    undefined,
    { settings: REGION },
  ),
  bedrock_chat: {
    kind: "bedrock_chat",
    settings: REGION,
    model: "openai.gpt-oss-120b-1:0",
    rules: { chat: chat.ANY_CHAT },
    reasoning: "reasoning",
  },
  bedrock_invoke: claude(
    "bedrock_invoke",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    { invoke: INVOKE },
    { settings: REGION },
  ),
  bedrock_converse: claude(
    "bedrock_converse",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    { converse: CONVERSE },
    { settings: REGION },
  ),
  mantle_messages: claude(
    "mantle_messages",
    "anthropic.claude-sonnet-5",
    undefined,
    { settings: REGION },
  ),
  mantle_chat: {
    kind: "mantle_chat",
    settings: REGION,
    model: "deepseek.v3.2",
    rules: { chat: chat.ANY_CHAT },
    reasoning: "reasoning_content",
  },
  claude_aws: claude("claude_aws", "claude-opus-4-8", undefined, {
    settings: { ...REGION, ...WORKSPACE },
  }),
  vertex_gemini: {
    kind: "vertex_gemini",
    settings: PROJECT,
    model: "gemini-3-pro",
    rules: { generate: GEMINI_NATIVE },
    token: true,
    ...GOOGLE,
  },
  vertex_express: {
    kind: "vertex_express",
    model: "gemini-3-pro",
    rules: { generate: GEMINI_NATIVE },
    ...GOOGLE,
  },
  vertex_claude: claude(
    "vertex_claude",
    "claude-sonnet-4-5@20250929",
    { messages: RAW_PREDICT },
    { settings: PROJECT, token: true },
  ),
  vertex_chat: {
    kind: "vertex_chat",
    settings: PROJECT,
    model: "google/gemini-3-pro",
    rules: { chat: chat.GEMINI },
    reasoning: "signatures",
    token: true,
    ...GOOGLE,
  },
  google_claude: claude("google_claude", "claude-opus-4-8", undefined, {
    settings: { project: "contoso-ml", ...WORKSPACE },
    token: true,
  }),
  openai_compatible: {
    kind: "openai_compatible",
    model: "m",
    rules: { chat: chat.ANY_CHAT },
    reasoning: "reasoning_content",
  },
  azure: preset("azure", "gpt-5-we", chat.OPENAI_NEWER_LIMIT, "none", {
    like: "vendorb-5",
  }),
  cerebras: preset("cerebras", "gpt-oss-120b", chat.CEREBRAS, "reasoning"),
  crusoe: preset(
    "crusoe",
    "deepseek-ai/DeepSeek-V3.1",
    chat.ANY_CHAT,
    "reasoning_content",
  ),
  deepseek: preset(
    "deepseek",
    "deepseek-v4-pro",
    chat.DEEPSEEK,
    "reasoning_content",
    OLDER_LIMIT,
  ),
  fireworks: preset(
    "fireworks",
    "accounts/fireworks/models/glm-5",
    chat.FIREWORKS,
    "reasoning_content",
  ),
  google: preset(
    "google",
    "gemini-3-flash",
    chat.GEMINI_API,
    "signatures",
    GOOGLE,
  ),
  groq: preset("groq", "openai/gpt-oss-120b", chat.GROQ_TEXT, "reasoning"),
  huggingface: preset(
    "huggingface",
    "Qwen/Qwen3.5-122B-A10B",
    chat.QWEN,
    "none",
  ),
  llamacpp: preset("llamacpp", "qwen3.5", chat.QWEN, "tags"),
  lmstudio: preset("lmstudio", "qwen3.5", chat.LM_STUDIO, "tags", OLDER_LIMIT),
  mistral: preset("mistral", "mistral-large-latest", chat.MISTRAL, "content", {
    ...OLDER_LIMIT,
    callId: nineLetters,
  }),
  ollama: preset(
    "ollama",
    "gpt-oss:20b",
    chat.OLLAMA,
    "reasoning",
    OLDER_LIMIT,
  ),
  openrouter: preset(
    "openrouter",
    "anthropic/claude-opus-4.8",
    chat.OPENROUTER_CLAUDE,
    "details",
    { maker: "Anthropic", callId: (number, at) => `toolu_${number}_${at}` },
  ),
  openrouter_gemini: preset(
    "openrouter",
    "google/gemini-3-pro",
    chat.ANY_CHAT,
    "sealed",
    GOOGLE,
  ),
  perplexity: preset("perplexity", "sonar-pro", chat.PERPLEXITY, "none"),
  sglang: preset("sglang", "qwen3.5", chat.QWEN, "tags"),
  snowflake: preset("snowflake", "llama4-maverick", chat.ANY_CHAT, "none"),
  together: preset(
    "together",
    "moonshotai/Kimi-K2.6",
    chat.ANY_CHAT,
    "reasoning",
    { callId: functionNames },
  ),
  vllm: preset("vllm", "Qwen/Qwen3.5-27B", chat.QWEN, "reasoning", {
    callId: longIds,
  }),
  vllm_devstral: preset(
    "vllm",
    "mistralai/Devstral-Small-2-24B",
    chat.MISTRAL_MODELS,
    "none",
    { callId: nineLetters },
  ),
  xai: preset("xai", "grok-4.6", chat.GROK, "reasoning_content"),
  xai_grok_4_fast: preset(
    "xai",
    "grok-4-fast-reasoning",
    chat.GROK_WITHOUT_EFFORT,
    "reasoning_content",
  ),
  zai: preset("zai", "glm-5", chat.ZAI, "reasoning_content"),
};
