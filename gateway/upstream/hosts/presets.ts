/**
 * Presets of hosts that have the chat-completion format: public address, abilities and habits, as
 * observed in recorded calls or documented by the host. Data only.
 *
 * @module
 */
import type { BodyEdits } from "../../../translate/body_edits.ts";
import type { HostErrors } from "../../../translate/host_errors.ts";
import type { Capabilities } from "../../../translate/model/capabilities.ts";

/** The habits of one compatible host. */
export interface Preset {
  /** Its public or usual address; absent: each installation has its own. */
  readonly base?: string;
  /** Differences from the defaults of the chat format. */
  readonly capabilities?: Partial<Capabilities>;
  /** Changes to its requests. */
  readonly edits?: BodyEdits;
  /** Whose error form it uses beside the format's own. */
  readonly errors?: HostErrors;
}

/** A server that ignores or refuses a required tool call, and takes one leading system turn. */
const LOCAL_SERVER: Partial<Capabilities> = { systemAnywhere: false };

/** The presets by the name that the configuration file uses. */
export const PRESETS: Readonly<Record<string, Preset>> = {
  azure: { capabilities: { files: false }, errors: "azure" },
  cerebras: { base: "https://api.cerebras.ai/v1" },
  crusoe: {},
  deepseek: {
    base: "https://api.deepseek.com/v1",
    capabilities: { replayReasoning: true },
  },
  fireworks: {
    base: "https://api.fireworks.ai/inference/v1",
    capabilities: { efforts: ["low", "medium", "high"] },
  },
  google: { base: "https://generativelanguage.googleapis.com/v1beta/openai" },
  groq: {
    base: "https://api.groq.com/openai/v1",
    capabilities: { takesReasoning: false },
  },
  huggingface: { base: "https://router.huggingface.co/v1" },
  llamacpp: {
    base: "http://127.0.0.1:8080/v1",
    capabilities: LOCAL_SERVER,
  },
  lmstudio: {
    base: "http://127.0.0.1:1234/v1",
    capabilities: LOCAL_SERVER,
  },
  mistral: {
    base: "https://api.mistral.ai/v1",
    capabilities: { prefill: false, includeUsage: false },
  },
  ollama: {
    base: "http://127.0.0.1:11434/v1",
    capabilities: { ...LOCAL_SERVER, mediaUrls: false },
  },
  openrouter: {
    base: "https://openrouter.ai/api/v1",
    capabilities: { systemAnywhere: false },
  },
  perplexity: { base: "https://api.perplexity.ai" },
  sglang: {
    base: "http://127.0.0.1:30000/v1",
    capabilities: LOCAL_SERVER,
  },
  snowflake: {},
  together: { base: "https://api.together.xyz/v1" },
  vllm: {
    base: "http://127.0.0.1:8000/v1",
    capabilities: LOCAL_SERVER,
  },
  xai: { base: "https://api.x.ai/v1" },
  zai: { base: "https://api.z.ai/api/paas/v4" },
};
