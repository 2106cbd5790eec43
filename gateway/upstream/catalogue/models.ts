/**
 * The built-in models: ids, upstream names, capabilities, prices.
 */
import type { Capabilities } from "../../../translate/model/capabilities.ts";
import { ADAPTIVE_CLAUDE, REASONING_GPT } from "../hosts/model_rules.ts";
import type { Condition, RateCard } from "../../accounts/charges/rate_card.ts";

/** What a model does: it generates, makes embeddings, or what the route of this name is for. */
export type ModelOperation = string;

/** What a model does if its row does not state it. */
export const GENERATES: readonly ModelOperation[] = ["generation"];

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
  /** Further betas that a client may ask for, with or without their dates; absent: none. */
  readonly allowedBetas?: readonly string[];
  /** What it costs, a card for each time; empty: it has no price and cannot be called. */
  readonly cards: readonly RateCard[];
  /** Tokens of prompt and reply together. */
  readonly contextTokens: number;
  /** Differences from the dialect's defaults. */
  readonly capabilities: Partial<Capabilities>;
  /** At least one; absent: it generates. */
  readonly operations?: readonly ModelOperation[];
  /** Values that clients of configured routes may give to fields of the body; absent: any. */
  readonly allowed?: Readonly<
    Record<string, readonly (string | number | boolean)[]>
  >;
}

export function generates(
  { operations = GENERATES }: Pick<ModelRow, "operations">,
): boolean {
  return operations.includes("generation");
}

/** Dollars as micro-dollars, rounded: decimals are not exact. */
const micro = (usd: number): number => Math.round(usd * 1_000_000);

/** A card of dollars per million tokens, with what it has beside the four totals. */
const usd = (
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  more: Partial<RateCard> = {},
): readonly RateCard[] => [{
  input: micro(input),
  output: micro(output),
  cacheRead: micro(cacheRead),
  cacheWrite: micro(cacheWrite),
  ...more,
}];

// https://platform.claude.com/docs/en/about-claude/pricing, 2026-11-23: a cache write for an hour
// costs twice the input; 1,000 searches cost 10 dollars, fetches nothing. The price of code
// execution is by the hour, which replies do not report.
const messagesMore = (
  input: number,
  more: Partial<RateCard> = {},
): Partial<RateCard> => ({
  meters: { cache_write_1h: micro(2 * input) },
  uses: { web_search: 10_000, web_fetch: 0 },
  ...more,
});

/** Inference in the US only, for models from Opus 4.6 on: the same page, "Data residency". */
const US_ONLY: Condition = { region: "us", factor: 1.1 };

// https://developers.openai.com/api/docs/pricing, 2026-11-23, "Built-in tools". The price of a
// container is by the minute, that of a picture by another model's tokens: neither is by use.
const RESPONSES_USES = { web_search: 10_000, file_search: 2_500 };

// https://ai.google.dev/gemini-api/docs/pricing, 2026-11-28: 1,000 searches cost 14 dollars after
// those of a month that are free, which are the operator's.
const GENERATE_USES = { web_search: 14_000 };

const day = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 1000;

/** What Vendor A Sonnet 4.6 supports, with either length of context. */
const SONNET: Partial<Capabilities> = {
  reasoning: "adaptive",
  efforts: ["low", "medium", "high", "max"],
  prefill: false,
  maxOutputTokens: 64_000,
  defaultMaxTokens: 16_000,
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
    cards: usd(
      5,
      25,
      0.5,
      6.25,
      messagesMore(5, {
        // https://platform.claude.com/docs/en/build-with-claude/fast-mode, 2026-11-23
        when: [{ speed: "fast", factor: 2 }, US_ONLY],
      }),
    ),
    contextTokens: 1_000_000,
    capabilities: {
      ...ADAPTIVE_CLAUDE,
      systemAnywhere: true,
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
    cards: usd(10, 50, 1, 12.5, messagesMore(10, { when: [US_ONLY] })),
    contextTokens: 1_000_000,
    capabilities: {
      ...ADAPTIVE_CLAUDE,
      systemAnywhere: true,
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
    cards: usd(3, 15, 0.3, 3.75, messagesMore(3, { when: [US_ONLY] })),
    contextTokens: 200_000,
    capabilities: SONNET,
  },
  {
    id: "vendora-haiku-4-5",
    displayName: "Vendor A Haiku 4.5",
    created: day("2025-10-15"),
    vendor: "vendora",
    upstreamModel: "claude-haiku-4-5",
    betas: [],
    cards: usd(1, 5, 0.1, 1.25, messagesMore(1)),
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
    cards: usd(6, 22.5, 0.6, 7.5, messagesMore(6, { when: [US_ONLY] })),
    contextTokens: 1_000_000,
    capabilities: SONNET,
  },
  {
    id: "vendorb-5.5",
    displayName: "Vendor B 5.5",
    created: day("2026-04-23"),
    vendor: "vendorb",
    upstreamModel: "gpt-5.5",
    betas: [],
    cards: usd(5, 30, 0.5, 5, {
      uses: RESPONSES_USES,
      // https://developers.openai.com/api/docs/pricing, 2026-11-23
      when: [
        {
          promptAbove: 272_000,
          rates: {
            input: micro(10),
            cache_read: micro(1),
            cache_write: micro(10),
            output: micro(45),
          },
        },
        { tier: "flex", factor: 0.5 },
        { tier: "priority", factor: 2.5 },
      ],
    }),
    contextTokens: 400_000,
    capabilities: {
      ...REASONING_GPT,
      maxOutputTokens: 128_000,
      efforts: ["low", "medium", "high", "xhigh"],
      webSearch: true,
    },
  },
  {
    id: "vendorb-5",
    displayName: "Vendor B 5",
    created: day("2025-08-07"),
    vendor: "vendorb",
    upstreamModel: "gpt-5",
    betas: [],
    cards: usd(1.25, 10, 0.125, 1.25, {
      uses: RESPONSES_USES,
      when: [{ tier: "flex", factor: 0.5 }, { tier: "priority", factor: 2 }],
    }),
    contextTokens: 400_000,
    capabilities: {
      ...REASONING_GPT,
      maxOutputTokens: 128_000,
      reasoningOff: false,
      efforts: ["minimal", "low", "medium", "high"],
      webSearch: true,
    },
  },
  {
    id: "vendorc-3-pro",
    displayName: "Vendor C 3 Pro",
    created: day("2025-11-18"),
    vendor: "vendorc",
    upstreamModel: "gemini-3-pro",
    betas: [],
    // https://ai.google.dev/gemini-api/docs/pricing, 2026-11-23: sound costs what text costs.
    cards: usd(2, 12, 0.2, 2, {
      uses: GENERATE_USES,
      atBaseRate: new Set(["audio_input"]),
      when: [{
        promptAbove: 200_000,
        rates: {
          input: micro(4),
          cache_read: micro(0.4),
          cache_write: micro(4),
          output: micro(18),
        },
      }],
    }),
    contextTokens: 1_048_576,
    capabilities: {
      reasoning: "level",
      efforts: ["low", "high"],
      webSearch: true,
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
    // The same page.
    cards: usd(0.5, 3, 0.05, 0.5, {
      uses: GENERATE_USES,
      meters: { audio_input: micro(1) },
    }),
    contextTokens: 1_048_576,
    capabilities: {
      reasoning: "level",
      efforts: ["minimal", "low", "medium", "high"],
      webSearch: true,
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
    cards: usd(0.6, 2.4, 0.06, 0.75),
    contextTokens: 512_000,
    capabilities: {
      replayReasoning: true,
      structuredOutput: true,
      maxOutputTokens: 128_000,
    },
  },
];
