/**
 * The schema of a caller's request to `POST /v1/chat/completions`. It checks requests and
 * documents them. Fields that it does not name are let through. `decode_request.ts` interprets
 * the fields; upstream replies are read leniently elsewhere.
 *
 * @module
 */
import { z } from "zod";
import type { JsonObject } from "../../bytes/json.ts";
import { type Maybe, opaqueObject } from "../../model/schema.ts";

/** A part of a message's content, of a known type. */
export type ChatPart =
  | { readonly type: "text"; readonly text: string }
  | {
    readonly type: "image_url";
    readonly image_url: {
      readonly url: string;
      readonly detail?: Maybe<string>;
    };
  }
  | {
    readonly type: "input_audio";
    readonly input_audio: { readonly data: string; readonly format: string };
  }
  | {
    readonly type: "file";
    readonly file: {
      readonly file_data?: Maybe<string>;
      readonly file_id?: Maybe<string>;
      readonly filename?: Maybe<string>;
    };
  }
  | { readonly type: "refusal"; readonly refusal: string };

/**
 * A part, call, tool or format of an unknown type: newer than this gateway, or specific to a
 * vendor.
 */
export interface ChatUnknown {
  /** The value of the `type` field. */
  readonly type: string;
  /** Its other fields, unchecked. */
  readonly [key: string]: unknown;
}

/** Content of a message. */
export type ChatContent = string | readonly (ChatPart | ChatUnknown)[];

/** A function call: the function and its arguments. */
export interface ChatFunctionCall {
  /** Name of the function. */
  readonly name: string;
  /** JSON text as the model wrote it, possibly empty or malformed. */
  readonly arguments: string;
}

/** A call in an assistant message. Without a type it is a function call. */
export type ChatToolCall =
  | {
    readonly type?: "function" | undefined;
    readonly id: string;
    readonly function: ChatFunctionCall;
    readonly extra_content?: unknown;
  }
  | {
    readonly type: "custom";
    readonly id: string;
    readonly custom: { readonly name: string; readonly input: string };
  };

export type ChatMessage =
  | {
    readonly role: "system" | "developer" | "user";
    readonly content: ChatContent;
    readonly name?: Maybe<string>;
  }
  | {
    readonly role: "assistant";
    readonly content?: Maybe<ChatContent>;
    readonly name?: Maybe<string>;
    readonly refusal?: Maybe<string>;
    readonly tool_calls?: Maybe<readonly (ChatToolCall | ChatUnknown)[]>;
    readonly function_call?: Maybe<ChatFunctionCall>;
    readonly audio?: Maybe<{ readonly id: string }>;
    readonly reasoning_content?: unknown;
    readonly reasoning?: unknown;
    readonly reasoning_details?: unknown;
  }
  | {
    readonly role: "tool";
    readonly content: ChatContent;
    readonly tool_call_id: string;
  }
  | {
    readonly role: "function";
    readonly content: string | null;
    readonly name: string;
  };

/** A function that the model may call. */
export interface ChatFunction {
  /** Name of the function. */
  readonly name: string;
  /** What the function does and when to call it. */
  readonly description?: Maybe<string>;
  /** JSON Schema of its arguments; absent for none. */
  readonly parameters?: Maybe<JsonObject>;
  /** Whether arguments must keep to the schema exactly. */
  readonly strict?: Maybe<boolean>;
}

/** A tool with free text as input. */
export interface ChatCustom {
  /** Name of the tool. */
  readonly name: string;
  /** What the tool does and when to call it. */
  readonly description?: Maybe<string>;
  /** `{type: "text"}`, or `{type: "grammar", grammar: {definition, syntax}}`. */
  readonly format?: unknown;
}

/** A tool. Without a type it is a function. */
export type ChatTool =
  | {
    readonly type?: "function" | undefined;
    readonly function: ChatFunction;
  }
  | {
    readonly type: "custom";
    readonly custom: ChatCustom;
  };

/** A tool choice that names a tool. Without a type the tool is a function. */
export type ChatNamedChoice =
  | {
    readonly type?: "function" | undefined;
    readonly function: { readonly name: string };
  }
  | { readonly type: "custom"; readonly custom: { readonly name: string } }
  | {
    readonly type: "allowed_tools";
    readonly allowed_tools: {
      readonly mode: "auto" | "required";
      readonly tools: readonly JsonObject[];
    };
  };

/** The format required of the reply's text. */
export type ChatResponseFormat =
  | { readonly type: "text" }
  | { readonly type: "json_object" }
  | {
    readonly type: "json_schema";
    readonly json_schema: {
      readonly name?: Maybe<string>;
      readonly description?: Maybe<string>;
      readonly schema?: Maybe<JsonObject>;
      readonly strict?: Maybe<boolean>;
    };
  };

/** How much a reasoning model should reason. */
export type ChatEffort =
  | "none"
  | "default"
  | "minimal"
  | "low"
  | "medium"
  | "high"
  | "xhigh"
  | "max";

/** A checked request. Other fields of the format are let through unchecked. */
export interface ChatRequest {
  /** The requested model id. */
  readonly model: string;
  /** The conversation, oldest first, system prompt included. */
  readonly messages: readonly ChatMessage[];
  /** True for server-sent events. */
  readonly stream?: Maybe<boolean>;
  /** Only read where `stream` is true. */
  readonly stream_options?: Maybe<
    { readonly include_usage?: Maybe<boolean> }
  >;
  /** Older name of `max_completion_tokens`, which wins. */
  readonly max_tokens?: Maybe<number>;
  /** Cap on everything generated, reasoning included. */
  readonly max_completion_tokens?: Maybe<number>;
  /** 0 to 2. */
  readonly temperature?: Maybe<number>;
  /** 0 to 1. */
  readonly top_p?: Maybe<number>;
  /** An extension to the format; zero and negative values switch it off. */
  readonly top_k?: Maybe<number>;
  /** Number of choices, 1 to 128. */
  readonly n?: Maybe<number>;
  /** Strings at which generation stops. */
  readonly stop?: Maybe<string | readonly string[]>;
  /** Tools that the model may call. */
  readonly tools?: Maybe<readonly (ChatTool | ChatUnknown)[]>;
  /** Which tool the model must or may call. */
  readonly tool_choice?: Maybe<
    "none" | "auto" | "required" | "any" | ChatNamedChoice | ChatUnknown
  >;
  /** False: at most one call per reply. */
  readonly parallel_tool_calls?: Maybe<boolean>;
  /** Deprecated form of `tools`. */
  readonly functions?: Maybe<readonly ChatFunction[]>;
  /** Deprecated form of `tool_choice`. */
  readonly function_call?: Maybe<"none" | "auto" | { readonly name: string }>;
  /** The format required of the reply's text. */
  readonly response_format?: Maybe<ChatResponseFormat | ChatUnknown>;
  /** How much a reasoning model should reason. */
  readonly reasoning_effort?: Maybe<ChatEffort>;
  /** Seed for repeatable sampling. */
  readonly seed?: Maybe<number>;
  /** -2 to 2. */
  readonly presence_penalty?: Maybe<number>;
  /** -2 to 2. */
  readonly frequency_penalty?: Maybe<number>;
  /** Whether to return log probabilities. */
  readonly logprobs?: Maybe<boolean>;
  /** How many alternatives per token, 0 to 20. */
  readonly top_logprobs?: Maybe<number>;
  /** Older name of `safety_identifier`, which wins. */
  readonly user?: Maybe<string>;
  /** The caller's own user id. */
  readonly safety_identifier?: Maybe<string>;
  /** `auto`, `default`, or a vendor's own value. */
  readonly service_tier?: Maybe<string>;
  /** What the reply may be: `text`, `audio`. */
  readonly modalities?: Maybe<readonly string[]>;
  /** Voice and format of spoken replies. */
  readonly audio?: Maybe<JsonObject>;
  /** Asks the vendor to search the web. */
  readonly web_search_options?: Maybe<JsonObject>;
}

const PART_TYPES: ReadonlySet<string> = new Set([
  "text",
  "image_url",
  "input_audio",
  "file",
  "refusal",
]);
const TOOL_TYPES: ReadonlySet<string> = new Set(["function", "custom"]);
const CHOICE_TYPES: ReadonlySet<string> = new Set([
  "function",
  "custom",
  "allowed_tools",
]);
const FORMAT_TYPES: ReadonlySet<string> = new Set([
  "text",
  "json_object",
  "json_schema",
]);
/** The roles of a message. */
export const ROLES: readonly string[] = [
  "system",
  "developer",
  "user",
  "assistant",
  "tool",
  "function",
];

/** Whether the part's type is one that the schema checks. */
export function isKnownPart(part: ChatPart | ChatUnknown): part is ChatPart {
  return PART_TYPES.has(part.type);
}

/** Whether the call's type is one that the schema checks. */
export function isKnownCall(
  call: ChatToolCall | ChatUnknown,
): call is ChatToolCall {
  return call.type === undefined || TOOL_TYPES.has(call.type);
}

/** Whether the tool's type is one that the schema checks. */
export function isKnownTool(tool: ChatTool | ChatUnknown): tool is ChatTool {
  return tool.type === undefined || TOOL_TYPES.has(tool.type);
}

/** Whether the tool choice's type is one that the schema checks. */
export function isKnownChoice(
  choice: ChatNamedChoice | ChatUnknown,
): choice is ChatNamedChoice {
  return choice.type === undefined || CHOICE_TYPES.has(choice.type);
}

/** Whether the response format's type is one that the schema checks. */
export function isKnownFormat(
  format: ChatResponseFormat | ChatUnknown,
): format is ChatResponseFormat {
  return FORMAT_TYPES.has(format.type);
}

/**
 * A schema for objects of an unknown type. Its check aborts, so that a union reports the error of
 * the known type instead of this branch.
 */
function ofUnknownType(known: ReadonlySet<string>): z.ZodType<ChatUnknown> {
  return z.looseObject({
    type: z.string().refine((type) => !known.has(type), {
      abort: true,
      error: "known type with other fields",
    }),
  }).describe(
    "Anything of a type not listed here: passed on where the model's own format is the chat-completion format.",
  );
}

const part = z.union([
  z.discriminatedUnion("type", [
    z.looseObject({
      type: z.literal("text"),
      text: z.string().describe("The text."),
    }).describe("Text."),
    z.looseObject({
      type: z.literal("image_url"),
      image_url: z.looseObject({
        url: z.string().describe(
          "The image: a `data:` URL with its bytes, or an http(s) URL.",
        ),
        detail: z.string().nullish().describe(
          "Level of detail: auto, low, high or original.",
        ),
      }),
    }).describe("An image."),
    z.looseObject({
      type: z.literal("input_audio"),
      input_audio: z.looseObject({
        data: z.string().describe("The audio bytes in base64."),
        format: z.string().min(1).describe("wav or mp3."),
      }),
    }).describe("Audio."),
    z.looseObject({
      type: z.literal("file"),
      file: z.looseObject({
        file_data: z.string().nullish().describe(
          "The file's bytes: a `data:` URL, or bare base64 of a PDF.",
        ),
        file_id: z.string().nullish().describe(
          "Id of a file kept by the model's vendor.",
        ),
        filename: z.string().nullish().describe("The file's name."),
      }),
    }).describe("A document."),
    z.looseObject({
      type: z.literal("refusal"),
      refusal: z.string().describe("The text of the refusal."),
    }).describe("The assistant's refusal."),
  ]),
  ofUnknownType(PART_TYPES),
]);

const content = z.union([z.string(), z.array(part)]);
const name = z.string().nullish().describe("Name of the participant.");

const calledFunction = z.looseObject({
  name: z.string().describe("Name of the function."),
  arguments: z.string().describe("Its arguments as JSON text."),
});

const toolCall = z.union([
  z.discriminatedUnion("type", [
    z.looseObject({
      type: z.literal("function").optional(),
      id: z.string().describe("Id that the matching tool message refers to."),
      function: calledFunction,
    }).describe("A function call."),
    z.looseObject({
      type: z.literal("custom"),
      id: z.string().describe("Id that the matching tool message refers to."),
      custom: z.looseObject({ name: z.string(), input: z.string() }),
    }).describe("A call of a tool with free text as input."),
  ]),
  ofUnknownType(TOOL_TYPES),
]);

const message = z.discriminatedUnion("role", [
  z.looseObject({
    role: z.enum(["system", "developer"]),
    content: content.describe("Instructions: text, or text parts."),
    name,
  }).describe("Instructions. The system prompt is the first message."),
  z.looseObject({
    role: z.literal("user"),
    content: content.describe("Text, or parts."),
    name,
  }).describe("A message of the user."),
  z.looseObject({
    role: z.literal("assistant"),
    content: content.nullish().describe(
      "The assistant's text; null if it only called tools.",
    ),
    name,
    refusal: z.string().nullish().describe("The assistant's refusal."),
    tool_calls: z.array(toolCall).nullish().describe(
      "The calls that the assistant made.",
    ),
    function_call: calledFunction.nullish().describe(
      "The call that the assistant made (deprecated form).",
    ),
    audio: z.looseObject({ id: z.string() }).nullish().describe(
      "An earlier spoken reply, by id.",
    ),
    reasoning_content: z.unknown().optional().describe(
      "The assistant's reasoning, as received in an earlier reply.",
    ),
    reasoning_details: z.unknown().optional().describe(
      "The assistant's reasoning with signatures, as received in an earlier reply.",
    ),
  }).describe("An earlier turn of the assistant."),
  z.looseObject({
    role: z.literal("tool"),
    content: content.describe("The tool's output."),
    tool_call_id: z.string().describe("Id of the call."),
  }).describe("The result of a tool call."),
  z.looseObject({
    role: z.literal("function"),
    content: z.string().nullable().describe("The function's output."),
    name: z.string().describe("Name of the function."),
  }).describe("The result of a function call (deprecated form)."),
], {
  error: (issue) =>
    issue.code === "invalid_union"
      ? `expected one of ${ROLES.join(", ")}`
      : undefined,
});

const definedFunction = z.looseObject({
  name: z.string().min(1).describe("Name of the function."),
  description: z.string().nullish().describe(
    "What the function does and when to call it.",
  ),
  parameters: opaqueObject().nullish().describe(
    "JSON Schema of its arguments; absent for none.",
  ),
  strict: z.boolean().nullish().describe(
    "Whether arguments must keep to the schema exactly.",
  ),
});

const tool = z.union([
  z.discriminatedUnion("type", [
    z.looseObject({
      type: z.literal("function").optional(),
      function: definedFunction,
    }).describe("A function that the model may call."),
    z.looseObject({
      type: z.literal("custom"),
      custom: z.looseObject({
        name: z.string().min(1),
        description: z.string().nullish(),
        format: z.unknown().optional(),
      }),
    }).describe("A tool with free text as input."),
  ]),
  ofUnknownType(TOOL_TYPES),
]);

const toolChoice = z.union([
  z.enum(["none", "auto", "required", "any"]),
  z.discriminatedUnion("type", [
    z.looseObject({
      type: z.literal("function").optional(),
      function: z.looseObject({ name: z.string().min(1) }),
    }),
    z.looseObject({
      type: z.literal("custom"),
      custom: z.looseObject({ name: z.string().min(1) }),
    }),
    z.looseObject({
      type: z.literal("allowed_tools"),
      allowed_tools: z.looseObject({
        mode: z.enum(["auto", "required"]),
        tools: z.array(opaqueObject()),
      }),
    }),
  ]),
  ofUnknownType(CHOICE_TYPES),
]);

const responseFormat = z.union([
  z.discriminatedUnion("type", [
    z.looseObject({ type: z.literal("text") }).describe("Plain text."),
    z.looseObject({ type: z.literal("json_object") }).describe(
      "Any JSON object.",
    ),
    z.looseObject({
      type: z.literal("json_schema"),
      json_schema: z.looseObject({
        name: z.string().nullish(),
        description: z.string().nullish(),
        schema: opaqueObject().nullish(),
        strict: z.boolean().nullish(),
      }),
    }).describe("JSON that fits a schema."),
  ]),
  ofUnknownType(FORMAT_TYPES),
]);

/** The body of `POST /v1/chat/completions`. */
export const chatCompletionsRequest: z.ZodType<ChatRequest> = z.looseObject({
  model: z.string().min(1).describe(
    "Model id, exactly as listed by GET /v1/models.",
  ),
  messages: z.array(message).min(1).describe(
    "The conversation, oldest first. A system prompt is the first entry, with role `system`.",
  ),
  stream: z.boolean().nullish().describe(
    "True for server-sent events. Default false.",
  ),
  stream_options: z.looseObject({
    include_usage: z.boolean().nullish().describe(
      "True for one more chunk with the usage before the end of the stream.",
    ),
    include_obfuscation: z.boolean().nullish().describe(
      "Whether chunks are padded, where the model's vendor does that.",
    ),
  }).nullish().describe("Only with `stream`."),
  max_tokens: z.int().min(1).nullish().describe(
    "Most tokens to generate, reasoning included. Older name of `max_completion_tokens`, which wins over it.",
  ),
  max_completion_tokens: z.int().min(1).nullish().describe(
    "Most tokens to generate, reasoning included.",
  ),
  temperature: z.number().min(0).max(2).nullish().describe(
    "Randomness, 0 to 2. Omit for the model's default.",
  ),
  top_p: z.number().min(0).max(1).nullish().describe(
    "Nucleus sampling, 0 to 1.",
  ),
  top_k: z.int().nullish().describe(
    "Choose among the k likeliest tokens (extension).",
  ),
  n: z.int().min(1).max(128).nullish().describe(
    "How many answers. More than 1 only where the model's own format is this one.",
  ),
  stop: z.union([z.string(), z.array(z.string())]).nullish().describe(
    "Strings at which generation stops.",
  ),
  tools: z.array(tool).nullish().describe("Tools that the model may call."),
  tool_choice: toolChoice.nullish().describe(
    "Which tool to call: none, auto, required, or one by name.",
  ),
  parallel_tool_calls: z.boolean().nullish().describe(
    "False for at most one call per reply.",
  ),
  functions: z.array(definedFunction).nullish().describe(
    "Deprecated form of `tools`.",
  ),
  function_call: z.union([
    z.enum(["none", "auto"]),
    z.looseObject({ name: z.string().min(1) }),
  ]).nullish().describe("Deprecated form of `tool_choice`."),
  response_format: responseFormat.nullish().describe(
    "The format required of the reply's text.",
  ),
  reasoning_effort: z.enum([
    "none",
    "default",
    "minimal",
    "low",
    "medium",
    "high",
    "xhigh",
    "max",
  ]).nullish().describe(
    "How much a reasoning model should reason; `default` leaves it to the model.",
  ),
  // 64 bits, which no double holds.
  seed: z.number().multipleOf(1).nullish().describe(
    "Seed for repeatable sampling, on a best-effort basis.",
  ),
  presence_penalty: z.number().min(-2).max(2).nullish().describe(
    "Penalty for tokens already in the text, -2 to 2.",
  ),
  frequency_penalty: z.number().min(-2).max(2).nullish().describe(
    "Penalty for tokens by how often they are in the text, -2 to 2.",
  ),
  logit_bias: z.record(z.string(), z.number()).nullish().describe(
    "Bias per token id.",
  ),
  logprobs: z.boolean().nullish().describe(
    "Whether to return log probabilities of the reply's tokens.",
  ),
  top_logprobs: z.int().min(0).max(20).nullish().describe(
    "How many alternatives to return per token.",
  ),
  user: z.string().nullish().describe(
    "Your own user id, for attribution (deprecated form of `safety_identifier`).",
  ),
  safety_identifier: z.string().nullish().describe(
    "Your own user id, for attribution.",
  ),
  service_tier: z.string().nullish().describe(
    "Which tier of service to use where the model's vendor has several.",
  ),
  modalities: z.array(z.string()).nullish().describe(
    "Allowed kinds of output: text, audio.",
  ),
  audio: opaqueObject().nullish().describe(
    "Voice and format of spoken replies.",
  ),
  metadata: opaqueObject().nullish().describe("Your own labels."),
  store: z.boolean().nullish().describe(
    "Whether the model's vendor stores the reply.",
  ),
  prediction: opaqueObject().nullish().describe(
    "Text that the reply is expected to repeat.",
  ),
  verbosity: z.string().nullish().describe("low, medium or high."),
  prompt_cache_key: z.string().nullish().describe(
    "Key that groups requests with a common beginning.",
  ),
  prompt_cache_retention: z.string().nullish().describe(
    "How long the prompt may stay in a cache.",
  ),
  prompt_cache_options: opaqueObject().nullish().describe(
    "How the prompt is cached.",
  ),
  moderation: opaqueObject().nullish().describe(
    "Moderation of the prompt and the reply by the model's vendor.",
  ),
  web_search_options: opaqueObject().nullish().describe(
    "Asks for a web search. Only where the model's own format is this one.",
  ),
});
