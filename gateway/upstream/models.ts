/**
 * The built-in models: ids, upstream names, capabilities, prices.
 *
 * @module
 */
import type { Capabilities } from "../../translate/model/capabilities.ts";
import type { DialectName } from "../../translate/model/request.ts";
import type { ModelPrice } from "../accounts/ledger/money.ts";

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
export interface ModelRow {
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
  /** Zero if the model has no price. */
  readonly price: ModelPrice;
  /**
   * The configuration file gives no price. `free`: calls cost nothing, and operators are informed;
   * `refused`: the model cannot be called. Absent: it has one.
   */
  readonly unpriced?: "free" | "refused";
  /** Tokens of prompt and reply together. */
  readonly contextTokens: number;
  /** Differences from the dialect's defaults. */
  readonly capabilities: Partial<Capabilities>;
  /** Absent: every dialect of the vendor takes tools and reasoning together. */
  readonly toolReasoning?: ToolReasoningDialect;
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

/** The rows, in the order of the model list. */
export const MODELS: readonly ModelRow[] = [
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
