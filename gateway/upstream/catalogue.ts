/**
 * The models: ids, upstream names, capabilities, prices. Built-in rows, and a file that overrides
 * them. Which models are offered depends on the configured vendors and is decided in
 * `model_registry.ts`.
 *
 * @module
 */
import {
  type Capabilities,
  DEFAULT_CAPABILITIES,
} from "../../translate/model/capabilities.ts";
import type { DialectName } from "../../translate/model/request.ts";
import type {
  CandidateOverride,
  CatalogueOverrides,
  ModelOverride,
} from "./catalogue_file.ts";
import type { ModelPrice } from "../accounts/ledger/money.ts";
import type { CallLimits } from "./http_client.ts";
import { type Vendor, VENDORS } from "./vendors.ts";

/** How tools and reasoning come together in a request: reasoning was asked for, or left to the model. */
export type ToolReasoning = "asked" | "left to the model";

/** The dialect in which a model takes tools and reasoning together, where it does not take them in every one. */
export interface ToolReasoningDialect {
  /** Spoken where the vendor speaks it and nothing else decides. */
  readonly dialect: DialectName;
  /** The requests that it is spoken for. */
  readonly when: readonly ToolReasoning[];
}

/** A row of the built-in table. */
interface ModelRow {
  /** The id that clients use. */
  readonly id: string;
  /** Name for display, in the model list; the id if the overrides give none. */
  readonly displayName: string;
  /** Day of publication, as Unix time in seconds. */
  readonly created: number;
  /** `owned_by` in the model list, and the vendor to call if the overrides give no candidates. */
  readonly vendor: string;
  /** The vendor's own id, if the overrides give no candidates. */
  readonly upstreamModel: string;
  /** Betas to enable on every call (messages dialect). */
  readonly betas: readonly string[];
  /** Price of the calls; zero if the overrides add a model without a price. */
  readonly price: ModelPrice;
  /** Tokens of prompt and reply together. */
  readonly contextTokens: number;
  /** Differences from the dialect's defaults. */
  readonly capabilities: Partial<Capabilities>;
  /** Absent: every dialect of the vendor takes tools and reasoning together. */
  readonly toolReasoning?: ToolReasoningDialect;
}

/** A vendor and the id under which it serves the model. */
export interface CandidateRow {
  /** Name of a vendor of the same catalogue. */
  readonly vendor: string;
  /** The vendor's own id. */
  readonly upstreamModel: string;
  /**
   * The only dialect to use there; absent: the client's if the vendor supports it, otherwise the
   * vendor's preferred one.
   */
  readonly dialect?: DialectName;
  /** Candidates with lower values are called first. */
  readonly priority: number;
  /** Share of the calls among candidates of the same priority; more than 0. */
  readonly weight: number;
  /** Betas to enable on every call (messages dialect). */
  readonly betas: readonly string[];
  /** Differences from the dialect's defaults. */
  readonly capabilities: Partial<Capabilities>;
  /** See {@linkcode ToolReasoningDialect}; ignored if `dialect` is given. */
  readonly toolReasoning?: ToolReasoningDialect;
  /** Time limits that replace the model's; absent: none. */
  readonly limits?: Partial<CallLimits>;
}

/** A model of the catalogue. */
export interface Model extends ModelRow {
  /** At least one; candidates whose vendor has no key are not called. */
  readonly candidates: readonly CandidateRow[];
  /** Time limits of its calls that replace the settings; absent: none. */
  readonly limits?: Partial<CallLimits>;
  /** Limit on a whole call, with its stream and all attempts; absent: the setting applies. */
  readonly totalTimeoutMs?: number;
}

/** The models, in the order of the model list. */
export interface Catalogue {
  /** Offered or not; ids are unique. */
  readonly models: readonly Model[];
  /** The built-in vendors, then those of the overrides; names are unique. */
  readonly vendors: readonly Vendor[];
}

const usd = (
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
): ModelPrice => ({
  input: Math.round(input * 1_000_000),
  output: Math.round(output * 1_000_000),
  cacheRead: Math.round(cacheRead * 1_000_000),
  cacheWrite: Math.round(cacheWrite * 1_000_000),
});

const day = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 1000;

/** Models with adaptive thinking, which reject sampling parameters and a prefilled reply. */
const NEWEST_MESSAGES: Partial<Capabilities> = {
  sampling: "none",
  reasoning: "adaptive",
  prefill: false,
  systemAnywhere: true,
  efforts: ["low", "medium", "high", "xhigh", "max"],
};

/**
 * Reasoning models of the chat format: they reject sampling parameters and take the output limit in
 * its newer field.
 */
const REASONING_CHAT: Partial<Capabilities> = {
  maxTokensField: "max_completion_tokens",
  sampling: "none",
  penalties: false,
  maxStops: 0,
  reasoning: "effort",
  reasoningOff: true,
  maxOutputTokens: 128_000,
};

const MODELS: readonly ModelRow[] = [
  {
    id: "vendora-opus-4-8",
    displayName: "Vendor A Opus 4.8",
    created: day("2026-05-28"),
    vendor: "vendora",
    upstreamModel: "claude-opus-4-8",
    betas: [],
    price: usd(5, 25, 0.5, 6.25),
    contextTokens: 1_000_000,
    capabilities: {
      ...NEWEST_MESSAGES,
      maxOutputTokens: 128_000,
      defaultMaxTokens: 32_000,
    },
  },
  {
    id: "vendora-fable-5",
    displayName: "Vendor A Fable 5",
    created: day("2026-06-09"),
    vendor: "vendora",
    upstreamModel: "claude-fable-5",
    betas: [],
    price: usd(10, 50, 1, 12.5),
    contextTokens: 1_000_000,
    capabilities: {
      ...NEWEST_MESSAGES,
      maxOutputTokens: 128_000,
      defaultMaxTokens: 32_000,
    },
  },
  {
    id: "vendora-sonnet-4-6",
    displayName: "Vendor A Sonnet 4.6",
    created: day("2026-02-17"),
    vendor: "vendora",
    upstreamModel: "claude-sonnet-4-6",
    betas: [],
    price: usd(3, 15, 0.3, 3.75),
    contextTokens: 200_000,
    capabilities: {
      reasoning: "adaptive",
      efforts: ["low", "medium", "high", "max"],
      prefill: false,
      maxOutputTokens: 64_000,
      defaultMaxTokens: 16_000,
    },
  },
  {
    id: "vendora-haiku-4-5",
    displayName: "Vendor A Haiku 4.5",
    created: day("2025-10-15"),
    vendor: "vendora",
    upstreamModel: "claude-haiku-4-5",
    betas: [],
    price: usd(1, 5, 0.1, 1.25),
    contextTokens: 200_000,
    capabilities: { maxOutputTokens: 64_000, defaultMaxTokens: 16_000 },
  },
  {
    id: "vendora-sonnet-4-6 (context-1m beta)",
    displayName: "Vendor A Sonnet 4.6 (1M context)",
    created: day("2026-02-17"),
    vendor: "vendora",
    upstreamModel: "claude-sonnet-4-6",
    betas: ["context-1m-2025-08-07"],
    price: usd(6, 22.5, 0.6, 7.5),
    contextTokens: 1_000_000,
    capabilities: {
      reasoning: "adaptive",
      efforts: ["low", "medium", "high", "max"],
      prefill: false,
      maxOutputTokens: 64_000,
      defaultMaxTokens: 16_000,
    },
  },
  {
    id: "vendorb-5.5",
    displayName: "Vendor B 5.5",
    created: day("2026-04-23"),
    vendor: "vendorb",
    upstreamModel: "gpt-5.5",
    betas: [],
    price: usd(5, 30, 0.5, 5),
    contextTokens: 400_000,
    capabilities: {
      ...REASONING_CHAT,
      efforts: ["low", "medium", "high", "xhigh"],
    },
    // https://github.com/openai/openai-openapi/issues/541, 2026-11-21
    toolReasoning: { dialect: "responses", when: ["asked"] },
  },
  {
    id: "vendorb-5",
    displayName: "Vendor B 5",
    created: day("2025-08-07"),
    vendor: "vendorb",
    upstreamModel: "gpt-5",
    betas: [],
    price: usd(1.25, 10, 0.125, 1.25),
    contextTokens: 400_000,
    capabilities: {
      ...REASONING_CHAT,
      reasoningOff: false,
      efforts: ["minimal", "low", "medium", "high"],
    },
  },
  {
    id: "vendorc-3-pro",
    displayName: "Vendor C 3 Pro",
    created: day("2025-11-18"),
    vendor: "vendorc",
    upstreamModel: "gemini-3-pro",
    betas: [],
    price: usd(2, 12, 0.2, 2),
    contextTokens: 1_048_576,
    capabilities: {
      reasoning: "level",
      efforts: ["low", "high"],
      imagesInToolResult: true,
      maxOutputTokens: 65_536,
    },
  },
  {
    id: "vendorc-3-flash",
    displayName: "Vendor C 3 Flash",
    created: day("2025-12-17"),
    vendor: "vendorc",
    upstreamModel: "gemini-3-flash",
    betas: [],
    price: usd(0.5, 3, 0.05, 0.5),
    contextTokens: 1_048_576,
    capabilities: {
      reasoning: "level",
      efforts: ["minimal", "low", "medium", "high"],
      imagesInToolResult: true,
      maxOutputTokens: 65_536,
    },
  },
  {
    id: "vendord-m3",
    displayName: "Vendor D M3",
    created: day("2026-06-01"),
    vendor: "vendord",
    upstreamModel: "MiniMax-M3",
    betas: [],
    price: usd(0.6, 2.4, 0.06, 0.75),
    contextTokens: 512_000,
    capabilities: {
      replayReasoning: true,
      structuredOutput: true,
      maxOutputTokens: 128_000,
    },
  },
];

/** The built-in rows with the overrides applied: rows are changed, added, or removed (null). */
export function catalogue(overrides: CatalogueOverrides = {}): Catalogue {
  const vendors = [...VENDORS, ...addedVendors(overrides)];
  const rows = new Map(MODELS.map((model) => [model.id, model]));
  const kindOf = (name: string): string =>
    vendors.find((vendor) => vendor.name === name)?.kind ?? name;
  for (const [id, override] of Object.entries(overrides.models ?? {})) {
    if (override === null) rows.delete(id);
    else rows.set(id, merged(id, rows.get(id), override, kindOf));
  }
  const models = [...rows.values()].map((row): Model => {
    const override = overrides.models?.[row.id] ?? {};
    const total = override.timeouts?.total_seconds;
    return {
      ...row,
      ...limitsOf(override.timeouts),
      ...(total === undefined ? {} : { totalTimeoutMs: total * 1000 }),
      candidates: override.candidates?.map((candidate) =>
        candidateRow(candidate, row, [...rows.values()], kindOf)
      ) ?? [{ ...row, priority: 1, weight: 1 }],
    };
  });
  return { models, vendors };
}

function addedVendors({ vendors = {} }: CatalogueOverrides): Vendor[] {
  return Object.entries(vendors).flatMap(([name, added]) => {
    const kindRow = VENDORS.find((vendor) => vendor.name === added.kind);
    return kindRow === undefined ? [] : [{
      name,
      kind: kindRow.kind,
      baseUrl: added.base_url ?? kindRow.baseUrl,
      dialects: kindRow.dialects,
    }];
  });
}

function merged(
  id: string,
  row: ModelRow | undefined,
  override: ModelOverride,
  kindOf: (vendor: string) => string,
): ModelRow {
  const price = override.price === undefined ? row?.price : {
    input: override.price.input,
    output: override.price.output,
    cacheRead: override.price.cache_read,
    cacheWrite: override.price.cache_write,
  };
  const first = override.candidates?.[0];
  return {
    id,
    displayName: override.display_name ?? row?.displayName ?? id,
    created: override.created ?? row?.created ?? 0,
    vendor: override.vendor ?? row?.vendor ??
      (first === undefined ? "vendora" : kindOf(first.vendor)),
    upstreamModel: override.upstream_model ?? row?.upstreamModel ??
      first?.upstream_model ?? id,
    betas: override.betas ?? row?.betas ?? [],
    price: price ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextTokens: override.context_tokens ?? row?.contextTokens ?? 128_000,
    capabilities: {
      ...row?.capabilities,
      ...defined(override.capabilities ?? {}),
    },
    ...(row?.toolReasoning === undefined
      ? {}
      : { toolReasoning: row.toolReasoning }),
  };
}

/**
 * A candidate from the overrides. Capabilities and betas default to those of the row that matches
 * its upstream model best.
 */
function candidateRow(
  candidate: CandidateOverride,
  model: ModelRow,
  rows: readonly ModelRow[],
  kindOf: (vendor: string) => string,
): CandidateRow {
  const kind = kindOf(candidate.vendor);
  const isSameKind = (row: ModelRow): boolean => kindOf(row.vendor) === kind;
  const known =
    [model, ...rows].find((row) =>
      isSameKind(row) && row.upstreamModel === candidate.upstream_model
    ) ?? (isSameKind(model) ? model : undefined);
  return {
    vendor: candidate.vendor,
    upstreamModel: candidate.upstream_model,
    ...(candidate.dialect === undefined ? {} : { dialect: candidate.dialect }),
    priority: candidate.priority ?? 1,
    weight: candidate.weight ?? 1,
    betas: candidate.betas ?? known?.betas ?? [],
    capabilities: {
      ...known?.capabilities,
      ...defined(candidate.capabilities ?? {}),
    },
    ...(known?.toolReasoning === undefined
      ? {}
      : { toolReasoning: known.toolReasoning }),
    ...limitsOf(candidate.timeouts),
  };
}

function limitsOf(
  timeouts: CandidateOverride["timeouts"],
): { readonly limits?: Partial<CallLimits> } {
  const { connect_seconds, first_byte_seconds, idle_seconds } = timeouts ?? {};
  const limits = {
    ...(connect_seconds === undefined
      ? {}
      : { connectTimeoutMs: connect_seconds * 1000 }),
    ...(first_byte_seconds === undefined
      ? {}
      : { firstByteTimeoutMs: first_byte_seconds * 1000 }),
    ...(idle_seconds === undefined
      ? {}
      : { idleTimeoutMs: idle_seconds * 1000 }),
  };
  return Object.keys(limits).length === 0 ? {} : { limits };
}

function defined(
  overrides: NonNullable<ModelOverride["capabilities"]>,
): Partial<Capabilities> {
  return Object.fromEntries(
    Object.entries(overrides).filter(([, value]) => value !== undefined),
  );
}

/** The capabilities of a model at a candidate, in one of the vendor's dialects. */
export function capabilitiesOf(
  row: CandidateRow,
  dialect: DialectName,
): Capabilities {
  return { ...DEFAULT_CAPABILITIES[dialect], ...row.capabilities };
}
