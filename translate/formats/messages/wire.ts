/**
 * The request bodies of the messages format (`POST /v1/messages` and its `count_tokens`), as
 * schemas for the decoder and the OpenAPI document. Objects are loose, because newer fields must be
 * able to pass through. `decode_request.ts` translates the fields.
 */
import { z } from "zod";
import { objectOr } from "../../bytes/json.ts";
import { type Checked, list, opaqueObject } from "../../model/schema.ts";
import { settingsShape } from "../../model/settings_table.ts";
import { SETTINGS } from "./settings.ts";

/** A block of a type that only this dialect has, or one newer than this file. */
export type WireOther = { readonly type: string };

/** The smallest reasoning budget. */
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

/** Whether a block's type is decoded; others pass as they are. */
export function isKnownBlock(block: WireBlock | WireOther): block is WireBlock {
  return KNOWN_BLOCKS.has(block.type);
}

/** Like {@linkcode isKnownBlock}, for blocks of a tool result. */
export function isKnownResultBlock(
  block: WireResultBlock | WireOther,
): block is WireResultBlock {
  return KNOWN_RESULT_BLOCKS.has(block.type);
}

/** Whether a block changes the tools by a tool's name or definition rather than a server's. */
export function isToolChange(block: object): block is WireToolChange {
  if (!("type" in block) || !("tool" in block)) return false;
  const { type } = objectOr(block.tool);
  return (block.type === "tool_addition" || block.type === "tool_removal") &&
    (type === "tool_reference" || type === "tool_definition");
}

/** Whether a tool is a function that the client runs rather than a tool that the vendor defines. */
export function isFunctionTool(
  tool: WireFunctionTool | WireVendorTool,
): tool is WireFunctionTool {
  return tool.type === undefined || tool.type === null ||
    tool.type === "custom";
}

/** The error text of a discriminated union: the values that its discriminator may have. */
function oneOf(
  words: string,
): { error: (issue: { code?: string }) => string | undefined } {
  return {
    error: (issue) =>
      issue.code === "invalid_union" ? `expected ${words}` : undefined,
  };
}

/** A block of any other type, passed as it is. */
function otherBlock(known: ReadonlySet<string>): z.ZodType<WireOther> {
  return z.looseObject({
    type: z.string().refine((type) => !known.has(type), { abort: true }),
  }).describe(
    "A block of another type (server tools and their results, newer features). Supported only by models whose upstream has this format.",
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
export type WireBase64 = Checked<typeof base64Source>;
const urlSource = z.looseObject({
  type: z.literal("url"),
  url: z.string().min(1).describe("URL; the gateway does not fetch it."),
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
export type WireImage = Checked<typeof image>;
const document = z.looseObject({
  type: z.literal("document"),
  source: z.discriminatedUnion("type", [
    base64Source,
    z.looseObject({ type: z.literal("text"), data: z.string() }),
    z.looseObject({
      type: z.literal("content"),
      content: z.union([
        z.string(),
        list(
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
export type WireDocument = Checked<typeof document>;
const searchResult = z.looseObject({
  type: z.literal("search_result"),
  title: z.string(),
  source: z.string(),
  content: list(text),
}).describe("A search result that the client provides.");
export type WireSearchResult = Checked<typeof searchResult>;
const thinking = z.looseObject({
  type: z.literal("thinking"),
  thinking: z.string(),
  signature: z.string().nullish(),
}).describe("The model's reasoning, unchanged from the reply.");
const redactedThinking = z.looseObject({
  type: z.literal("redacted_thinking"),
  data: z.string(),
}).describe("The model's reasoning, encrypted, unchanged from the reply.");
const toolUse = z.looseObject({
  type: z.literal("tool_use"),
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.unknown().optional().describe("The arguments, an object."),
  extra_content: z.unknown().optional().describe(
    "Return it as it was in the gateway's reply.",
  ),
}).describe("A call that the model made.");
/** A call. `extra_content` is where the gateway carries another dialect's signature. */
export type WireToolUse = Checked<typeof toolUse>;
const toolReference = z.looseObject({
  type: z.literal("tool_reference"),
  tool_name: z.string(),
});
const resultBlock = z.discriminatedUnion("type", [
  text,
  image,
  document,
  searchResult,
  toolReference,
]);
export type WireResultBlock = Checked<typeof resultBlock>;
const toolResult = z.looseObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string().min(1),
  content: z.union([
    z.string(),
    list(z.union([resultBlock, otherBlock(KNOWN_RESULT_BLOCKS)])),
  ]).optional(),
  is_error: z.boolean().optional().describe("True where the tool failed."),
}).describe("The result of a call.");
export type WireToolResult = Checked<typeof toolResult>;
const knownBlock = z.discriminatedUnion("type", [
  text,
  image,
  document,
  searchResult,
  thinking,
  redactedThinking,
  toolUse,
  toolResult,
]);
export type WireBlock = Checked<typeof knownBlock>;
const block = z.union([knownBlock, otherBlock(KNOWN_BLOCKS)]);
const content = z.union([z.string(), list(block)]).describe(
  "Text, or blocks in order.",
);
const functionTool = z.looseObject({
  type: z.literal("custom").nullish(),
  name: z.string().min(1).describe("Name of the function."),
  description: z.string().optional().describe("What it does, for the model."),
  input_schema: opaqueObject().describe("JSON Schema of the arguments."),
  strict: z.boolean().optional(),
}).describe("A function that the client runs.");
/** A function that the client runs. */
export type WireFunctionTool = Checked<typeof functionTool>;
const vendorTool = z.looseObject({
  type: z.string().refine((type) => type !== "custom", { abort: true }),
  name: z.string().optional(),
}).describe(
  "A tool that the vendor defines or runs. Only for models whose upstream has this format.",
);
export type WireVendorTool = Checked<typeof vendorTool>;
const changedTool = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("tool_reference"),
    name: z.string().min(1),
  }),
  z.looseObject({
    type: z.literal("tool_definition"),
    definition: z.union([functionTool, vendorTool]),
  }),
]);
const toolChange = z.looseObject({
  type: z.enum(["tool_addition", "tool_removal"]),
  tool: z.union([
    changedTool,
    otherBlock(new Set(["tool_reference", "tool_definition"])),
  ]),
}).describe("From here on the model is offered the tool, or no longer.");
/** A change of the tools in a system turn: from there on a tool is offered, or no longer. */
export type WireToolChange = Checked<typeof toolChange> & {
  readonly tool: Checked<typeof changedTool>;
};
const message = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("user"), content }),
  z.looseObject({ role: z.literal("assistant"), content }),
  z.looseObject({
    role: z.literal("system"),
    content: z.union([
      z.string(),
      list(
        z.union([
          z.discriminatedUnion("type", [text, toolChange]),
          otherBlock(new Set(["text", "tool_addition", "tool_removal"])),
        ]),
      ),
    ]).optional(),
    clear_at: z.unknown().optional().describe(
      "`next_user_message`: the text is left out once a later user message exists.",
    ),
  }).describe("An instruction inside the conversation."),
], oneOf("user, assistant or system"));

export type WireMessage = Checked<typeof message>;

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
export type WireToolChoice = Checked<typeof toolChoice>;
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
export type WireThinkingConfig = Checked<typeof thinkingConfig>;
const format = z.looseObject({
  type: z.literal("json_schema"),
  schema: opaqueObject().describe("JSON Schema of the reply's text."),
});

const commonFields = {
  model: z.string().min(1).describe("Model id, as `GET /v1/models` lists it."),
  messages: list(message).min(1).describe("The turns, oldest first."),
  system: z.union([z.string(), list(text)]).optional().describe(
    "System prompt.",
  ),
  tools: list(z.union([functionTool, vendorTool])).optional().describe(
    "Tools that the model may call.",
  ),
  tool_choice: toolChoice.optional().describe(
    "Which tool the model must or may call.",
  ),
  thinking: thinkingConfig.optional().describe("The reasoning settings."),
  output_config: z.looseObject({
    effort: z.enum(["low", "medium", "high", "xhigh", "max"]).nullish(),
    format: format.nullish(),
  }).optional().describe(
    "Reasoning effort, and the required form of the reply's text.",
  ),
  output_format: format.nullish().describe(
    "Older name of `output_config.format`.",
  ),
};

const counted = z.looseObject(commonFields).describe(
  "A request whose input tokens are to be counted.",
);

export type CountTokensRequest = Checked<typeof counted>;

/** Schema of the body of `POST /v1/messages/count_tokens`. */
export const countTokensRequest: z.ZodType<CountTokensRequest> = counted;

const request = z.looseObject({
  ...commonFields,
  stream: z.boolean().optional().describe("True: server-sent events."),
  ...settingsShape(SETTINGS),
  metadata: z.looseObject(settingsShape(SETTINGS, "metadata")).optional()
    .describe("The client's own attribution."),
}).describe("A request for a message.");

/**
 * Schema of the body of `POST /v1/messages`. {@linkcode decodeRequest} in `decode_request.ts`
 * checks two more rules.
 */
export const messagesRequest: z.ZodType<Checked<typeof request>> = request;
