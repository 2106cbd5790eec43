/**
 * What a model at an upstream can take, as data. Encoders ask here; no dialect tests a model's name.
 * The rows themselves (which model has which) are the catalogue's, in `gateway/upstream/`.
 *
 * @module
 */
import type { DialectName, Effort } from "./request.ts";

/** What one candidate can take. */
export interface Capabilities {
  /** Most tokens it generates; a larger cap is lowered to this. Absent: unknown, nothing is lowered. */
  readonly maxOutputTokens?: number;
  /** The cap to send where the dialect demands one and the caller gave none. */
  readonly defaultMaxTokens: number;
  /** Chat format only: which field carries the cap. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /** `all`: temperature and top_p together; `one`: not both; `none`: refuses any. */
  readonly sampling: "all" | "one" | "none";
  /** Highest temperature it takes; higher ones are lowered to it. */
  readonly maxTemperature: number;
  /** Whether it takes a top_k; otherwise that is dropped and named. */
  readonly topK: boolean;
  /** Whether it takes a seed; otherwise that is dropped and named. */
  readonly seed: boolean;
  /** Whether it takes presence and frequency penalties; otherwise they are dropped and named. */
  readonly penalties: boolean;
  /** Most stop strings it takes; 0: none. */
  readonly maxStops: number;
  /** Whether a system turn may stand inside the conversation; otherwise it becomes marked user text in its place. */
  readonly systemAnywhere: boolean;
  /** How reasoning is asked for: not at all, by effort, by a token budget, adaptively with effort, or by level. */
  readonly reasoning: "none" | "effort" | "budget" | "adaptive" | "level";
  /** Efforts it knows, lowest first; others are moved to the nearest. Empty where `reasoning` is not effort-like. */
  readonly efforts: readonly Effort[];
  /** Most tokens of a reasoning budget, where `reasoning` is `budget`. */
  readonly maxReasoningBudget: number;
  /** Whether reasoning can be switched off. */
  readonly reasoningOff: boolean;
  /** Chat format only: assistant turns must carry `reasoning_content` again. */
  readonly replayReasoning: boolean;
  /** Longest tool name; longer ones are shortened with a hash and restored in the reply. */
  readonly maxToolName: number;
  /** Longest tool call id; longer ones are hashed, the same on both sides of a pair. */
  readonly maxToolCallId: number;
  /** Whether a switch for parallel calls exists. */
  readonly parallelToggle: boolean;
  /** Whether a tool result may hold pictures; otherwise they follow in a user turn. */
  readonly imagesInToolResult: boolean;
  /** Whether pictures and documents may be given by address. */
  readonly mediaUrls: boolean;
  /** Whether the conversation may end with an assistant turn that the model continues. */
  readonly prefill: boolean;
  /** `json_schema`: takes JSON Schema; `openapi`: the older OpenAPI subset; `strict_subset`: the messages format's subset. */
  readonly schema: "json_schema" | "openapi" | "strict_subset";
  /** Whether a reply can be bound to a JSON schema; otherwise a forced tool stands in. */
  readonly structuredOutput: boolean;
  /** Generate content only: whether calls and results carry ids. */
  readonly callIds: boolean;
  /** Chat format only: whether `stream_options.include_usage` is understood. */
  readonly includeUsage: boolean;
}

const EVERY_EFFORT: readonly Effort[] = [
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
];

/** What a model of each dialect can take where its row says nothing else. */
export const DEFAULT_CAPABILITIES: Readonly<Record<DialectName, Capabilities>> =
  {
    messages: {
      defaultMaxTokens: 8192,
      maxTokensField: "max_tokens",
      sampling: "one",
      maxTemperature: 1,
      topK: true,
      seed: false,
      penalties: false,
      maxStops: Infinity,
      systemAnywhere: false,
      reasoning: "budget",
      efforts: EVERY_EFFORT,
      maxReasoningBudget: 32000,
      reasoningOff: true,
      replayReasoning: false,
      maxToolName: 128,
      maxToolCallId: Infinity,
      parallelToggle: true,
      imagesInToolResult: true,
      mediaUrls: true,
      prefill: true,
      schema: "strict_subset",
      structuredOutput: true,
      callIds: true,
      includeUsage: false,
    },
    chat_completions: {
      defaultMaxTokens: 8192,
      maxTokensField: "max_tokens",
      sampling: "all",
      maxTemperature: 2,
      topK: false,
      seed: true,
      penalties: true,
      maxStops: 4,
      systemAnywhere: true,
      reasoning: "none",
      efforts: ["minimal", "low", "medium", "high"],
      maxReasoningBudget: 32000,
      reasoningOff: false,
      replayReasoning: false,
      maxToolName: 64,
      maxToolCallId: 40,
      parallelToggle: true,
      imagesInToolResult: false,
      mediaUrls: true,
      prefill: true,
      schema: "json_schema",
      structuredOutput: true,
      callIds: true,
      includeUsage: true,
    },
    generate_content: {
      defaultMaxTokens: 8192,
      maxTokensField: "max_tokens",
      sampling: "all",
      maxTemperature: 2,
      topK: true,
      seed: true,
      penalties: true,
      maxStops: 5,
      systemAnywhere: false,
      reasoning: "level",
      efforts: ["low", "medium", "high"],
      maxReasoningBudget: 24576,
      reasoningOff: false,
      replayReasoning: false,
      maxToolName: 64,
      maxToolCallId: Infinity,
      parallelToggle: false,
      imagesInToolResult: false,
      mediaUrls: true,
      prefill: true,
      schema: "json_schema",
      structuredOutput: true,
      callIds: true,
      includeUsage: false,
    },
  };
