/**
 * The messages format's request bodies (`POST /v1/messages` and its `count_tokens`): what a caller may write, as schemas that
 * serve the decoder and the OpenAPI document alike. Objects are loose, because newer fields must be able to pass through. What
 * the fields mean in neutral words is `request.ts`.
 *
 * @module
 */
import { z } from "zod";
import type { JsonObject } from "../json.ts";
import { opaqueObject } from "../schema.ts";

/** A text block. */
export type WireText = {
  readonly type: "text";
  readonly text: string;
};
/** Bytes in place. */
export type WireBase64 = {
  readonly type: "base64";
  readonly media_type: string;
  readonly data: string;
};
/** Bytes by address. */
export type WireUrl = {
  readonly type: "url";
  readonly url: string;
};
/** Bytes that were uploaded to the vendor. */
export type WireFile = {
  readonly type: "file";
  readonly file_id: string;
};
/** A picture. */
export type WireImage = {
  readonly type: "image";
  readonly source: WireBase64 | WireUrl | WireFile;
};
/** A document. */
export type WireDocument = {
  readonly type: "document";
  readonly source:
    | WireBase64
    | WireUrl
    | WireFile
    | { readonly type: "text"; readonly data: string }
    | {
      readonly type: "content";
      readonly content: string | readonly (WireText | WireImage)[];
    };
  readonly title?: string | null | undefined;
  readonly context?: string | null | undefined;
};
/** A search result that the caller found itself. */
export type WireSearchResult = {
  readonly type: "search_result";
  readonly title: string;
  readonly source: string;
  readonly content: readonly WireText[];
};
/** What the model thought. A signature that is empty or missing marks reasoning that another dialect's model made. */
export type WireThinking = {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature?: string | null | undefined;
};
/** What the model thought, encrypted. */
export type WireRedactedThinking = {
  readonly type: "redacted_thinking";
  readonly data: string;
};
/** A call. `extra_content` is the gateway's own carrier of another dialect's signature. */
export type WireToolUse = {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input?: unknown;
  readonly extra_content?: unknown;
};
/** A tool's definition that was looked up. */
export type WireToolReference = {
  readonly type: "tool_reference";
  readonly tool_name: string;
};
/** A block of a type that only this dialect knows, or of one newer than this file. */
export type WireOther = {
  readonly type: string;
};
/** What a tool result can hold. */
export type WireResultBlock =
  | WireText
  | WireImage
  | WireDocument
  | WireSearchResult
  | WireToolReference;
/** What a call gave. */
export type WireToolResult = {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  readonly content?:
    | string
    | readonly (WireResultBlock | WireOther)[]
    | undefined;
  readonly is_error?: boolean | undefined;
};
/** The blocks that are looked into. */
export type WireBlock =
  | WireText
  | WireImage
  | WireDocument
  | WireSearchResult
  | WireThinking
  | WireRedactedThinking
  | WireToolUse
  | WireToolResult;
/** One turn. */
export type WireMessage = {
  readonly role: "user" | "assistant" | "system";
  readonly content?: string | readonly (WireBlock | WireOther)[] | undefined;
};
/** A function that the caller runs. */
export type WireFunctionTool = {
  readonly type?: "custom" | null | undefined;
  readonly name: string;
  readonly description?: string | undefined;
  readonly input_schema: JsonObject;
  readonly strict?: boolean | undefined;
};
/** A tool that the vendor defines. */
export type WireVendorTool = {
  readonly type: string;
  readonly name?: string | undefined;
};
/** Which tool the model shall call. */
export type WireToolChoice =
  | {
    readonly type: "auto" | "any";
    readonly disable_parallel_tool_use?: boolean | null | undefined;
  }
  | {
    readonly type: "tool";
    readonly name: string;
    readonly disable_parallel_tool_use?: boolean | null | undefined;
  }
  | { readonly type: "none" };
/** How the model shall reason. */
export type WireThinkingConfig =
  | {
    readonly type: "enabled";
    readonly budget_tokens: number;
    readonly display?: string | null | undefined;
  }
  | { readonly type: "adaptive"; readonly display?: string | null | undefined }
  | { readonly type: "disabled" | "between_tools" };
/** An effort, in this dialect's words. */
export type WireEffort = "low" | "medium" | "high" | "xhigh" | "max";
/** What the text of the reply must be. */
export type WireFormat = {
  readonly type: "json_schema";
  readonly schema: JsonObject;
};
/** A request whose tokens are to be counted. */
export type CountTokensRequest = {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  readonly system?: string | readonly WireText[] | undefined;
  readonly tools?: readonly (WireFunctionTool | WireVendorTool)[] | undefined;
  readonly tool_choice?: WireToolChoice | undefined;
  readonly thinking?: WireThinkingConfig | undefined;
  readonly output_config?: {
    readonly effort?: WireEffort | null | undefined;
    readonly format?: WireFormat | null | undefined;
  } | undefined;
  readonly output_format?: WireFormat | null | undefined;
};
/** A request for a message. */
export type MessagesRequest = CountTokensRequest & {
  readonly max_tokens: number;
  readonly stream?: boolean | undefined;
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly top_k?: number | undefined;
  readonly stop_sequences?: readonly string[] | undefined;
  readonly metadata?:
    | { readonly user_id?: string | null | undefined }
    | undefined;
  readonly service_tier?: "auto" | "standard_only" | undefined;
};

/** The least that a reasoning budget may be. */
export const MIN_BUDGET_TOKENS: number = 1024;

const KNOWN_BLOCKS: ReadonlySet<string> = new Set([
  "text",
  "image",
  "document",
  "search_result",
  "thinking",
  "redacted_thinking",
  "tool_use",
  "tool_result",
]);
const KNOWN_RESULT_BLOCKS: ReadonlySet<string> = new Set([
  "text",
  "image",
  "document",
  "search_result",
  "tool_reference",
]);

/** Tells the blocks that are looked into from those taken as they are. */
export function isKnownBlock(block: WireBlock | WireOther): block is WireBlock {
  return KNOWN_BLOCKS.has(block.type);
}

/** Like {@linkcode isKnownBlock}, for blocks of a tool result. */
export function isKnownResultBlock(
  block: WireResultBlock | WireOther,
): block is WireResultBlock {
  return KNOWN_RESULT_BLOCKS.has(block.type);
}

/** Tells a function that the caller runs from a tool that the vendor defines. */
export function isFunctionTool(
  tool: WireFunctionTool | WireVendorTool,
): tool is WireFunctionTool {
  return tool.type === undefined || tool.type === null ||
    tool.type === "custom";
}

/** The error of a union that is told apart by one field: which values that field may have. */
function oneOf(
  words: string,
): { error: (issue: { code?: string }) => string | undefined } {
  return {
    error: (issue) =>
      issue.code === "invalid_union" ? `expected ${words}` : undefined,
  };
}

/** A block of any type but these, taken as it is. */
function otherBlock(known: ReadonlySet<string>) {
  return z.looseObject({
    type: z.string().refine((type) => !known.has(type), { abort: true }),
  }).describe(
    "A block of another type (server tools and their results, newer features). Understood only by models whose upstream speaks this format.",
  );
}

const text = z.looseObject({
  type: z.literal("text"),
  text: z.string().describe("The text."),
}).describe("Text.");
const base64Source = z.looseObject({
  type: z.literal("base64"),
  media_type: z.string().min(1).describe("Media type, e.g. `image/png`."),
  data: z.string().min(1).describe("The bytes in base64."),
});
const urlSource = z.looseObject({
  type: z.literal("url"),
  url: z.string().min(1).describe("Address; the gateway does not fetch it."),
});
const fileSource = z.looseObject({
  type: z.literal("file"),
  file_id: z.string().min(1).describe("Id of a file at the model's vendor."),
});
const image = z.looseObject({
  type: z.literal("image"),
  source: z.discriminatedUnion(
    "type",
    [base64Source, urlSource, fileSource],
    oneOf("base64, url or file"),
  ),
}).describe("A picture.");
const document = z.looseObject({
  type: z.literal("document"),
  source: z.discriminatedUnion("type", [
    base64Source,
    z.looseObject({ type: z.literal("text"), data: z.string() }),
    z.looseObject({
      type: z.literal("content"),
      content: z.union([
        z.string(),
        z.array(
          z.discriminatedUnion("type", [text, image], oneOf("text or image")),
        ),
      ]),
    }),
    urlSource,
    fileSource,
  ], oneOf("base64, text, content, url or file")),
  title: z.string().nullish(),
  context: z.string().nullish(),
}).describe("A document: PDF bytes, text, or blocks of content.");
const searchResult = z.looseObject({
  type: z.literal("search_result"),
  title: z.string(),
  source: z.string(),
  content: z.array(text),
}).describe("A search result that the caller found.");
const thinking = z.looseObject({
  type: z.literal("thinking"),
  thinking: z.string(),
  signature: z.string().nullish(),
}).describe("What the model thought, as it was replied.");
const redactedThinking = z.looseObject({
  type: z.literal("redacted_thinking"),
  data: z.string(),
}).describe("What the model thought, encrypted, as it was replied.");
const toolUse = z.looseObject({
  type: z.literal("tool_use"),
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.unknown().optional().describe("The arguments, an object."),
  extra_content: z.unknown().optional().describe(
    "What the gateway replied here goes back unchanged.",
  ),
}).describe("A call that the model made.");
const toolReference = z.looseObject({
  type: z.literal("tool_reference"),
  tool_name: z.string(),
});
const toolResult = z.looseObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string().min(1),
  content: z.union([
    z.string(),
    z.array(z.union([
      z.discriminatedUnion("type", [
        text,
        image,
        document,
        searchResult,
        toolReference,
      ]),
      otherBlock(KNOWN_RESULT_BLOCKS),
    ])),
  ]).optional(),
  is_error: z.boolean().optional().describe("True where the tool failed."),
}).describe("What a call gave.");
const block = z.union([
  z.discriminatedUnion("type", [
    text,
    image,
    document,
    searchResult,
    thinking,
    redactedThinking,
    toolUse,
    toolResult,
  ]),
  otherBlock(KNOWN_BLOCKS),
]);
const content = z.union([z.string(), z.array(block)]).describe(
  "Text, or blocks in order.",
);
const message = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("user"), content }),
  z.looseObject({ role: z.literal("assistant"), content }),
  z.looseObject({
    role: z.literal("system"),
    content: z.union([
      z.string(),
      z.array(
        z.union([text, otherBlock(new Set(["text"]))]),
      ),
    ]).optional(),
  }).describe("An instruction inside the conversation."),
], oneOf("user, assistant or system"));

const functionTool = z.looseObject({
  type: z.literal("custom").nullish(),
  name: z.string().min(1).describe("Name of the function."),
  description: z.string().optional().describe("What it does, for the model."),
  input_schema: opaqueObject().describe("JSON Schema of the arguments."),
  strict: z.boolean().optional(),
}).describe("A function that the caller runs.");
const vendorTool = z.looseObject({
  type: z.string().refine((type) => type !== "custom", { abort: true }),
  name: z.string().optional(),
}).describe(
  "A tool that the vendor defines or runs. Only for models whose upstream speaks this format.",
);
const noParallel = z.boolean().nullish().describe(
  "True: at most one call per reply.",
);
const toolChoice = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("auto"),
    disable_parallel_tool_use: noParallel,
  }),
  z.looseObject({
    type: z.literal("any"),
    disable_parallel_tool_use: noParallel,
  }),
  z.looseObject({
    type: z.literal("tool"),
    name: z.string().min(1),
    disable_parallel_tool_use: noParallel,
  }),
  z.looseObject({ type: z.literal("none") }),
], oneOf("auto, any, tool or none"));
const display = z.string().nullish().describe(
  "`summarized` or `omitted`: whether the reply shows the reasoning.",
);
const thinkingConfig = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("enabled"),
    budget_tokens: z.int().min(MIN_BUDGET_TOKENS).describe(
      "Tokens for reasoning; less than `max_tokens`.",
    ),
    display,
  }),
  z.looseObject({ type: z.literal("adaptive"), display }),
  z.looseObject({ type: z.literal("disabled") }),
  z.looseObject({ type: z.literal("between_tools") }),
], oneOf("enabled, adaptive, disabled or between_tools"));
const format = z.looseObject({
  type: z.literal("json_schema"),
  schema: opaqueObject().describe("JSON Schema of the reply's text."),
});

const shared = {
  model: z.string().min(1).describe("Model id, as `GET /v1/models` lists it."),
  messages: z.array(message).min(1).describe("The turns, oldest first."),
  system: z.union([z.string(), z.array(text)]).optional().describe(
    "System prompt.",
  ),
  tools: z.array(z.union([functionTool, vendorTool])).optional().describe(
    "Tools that the model may call.",
  ),
  tool_choice: toolChoice.optional().describe(
    "Which tool the model shall call.",
  ),
  thinking: thinkingConfig.optional().describe("How the model shall reason."),
  output_config: z.looseObject({
    effort: z.enum(["low", "medium", "high", "xhigh", "max"]).nullish(),
    format: format.nullish(),
  }).optional().describe("Effort, and the form of the reply's text."),
  output_format: format.nullish().describe(
    "Older place of `output_config.format`.",
  ),
};

/** Body of `POST /v1/messages/count_tokens`. */
export const countTokensRequest: z.ZodType<CountTokensRequest> = z.looseObject(
  shared,
).describe("A request whose input tokens are to be counted.");

/** Body of `POST /v1/messages`. Two rules are beyond it, see {@linkcode decodeRequest} in `request.ts`. */
export const messagesRequest: z.ZodType<MessagesRequest> = z.looseObject({
  ...shared,
  max_tokens: z.int().min(0).describe(
    "Most tokens to generate, reasoning included.",
  ),
  stream: z.boolean().optional().describe("True: server-sent events."),
  temperature: z.number().min(0).max(1).optional().describe(
    "0 to 1. Not together with `top_p`.",
  ),
  top_p: z.number().min(0).max(1).optional().describe(
    "Nucleus sampling, 0 to 1. Not together with `temperature`.",
  ),
  top_k: z.int().min(0).optional().describe("Sample from the k likeliest."),
  stop_sequences: z.array(z.string()).optional().describe(
    "Generation halts when one of them is produced.",
  ),
  metadata: z.looseObject({
    user_id: z.string().nullish().describe(
      "The caller's own id for its user.",
    ),
  }).optional().describe("The caller's own attribution."),
  service_tier: z.enum(["auto", "standard_only"]).optional().describe(
    "Whether capacity set aside for the account may be used.",
  ),
}).describe("A request for a message.");
