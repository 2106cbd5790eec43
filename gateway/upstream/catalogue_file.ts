/**
 * The shape and the parser of the file that `GATEWAY_CONFIG` names. `catalogue.ts` applies its
 * overrides.
 *
 * @module
 */
import { z } from "zod";
import { MODELS } from "./models.ts";
import type { Vendor } from "./vendors.ts";
import { VENDORS } from "./vendors.ts";
import {
  addedVendor,
  vendorProblems,
  vendorSettings,
} from "./vendor_settings.ts";

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
  maxStops: z.int().nonnegative(),
  systemAnywhere: z.boolean(),
  reasoning: z.enum(["none", "effort", "budget", "adaptive", "level"]),
  efforts: z.array(
    z.enum(["minimal", "low", "medium", "high", "xhigh", "max"]),
  ),
  maxReasoningBudget: z.int().positive(),
  reasoningOff: z.boolean(),
  replayReasoning: z.boolean(),
  takesReasoning: z.boolean(),
  maxToolName: z.int().min(16),
  maxToolCallId: z.int().min(40),
  callIdForm: z.enum(["any", "alnum9"]),
  toolChoiceRequired: z.boolean(),
  cachedBesidePrompt: z.boolean(),
  strictTools: z.boolean(),
  files: z.boolean(),
  jsonObject: z.boolean(),
  parallelToggle: z.boolean(),
  customTools: z.boolean(),
  toolGroups: z.boolean(),
  imagesInToolResult: z.boolean(),
  mediaUrls: z.boolean(),
  prefill: z.boolean(),
  schema: z.enum(["json_schema", "openapi", "strict_subset"]),
  structuredOutput: z.boolean(),
  promptCaching: z.boolean(),
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
  capabilities: capabilityOverrides.optional(),
  timeouts: callTimeouts.optional(),
});

const FREE = { input: 0, output: 0, cache_read: 0, cache_write: 0 };

const modelOverride = z.strictObject({
  display_name: z.string().min(1),
  created: z.int().nonnegative(),
  vendor: z.string().min(1),
  upstream_model: z.string().min(1),
  betas: z.array(z.string().min(1)),
  context_tokens: z.int().positive(),
  price: z.preprocess(
    (value) => value === "free" ? FREE : value,
    z.strictObject({
      input: z.int().nonnegative(),
      output: z.int().nonnegative(),
      cache_read: z.int().nonnegative(),
      cache_write: z.int().nonnegative(),
    }).nullable(),
  ),
  alias: z.string().min(1),
  capabilities: capabilityOverrides,
  candidates: z.array(candidateOverride).min(1),
  timeouts: callTimeouts.extend({ total_seconds: timeLimit }).partial(),
}).partial();

const catalogueFile = z.strictObject({
  vendors: z.record(
    z.string().regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
      "must be a name of letters, digits, dots, dashes and underscores",
    ),
    vendorSettings,
  ),
  models: z.record(z.string().min(1), modelOverride.nullable()),
}).partial();

/** Overrides of one model: fields of a built-in row to change, or those of a new row. */
export type ModelOverride = z.infer<typeof modelOverride>;

/** Overrides of one of a model's candidates. */
export type CandidateOverride = z.infer<typeof candidateOverride>;

/** Content of the overrides file. */
export type CatalogueOverrides = z.infer<typeof catalogueFile>;

/** The file's content, or one line per problem. */
export type CatalogueFile =
  | { readonly ok: true; readonly overrides: CatalogueOverrides }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Parses the file's text. */
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
  if (parsed.success) {
    const problems = inconsistencies(parsed.data);
    return problems.length === 0
      ? { ok: true, overrides: parsed.data }
      : { ok: false, problems };
  }
  return {
    ok: false,
    problems: parsed.error.issues.map((issue) =>
      `${issue.path.join(".") || "top level"}: ${issue.message}`
    ),
  };
}

/** Checks across rows: vendors exist, and rows are consistent with each other. */
function inconsistencies(file: CatalogueOverrides): readonly string[] {
  const problems: string[] = [];
  const vendors = new Map<string, Vendor>(
    VENDORS.map((vendor) => [vendor.name, vendor]),
  );
  /** Vendors whose rows have a problem of their own, so that their models are not checked. */
  const invalid = new Set<string>();
  for (const [name, row] of Object.entries(file.vendors ?? {})) {
    problems.push(...vendorProblems(name, row));
    const vendor = addedVendor(name, row);
    if (vendor !== undefined) vendors.set(name, vendor);
    else if (!vendors.has(name)) invalid.add(name);
  }
  for (const [id, model] of Object.entries(file.models ?? {})) {
    const exists = (name: string): boolean =>
      vendors.has(name) || invalid.has(name);
    if (id.includes("*")) {
      problems.push(
        `models.${id}: a model is one row; deno task admin models discover writes a row for each model of a host`,
      );
    }
    if (model?.alias !== undefined) {
      const target = file.models?.[model.alias];
      if (
        target === null || target?.alias !== undefined ||
        (target === undefined && !MODELS.some((row) => row.id === model.alias))
      ) {
        problems.push(`models.${id}.alias: there is no model ${model.alias}`);
      }
      const others = Object.keys(model).filter((key) =>
        key !== "alias" && key !== "display_name"
      );
      if (others.length > 0) {
        problems.push(
          `models.${id}: an alias has everything but display_name from its model: ${
            others.join(", ")
          }`,
        );
      }
    }
    if (model?.vendor !== undefined && !exists(model.vendor)) {
      problems.push(`models.${id}.vendor: no such vendor`);
    }
    const seen = new Set<string>();
    for (const [i, candidate] of (model?.candidates ?? []).entries()) {
      const at = `models.${id}.candidates.${i}`;
      const { dialect, route } = candidate;
      const dialects = vendors.get(candidate.vendor)?.dialects;
      const name = `${candidate.vendor}/${candidate.upstream_model}`;
      if (!exists(candidate.vendor)) {
        problems.push(`${at}.vendor: no such vendor`);
      } else if (
        dialect !== undefined &&
        dialects?.some((one) => one.dialect === dialect) === false
      ) {
        problems.push(
          `${at}.dialect: the vendor does not support this dialect`,
        );
      } else if (
        route !== undefined &&
        dialects?.some(({ routes }) => routes?.[route] !== undefined) === false
      ) {
        problems.push(
          `${at}.route: the vendor has no such route; it has ${
            routeNames(dialects)
          }`,
        );
      }
      if (seen.has(name)) {
        problems.push(
          `${at}: the same vendor and model as an earlier candidate`,
        );
      }
      seen.add(name);
    }
  }
  return problems;
}

function routeNames(dialects: Vendor["dialects"]): string {
  return dialects.flatMap(({ routes }) => Object.keys(routes ?? {}))
    .join(", ") || "none";
}
