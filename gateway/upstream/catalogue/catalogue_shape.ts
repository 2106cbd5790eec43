/**
 * The shape of the file that `GATEWAY_CONFIG` names; `catalogue_file.ts` parses it and checks
 * across its rows.
 */
import { z } from "zod";
import { signInSettings } from "../../console/sign_in_settings.ts";
import { priceShape } from "./price_shape.ts";
import { routeName, routeSettings } from "./route_settings.ts";
import { vendorSettings } from "./vendor_settings.ts";

const capabilityOverrides = z.strictObject({
  maxOutputTokens: z.int().positive(),
  minOutputTokens: z.int().positive(),
  defaultMaxTokens: z.int().positive(),
  maxTokensField: z.enum(["max_tokens", "max_completion_tokens"]),
  sampling: z.enum(["all", "one", "none"]),
  maxTemperature: z.number().positive(),
  topK: z.boolean(),
  seed: z.boolean(),
  penalties: z.boolean(),
  verbosity: z.boolean(),
  maxStops: z.int().nonnegative(),
  systemAnywhere: z.boolean(),
  userAfterTool: z.boolean(),
  developerRole: z.boolean(),
  reasoning: z.enum(["none", "effort", "budget", "adaptive", "level"]),
  efforts: z.array(
    z.enum(["minimal", "low", "medium", "high", "xhigh", "max"]),
  ),
  thinkingKinds: z.enum(["any", "budget", "adaptive"]),
  maxReasoningBudget: z.int().positive(),
  reasoningOff: z.boolean(),
  replayReasoning: z.boolean(),
  reasoningBesideCalls: z.boolean(),
  takesReasoning: z.boolean(),
  proofFields: z.enum(["none", "passed", "details", "google"]),
  signedCalls: z.boolean(),
  maxToolName: z.int().min(16),
  maxToolCallId: z.int().min(40),
  callIdForm: z.enum(["any", "alnum9"]),
  toolChoiceRequired: z.boolean(),
  cachedBesidePrompt: z.boolean(),
  strictTools: z.boolean(),
  files: z.boolean(),
  images: z.boolean(),
  jsonObject: z.boolean(),
  parallelToggle: z.boolean(),
  customTools: z.boolean(),
  toolGroups: z.boolean(),
  imagesInToolResult: z.boolean(),
  mediaUrls: z.boolean(),
  threads: z.boolean(),
  prefill: z.boolean(),
  schema: z.enum(["json_schema", "openapi", "strict_subset"]),
  structuredOutput: z.boolean(),
  formatBesideTools: z.boolean(),
  promptCaching: z.boolean(),
  cacheMarks: z.enum(["none", "prompt", "all"]),
  cacheWord: z.enum(["prompt_cache_breakpoint", "cache_control"]),
  webSearch: z.boolean(),
  alwaysCapped: z.boolean(),
  reasoningTags: z.boolean(),
  thinkTags: z.boolean(),
  callIds: z.boolean(),
  includeUsage: z.boolean(),
  encryptedReasoning: z.boolean(),
}).partial();

const timeLimit = z.number().positive().max(86_400);

const callTimeouts = z.strictObject({
  connect_seconds: timeLimit,
  first_byte_seconds: timeLimit,
  idle_seconds: timeLimit,
}).partial();

const candidateOverride = z.strictObject({
  vendor: z.string().min(1),
  upstream_model: z.string().min(1),
  dialect: z.enum([
    "messages",
    "chat_completions",
    "generate_content",
    "responses",
  ]).optional(),
  priority: z.int().nonnegative().optional(),
  weight: z.number().positive().max(1_000_000).optional(),
  route: z.string().min(1).optional(),
  betas: z.array(z.string().min(1)).optional(),
  allowed_betas: z.array(z.string().min(1)).optional(),
  vector_space: z.string().min(1).max(100).optional(),
  capabilities: capabilityOverrides.optional(),
  timeouts: callTimeouts.optional(),
});

const modelOverride = z.strictObject({
  display_name: z.string().min(1),
  created: z.int().nonnegative(),
  vendor: z.string().min(1),
  upstream_model: z.string().min(1),
  betas: z.array(z.string().min(1)),
  allowed_betas: z.array(z.string().min(1)),
  context_tokens: z.int().positive(),
  price: priceShape.nullable(),
  free: z.literal(true),
  alias: z.string().min(1),
  operations: z.array(z.string()).min(1),
  allowed: z.record(
    z.string().min(1),
    z.array(z.union([z.string(), z.number(), z.boolean()])),
  ),
  capabilities: capabilityOverrides,
  candidates: z.array(candidateOverride).min(1),
  timeouts: callTimeouts.extend({ total_seconds: timeLimit }).partial(),
}).partial();

/** The shape of the whole file. */
export const catalogueShape = z.strictObject({
  vendors: z.record(
    z.string().regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
      "must be a name of letters, digits, dots, dashes and underscores",
    ),
    vendorSettings,
  ),
  models: z.record(z.string().min(1), modelOverride.nullable()),
  routes: z.record(routeName, routeSettings),
  sign_in: signInSettings,
}).partial();

/** Overrides of one model: fields of a built-in row to change, or those of a new row. */
export type ModelOverride = z.infer<typeof modelOverride>;

/** Overrides of one of a model's candidates. */
export type CandidateOverride = z.infer<typeof candidateOverride>;

/** Content of the overrides file. */
export type CatalogueOverrides = z.infer<typeof catalogueShape>;
