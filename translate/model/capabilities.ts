/**
 * What a model at an upstream supports, as data. Encoders read it; no dialect looks at a model's
 * name. The capabilities of each model are in the catalogue in `gateway/upstream/`.
 */

export type DialectName =
  | "messages"
  | "chat_completions"
  | "generate_content"
  | "responses"
  | "converse";

/** Reasoning effort, lowest first. */
export type Effort = "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/**
 * Where a host of the chat format takes back what proves its reasoning. `none`: nowhere, what a
 * client sends is removed and named; `passed`: a client's own fields are passed on, and
 * `reasoning_details` that such a host sealed return; `details`: also reasoning signed in the
 * messages format, as `reasoning_details`; `google`: also signatures of the generate-content
 * format, as `extra_content` of their calls and texts.
 */
export type ProofFields = "none" | "passed" | "details" | "google";

/** What one candidate supports. */
export interface Capabilities {
  /**
   * Most tokens that it generates; a larger cap is lowered to this. Absent: unknown, nothing is
   * lowered.
   */
  readonly maxOutputTokens?: number;
  /** Smallest cap that it accepts; a smaller cap is raised to this. */
  readonly minOutputTokens: number;
  /** The cap to send where the dialect requires one and the client gave none. */
  readonly defaultMaxTokens: number;
  /** Chat format only: name of the field for the cap. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /** `all`: temperature and top_p together; `one`: not both; `none`: neither. */
  readonly sampling: "all" | "one" | "none";
  /** Highest temperature that it accepts; higher ones are lowered to it. */
  readonly maxTemperature: number;
  /** Whether it supports top_k; otherwise the field is dropped and named. */
  readonly topK: boolean;
  /** Whether it supports a seed; otherwise the field is dropped and named. */
  readonly seed: boolean;
  /** Whether it supports presence and frequency penalties; otherwise they are dropped and named. */
  readonly penalties: boolean;
  /**
   * Whether it has a setting for how long its text is to be; otherwise that is dropped and named.
   */
  readonly verbosity: boolean;
  /** Most stop strings that it accepts; 0: none. */
  readonly maxStops: number;
  /**
   * Whether a system turn may be inside the conversation; otherwise it becomes marked user text in
   * the same place.
   */
  readonly systemAnywhere: boolean;
  /**
   * Chat format only: whether other turns than the assistant's may follow results; otherwise a short
   * turn of the assistant stands between them.
   */
  readonly userAfterTool: boolean;
  /** Chat format only: whether it knows the role `developer`; otherwise it becomes `system`. */
  readonly developerRole: boolean;
  /**
   * How reasoning is requested: not at all, by effort, by a token budget, adaptively with effort,
   * or by level.
   */
  readonly reasoning: "none" | "effort" | "budget" | "adaptive" | "level";
  /**
   * Efforts that it has, lowest first; others are moved to the nearest. Empty where `reasoning` is
   * not effort-like.
   */
  readonly efforts: readonly Effort[];
  /**
   * Messages format only: the kinds of `thinking` that a passed request may have; the other one is
   * replaced.
   */
  readonly thinkingKinds: "any" | "budget" | "adaptive";
  /** Most tokens of a reasoning budget, where `reasoning` is `budget`. */
  readonly maxReasoningBudget: number;
  /** Whether reasoning can be switched off. */
  readonly reasoningOff: boolean;
  /** Chat format only: whether assistant turns must repeat their `reasoning_content`. */
  readonly replayReasoning: boolean;
  /**
   * Chat format only: whether it refuses a conversation with calls in which an assistant turn has no
   * `reasoning_content`, not even an empty one.
   */
  readonly reasoningBesideCalls: boolean;
  /**
   * Chat format only: whether assistant turns may contain `reasoning_content`; otherwise it is
   * removed from requests that pass through, and named.
   */
  readonly takesReasoning: boolean;
  /** Chat format only: which proofs of reasoning assistant turns may contain. */
  readonly proofFields: ProofFields;
  /**
   * Chat format only, with `proofFields` `google`: whether it refuses a turn whose first call is
   * unsigned; such a call then gets the vendor's word for calls of other models.
   */
  readonly signedCalls: boolean;
  /** Longest tool name; longer ones are shortened with a hash and restored in the reply. */
  readonly maxToolName: number;
  /** Longest tool call id; longer ones are hashed, the call's and its result's alike. */
  readonly maxToolCallId: number;
  /** Chat format only: the form of tool call ids; `alnum9`: exactly nine letters and digits. */
  readonly callIdForm: "any" | "alnum9";
  /**
   * Chat and Converse formats only: whether the tool choice may demand a call; otherwise it is left
   * to the model.
   */
  readonly toolChoiceRequired: boolean;
  /**
   * Chat format only: whether more cached tokens than prompt tokens mean that the prompt's count
   * leaves them out; otherwise cached tokens are part of the prompt's.
   */
  readonly cachedBesidePrompt: boolean;
  /** Whether tools may be marked `strict`. */
  readonly strictTools: boolean;
  /** Chat format only: whether it takes file parts. */
  readonly files: boolean;
  /**
   * Chat format only: whether it takes pictures; otherwise a note is in the place of each, and they
   * are named.
   */
  readonly images: boolean;
  /**
   * Chat format only: whether it can be bound to JSON without a schema; otherwise a schema of any
   * object is sent.
   */
  readonly jsonObject: boolean;
  /** Whether it has a switch for parallel calls. */
  readonly parallelToggle: boolean;
  /**
   * Whether it has tools with free text as input; otherwise they become functions with one field.
   */
  readonly customTools: boolean;
  /**
   * Responses format only: whether tools may be in groups (`namespace`) and in items
   * (`additional_tools`); otherwise they become single functions.
   */
  readonly toolGroups: boolean;
  /** Whether a tool result may contain images; otherwise they follow in a user turn. */
  readonly imagesInToolResult: boolean;
  /** Whether images and documents may be given by URL. */
  readonly mediaUrls: boolean;
  /**
   * Messages format only: whether it keeps conversations for requests that continue them
   * (`thread`); otherwise such a request is refused.
   */
  readonly threads: boolean;
  /** Whether the conversation may end with an assistant turn that the model continues. */
  readonly prefill: boolean;
  /**
   * `json_schema`: JSON Schema; `openapi`: the older OpenAPI subset; `strict_subset`: the messages
   * format's subset.
   */
  readonly schema: "json_schema" | "openapi" | "strict_subset";
  /**
   * Whether a reply can be bound to a JSON schema; otherwise a forced tool replaces it. Chat format:
   * where no call can be demanded either, the schema becomes an instruction.
   */
  readonly structuredOutput: boolean;
  /**
   * Chat format only: whether the form of a reply may be demanded beside tools; otherwise a forced
   * tool replaces a schema there, and JSON without a schema is not demanded.
   */
  readonly formatBesideTools: boolean;
  /**
   * Messages format only: whether translated requests ask for the prompt to be cached, which costs
   * more than a prompt that is never repeated. Formats that always cache have no word for it.
   */
  readonly promptCaching: boolean;
  /**
   * Which marks of what to cache it takes: none, those in system prompt and conversation, or those
   * of tools as well. Others are removed and named.
   */
  readonly cacheMarks: "none" | "prompt" | "all";
  /** Chat format only: the field of such a mark. */
  readonly cacheWord: "prompt_cache_breakpoint" | "cache_control";
  /**
   * Responses and generate-content formats only: whether it searches the web for clients of other
   * formats; otherwise their search is a tool of another format.
   */
  readonly webSearch: boolean;
  /** Converse format only: whether a request without a cap gets `defaultMaxTokens`. */
  readonly alwaysCapped: boolean;
  /**
   * Chat format only: whether earlier reasoning goes back in `<think>` tags before the text of its
   * assistant turn.
   */
  readonly reasoningTags: boolean;
  /**
   * Chat format only: whether its replies may begin with their reasoning in `<think>` tags, which
   * translated replies then have as reasoning.
   */
  readonly thinkTags: boolean;
  /** Generate content only: whether calls and results have ids. */
  readonly callIds: boolean;
  /** Chat format only: whether `stream_options.include_usage` is supported. */
  readonly includeUsage: boolean;
  /**
   * Responses format only: whether reasoning can be returned encrypted, so that it can be sent
   * back.
   */
  readonly encryptedReasoning: boolean;
}

const EVERY_EFFORT: readonly Effort[] = [
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
];

/** What a model supports unless its dialect differs. */
const USUAL: Capabilities = {
  minOutputTokens: 1,
  defaultMaxTokens: 8192,
  maxTokensField: "max_tokens",
  sampling: "all",
  maxTemperature: 2,
  topK: false,
  seed: false,
  penalties: false,
  maxStops: 4,
  systemAnywhere: false,
  userAfterTool: true,
  developerRole: true,
  reasoning: "none",
  thinkingKinds: "any",
  efforts: EVERY_EFFORT,
  maxReasoningBudget: 32000,
  reasoningOff: false,
  replayReasoning: false,
  reasoningBesideCalls: false,
  takesReasoning: true,
  proofFields: "passed",
  signedCalls: false,
  maxToolName: 64,
  maxToolCallId: Infinity,
  callIdForm: "any",
  toolChoiceRequired: true,
  cachedBesidePrompt: false,
  strictTools: true,
  files: true,
  images: true,
  jsonObject: true,
  // Most models refuse the whole request for one.
  cacheMarks: "none",
  cacheWord: "prompt_cache_breakpoint",
  webSearch: false,
  alwaysCapped: false,
  reasoningTags: false,
  thinkTags: false,
  threads: false,
  verbosity: false,
  parallelToggle: true,
  customTools: false,
  toolGroups: false,
  imagesInToolResult: true,
  mediaUrls: true,
  prefill: true,
  schema: "json_schema",
  structuredOutput: true,
  formatBesideTools: true,
  promptCaching: false,
  callIds: true,
  includeUsage: false,
  encryptedReasoning: false,
};

/** The capabilities of a model of each dialect, unless its catalogue row states otherwise. */
export const DEFAULT_CAPABILITIES: Readonly<Record<DialectName, Capabilities>> =
  {
    messages: {
      ...USUAL,
      minOutputTokens: 0,
      sampling: "one",
      maxTemperature: 1,
      topK: true,
      maxStops: Infinity,
      reasoning: "budget",
      reasoningOff: true,
      maxToolName: 128,
      cacheMarks: "all",
      schema: "strict_subset",
    },
    chat_completions: {
      ...USUAL,
      seed: true,
      penalties: true,
      systemAnywhere: true,
      efforts: ["minimal", "low", "medium", "high"],
      maxToolCallId: 40,
      imagesInToolResult: false,
      includeUsage: true,
    },
    generate_content: {
      ...USUAL,
      topK: true,
      seed: true,
      penalties: true,
      maxStops: 5,
      reasoning: "level",
      efforts: ["low", "medium", "high"],
      maxReasoningBudget: 24576,
      parallelToggle: false,
      imagesInToolResult: false,
    },
    responses: {
      ...USUAL,
      minOutputTokens: 16,
      maxStops: 0,
      systemAnywhere: true,
      reasoning: "effort",
      reasoningOff: true,
      maxToolCallId: 64,
      customTools: true,
      toolGroups: true,
      encryptedReasoning: true,
    },
    converse: {
      ...USUAL,
      maxTemperature: 1,
      efforts: [],
      maxToolCallId: 64,
      parallelToggle: false,
      mediaUrls: false,
      prefill: false,
      structuredOutput: false,
    },
  };
