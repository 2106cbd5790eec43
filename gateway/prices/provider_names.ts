/**
 * How the price tables call the places where models are called.
 */
import type { HostKind } from "../upstream/hosts/host.ts";
import type { TableKind } from "./price_table.ts";

/** A provider's names by table; a star at the end is any text. */
type ProviderNames = Partial<Readonly<Record<TableKind, readonly string[]>>>;

const AZURE: ProviderNames = {
  litellm: ["azure"],
  "models.dev": ["azure"],
};
const AZURE_AI: ProviderNames = {
  litellm: ["azure_ai"],
  "models.dev": ["azure", "azure-cognitive-services"],
};
const BEDROCK: ProviderNames = {
  litellm: ["bedrock*"],
  "models.dev": ["amazon-bedrock"],
};
const VERTEX: ProviderNames = {
  litellm: ["vertex_ai*"],
  "models.dev": ["google-vertex"],
};
const VERTEX_CLAUDE: ProviderNames = {
  litellm: ["vertex_ai*"],
  "models.dev": ["google-vertex-anthropic", "google-vertex"],
};

/** By host; a compatible host is known by its preset. Hosts that no table knows are absent. */
const HOSTS: Partial<Readonly<Record<HostKind, ProviderNames>>> = {
  vendora: {
    litellm: ["anthropic"],
    "models.dev": ["anthropic"],
    openrouter: ["anthropic"],
  },
  vendorb: {
    litellm: ["openai"],
    "models.dev": ["openai"],
    openrouter: ["openai"],
  },
  vendorc: {
    litellm: ["gemini"],
    "models.dev": ["google"],
    openrouter: ["google"],
  },
  vendord: {
    litellm: ["minimax"],
    "models.dev": ["minimax"],
    openrouter: ["minimax"],
  },
  azure_openai: AZURE,
  azure_deployments: AZURE,
  azure_models: AZURE_AI,
  foundry_messages: AZURE_AI,
  bedrock_messages: BEDROCK,
  bedrock_chat: BEDROCK,
  bedrock_invoke: BEDROCK,
  bedrock_converse: BEDROCK,
  mantle_messages: BEDROCK,
  mantle_chat: BEDROCK,
  vertex_gemini: VERTEX,
  vertex_express: VERTEX,
  vertex_chat: VERTEX,
  vertex_claude: VERTEX_CLAUDE,
};

/** By preset, where a table's name differs from the preset's. */
const PRESETS: Readonly<Record<string, ProviderNames>> = {
  azure: AZURE,
  deepseek: { openrouter: ["deepseek"] },
  fireworks: { litellm: ["fireworks_ai"], "models.dev": ["fireworks-ai"] },
  google: {
    litellm: ["gemini"],
    "models.dev": ["google"],
    openrouter: ["google"],
  },
  mistral: { openrouter: ["mistralai"] },
  openrouter: { openrouter: ["openrouter"] },
  together: { litellm: ["together_ai"], "models.dev": ["togetherai"] },
  xai: { openrouter: ["x-ai"] },
  zai: { openrouter: ["z-ai"] },
};

/** The names that a table may use for a host. */
export function providerNames(
  table: TableKind,
  kind: HostKind,
  preset: string | undefined,
): readonly string[] {
  if (kind !== "openai_compatible") return HOSTS[kind]?.[table] ?? [];
  if (preset === undefined) return [];
  return PRESETS[preset]?.[table] ?? (table === "openrouter" ? [] : [preset]);
}
