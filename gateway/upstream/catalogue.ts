/**
 * The models: ids, what each is called upstream, what it can take, what it costs. Rows, and the file that can override them.
 * Which of them are offered depends on the configured vendors and is decided in `candidates.ts`.
 *
 * @module
 */
import {
  type Capabilities,
  DEFAULT_CAPABILITIES,
} from "../../translate/capabilities.ts";
import type { DialectName } from "../../translate/request.ts";
import type {
  CandidateOverride,
  CatalogueOverrides,
  ModelOverride,
} from "./catalogue_file.ts";
import type { CallLimits } from "./http_client.ts";
import { type Vendor, VENDORS } from "./vendors.ts";

/** Prices in micro-dollars per million tokens: 3 dollars per million is 3,000,000. */
export interface ModelPrice {
  /** Prompt tokens neither read from a cache nor written to one. */
  readonly input: number;
  /** Prompt tokens read from a cache. */
  readonly cacheRead: number;
  /** Prompt tokens written to a cache. */
  readonly cacheWrite: number;
  /** Everything generated, reasoning included. */
  readonly output: number;
}

/** A row of the built-in table. */
interface ModelRow {
  /** The id that callers use. */
  readonly id: string;
  /** For people, in the model list; the id where a row of the file gives none. */
  readonly displayName: string;
  /** Day of publication, as Unix time in seconds. */
  readonly created: number;
  /** Told as `owned_by`; whose key and address it needs where the file gives no candidates. */
  readonly vendor: string;
  /** The vendor's own id, where the file gives no candidates. */
  readonly upstreamModel: string;
  /** Betas that every call to it must switch on (messages dialect). */
  readonly betas: readonly string[];
  /** What calls are billed at; zeros where a row of the file gives none. */
  readonly price: ModelPrice;
  /** Tokens of prompt and reply together. */
  readonly contextTokens: number;
  /** What differs from the dialect's defaults. */
  readonly capabilities: Partial<Capabilities>;
}

/** A place where a model can be called. */
export interface CandidateRow {
  /** Name of a vendor of the same catalogue. */
  readonly vendor: string;
  /** The vendor's own id. */
  readonly upstreamModel: string;
  /** The only dialect to speak there; absent: the caller's where the vendor speaks it, else the vendor's best. */
  readonly dialect?: DialectName;
  /** Lower ones are called first. */
  readonly priority: number;
  /** Share of the calls among those of the same priority; more than 0. */
  readonly weight: number;
  /** Betas that every call must switch on (messages dialect). */
  readonly betas: readonly string[];
  /** What differs from the dialect's defaults. */
  readonly capabilities: Partial<Capabilities>;
  /** Time limits of calls there that differ from the model's; absent: none does. */
  readonly limits?: Partial<CallLimits>;
}

/** A model of the catalogue. */
export interface Model extends ModelRow {
  /** At least one; those whose vendor has no key are not called. */
  readonly candidates: readonly CandidateRow[];
  /** Time limits of its calls that differ from the settings; absent: none does. */
  readonly limits?: Partial<CallLimits>;
  /** How long a call may take, its stream and all its attempts included; absent: as the settings say. */
  readonly totalTimeoutMs?: number;
}

/** The models, in the order in which they are listed. */
export interface Catalogue {
  /** Offered or not; no id comes twice. */
  readonly models: readonly Model[];
  /** The built-in ones, then those that the file adds; no name comes twice. */
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

/** Models that think adaptively and refuse sampling parameters and a prefilled answer. */
const NEWEST_MESSAGES: Partial<Capabilities> = {
  sampling: "none",
  reasoning: "adaptive",
  prefill: false,
  systemAnywhere: true,
  efforts: ["low", "medium", "high", "xhigh", "max"],
};

/** Models of the chat format that reason: they take no sampling parameters and count the cap under its newer name. */
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

/** The built-in rows with a file's overrides: fields of a row changed, rows added, or (null) taken away. */
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
    const like = VENDORS.find((vendor) => vendor.name === added.kind);
    return like === undefined ? [] : [{
      name,
      kind: like.kind,
      baseUrl: added.base_url ?? like.baseUrl,
      dialects: like.dialects,
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
  };
}

/**
 * A candidate of the file. What it can take, and the betas that it needs, are those of the row that knows its upstream model
 * best, under what the file says itself.
 */
function candidateRow(
  candidate: CandidateOverride,
  model: ModelRow,
  rows: readonly ModelRow[],
  kindOf: (vendor: string) => string,
): CandidateRow {
  const kind = kindOf(candidate.vendor);
  const isAlike = (row: ModelRow): boolean => kindOf(row.vendor) === kind;
  const known =
    [model, ...rows].find((row) =>
      isAlike(row) && row.upstreamModel === candidate.upstream_model
    ) ?? (isAlike(model) ? model : undefined);
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

/** What a model can take at a candidate, through one of the vendor's dialects. */
export function capabilitiesOf(
  row: CandidateRow,
  dialect: DialectName,
): Capabilities {
  return { ...DEFAULT_CAPABILITIES[dialect], ...row.capabilities };
}
