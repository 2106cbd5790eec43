/**
 * The file that `GATEWAY_CONFIG` names: its shape, and reading it. What it changes, `catalogue.ts` knows.
 *
 * @module
 */
import { z } from "zod";

const capabilityOverrides = z.strictObject({
  maxOutputTokens: z.int().positive(),
  defaultMaxTokens: z.int().positive(),
  maxTokensField: z.enum(["max_tokens", "max_completion_tokens"]),
  sampling: z.enum(["all", "one", "none"]),
  maxTemperature: z.number().positive(),
  topK: z.boolean(),
  seed: z.boolean(),
  penalties: z.boolean(),
  maxStops: z.int().nonnegative(),
  systemAnywhere: z.boolean(),
  reasoning: z.enum(["none", "effort", "budget", "adaptive", "level"]),
  efforts: z.array(
    z.enum(["minimal", "low", "medium", "high", "xhigh", "max"]),
  ),
  maxReasoningBudget: z.int().positive(),
  reasoningOff: z.boolean(),
  replayReasoning: z.boolean(),
  maxToolName: z.int().min(16),
  maxToolCallId: z.int().min(40),
  parallelToggle: z.boolean(),
  imagesInToolResult: z.boolean(),
  mediaUrls: z.boolean(),
  prefill: z.boolean(),
  schema: z.enum(["json_schema", "openapi", "strict_subset"]),
  structuredOutput: z.boolean(),
  callIds: z.boolean(),
  includeUsage: z.boolean(),
}).partial();

const modelOverride = z.strictObject({
  display_name: z.string().min(1),
  created: z.int().nonnegative(),
  vendor: z.enum(["vendora", "vendorb", "vendorc", "vendord"]),
  upstream_model: z.string().min(1),
  betas: z.array(z.string().min(1)),
  context_tokens: z.int().positive(),
  price: z.strictObject({
    input: z.int().nonnegative(),
    output: z.int().nonnegative(),
    cache_read: z.int().nonnegative(),
    cache_write: z.int().nonnegative(),
  }),
  capabilities: capabilityOverrides,
}).partial();

const catalogueFile = z.strictObject({
  vendors: z.partialRecord(
    z.enum(["vendora", "vendorb", "vendorc", "vendord"]),
    z.strictObject({
      base_url: z.url({ protocol: /^https?$/ }).transform((text) =>
        text.replace(/\/+$/, "")
      ),
    }),
  ),
  models: z.record(z.string().min(1), modelOverride.nullable()),
}).partial();

/** What the file may say of one model: fields of a built-in row to change, or those of a new row. */
export type ModelOverride = z.infer<typeof modelOverride>;

/** What the file may say. */
export type CatalogueOverrides = z.infer<typeof catalogueFile>;

/** The file's content, or a line for each thing that is wrong in it. */
export type CatalogueFile =
  | { readonly ok: true; readonly overrides: CatalogueOverrides }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the file's text. */
export function parseCatalogueFile(text: string): CatalogueFile {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return {
      ok: false,
      problems: [
        `not JSON: ${error instanceof Error ? error.message : "unreadable"}`,
      ],
    };
  }
  const parsed = catalogueFile.safeParse(json);
  if (parsed.success) return { ok: true, overrides: parsed.data };
  return {
    ok: false,
    problems: parsed.error.issues.map((issue) =>
      `${issue.path.join(".") || "top level"}: ${issue.message}`
    ),
  };
}
