/**
 * The name of a vendor in OpenTelemetry's conventions (`gen_ai.provider.name`).
 */
import type { Vendor } from "../upstream/catalogue/vendors.ts";
import type { HostKind } from "../upstream/hosts/host.ts";

const BEDROCK = "aws.bedrock";
const VERTEX = "gcp.vertex_ai";

/** By host; a compatible host is known by the name that the configuration file gives it. */
const NAMES: Readonly<Record<HostKind, string | undefined>> = {
  vendora: "anthropic",
  vendorb: "openai",
  vendorc: "gcp.gemini",
  vendord: "minimax",
  azure_openai: "azure.ai.openai",
  azure_deployments: "azure.ai.openai",
  azure_models: "azure.ai.inference",
  foundry_messages: "azure.ai.inference",
  bedrock_messages: BEDROCK,
  bedrock_chat: BEDROCK,
  bedrock_invoke: BEDROCK,
  bedrock_converse: BEDROCK,
  mantle_messages: BEDROCK,
  mantle_chat: BEDROCK,
  claude_aws: "anthropic",
  vertex_gemini: VERTEX,
  vertex_claude: VERTEX,
  vertex_chat: VERTEX,
  vertex_express: VERTEX,
  google_claude: VERTEX,
  openai_compatible: undefined,
};

/** Usual names of compatible hosts that the conventions spell in another way. */
const SPELLINGS: Readonly<Record<string, string>> = {
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  xai: "x_ai",
};

/** @param vendor undefined: no longer configured */
export function providerName(
  vendor: Pick<Vendor, "name" | "kind"> | undefined,
): string {
  if (vendor === undefined) return "_OTHER";
  return NAMES[vendor.kind] ?? SPELLINGS[vendor.name] ?? vendor.name;
}
