/**
 * The schema of a client's request to `POST /v1/chat/completions`. It checks requests and
 * documents them. Fields that it does not name are let through. `decode_request.ts` interprets
 * the fields; upstream replies are read leniently elsewhere.
 */
import { z } from "zod";
import {
  CHOICE_TYPES,
  EFFORTS,
  FORMAT_TYPES,
  FREE_TEXT_SHAPE,
  FUNCTION_SHAPE,
  SCHEMA_SHAPE,
} from "../../families/chat/wire.ts";
import {
  type Checked,
  list,
  ofUnknownType,
  opaqueObject,
  type UnknownObject,
} from "../../model/schema.ts";
import { settingsShape } from "../../model/settings_table.ts";
import { SETTINGS } from "./settings.ts";

const PART_TYPES: ReadonlySet<string> = new Set([
  "text",
  "image_url",
  "input_audio",
  "file",
  "refusal",
]);
const TOOL_TYPES: ReadonlySet<string> = new Set(["function", "custom"]);
export const ROLES: readonly string[] = [
  "system",
  "developer",
  "user",
  "assistant",
  "tool",
  "function",
];

/** Whether the part's type is one that the schema checks. */
export function isKnownPart(part: ChatPart | UnknownObject): part is ChatPart {
  return PART_TYPES.has(part.type);
}

/** Whether the call's type is one that the schema checks. */
export function isKnownCall(
  call: ChatToolCall | UnknownObject,
): call is ChatToolCall {
  return call.type === undefined || TOOL_TYPES.has(call.type);
}

/** Whether the tool's type is one that the schema checks. */
export function isKnownTool(tool: ChatTool | UnknownObject): tool is ChatTool {
  return tool.type === undefined || TOOL_TYPES.has(tool.type);
}

/** Whether the tool choice's type is one that the schema checks. */
export function isKnownChoice(
  choice: ChatNamedChoice | UnknownObject,
): choice is ChatNamedChoice {
  return choice.type === undefined || CHOICE_TYPES.has(choice.type);
}

/** Whether the response format's type is one that the schema checks. */
export function isKnownFormat(
  format: ChatResponseFormat | UnknownObject,
): format is ChatResponseFormat {
  return FORMAT_TYPES.has(format.type);
}

const ONLY_HERE =
  "Anything of a type not listed here: passed on where the model's own format is the chat-completion format.";

const knownPart = z.discriminatedUnion("type", [
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
]);
/** A part of a message's content, of a known type. */
export type ChatPart = Checked<typeof knownPart>;
const part = z.union([knownPart, ofUnknownType(PART_TYPES, ONLY_HERE)]);

const content = z.union([z.string(), list(part)]);
export type ChatContent = Checked<typeof content>;
const name = z.string().nullish().describe("Name of the participant.");

const calledFunction = z.looseObject({
  name: z.string().describe("Name of the function."),
  arguments: z.string().describe("Its arguments as JSON text."),
});

const knownCall = z.discriminatedUnion("type", [
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
]);
/** A call in an assistant message. Without a type it is a function call. */
export type ChatToolCall = Checked<typeof knownCall>;
const toolCall = z.union([
  knownCall,
  ofUnknownType(TOOL_TYPES, ONLY_HERE),
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
    tool_calls: list(toolCall).nullish().describe(
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
    extra_content: z.unknown().optional().describe(
      "Signatures of the text or of a stream, as received in an earlier reply.",
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
export type ChatMessage = Checked<typeof message>;

const definedFunction = z.looseObject(FUNCTION_SHAPE);

const freeTextTool = z.looseObject(FREE_TEXT_SHAPE);
export type FunctionFields = Checked<typeof definedFunction>;
export type FreeTextFields = Checked<typeof freeTextTool>;

const knownTool = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("function").optional(),
    function: definedFunction,
  }).describe("A function that the model may call."),
  z.looseObject({
    type: z.literal("custom"),
    custom: freeTextTool,
  }).describe("A tool with free text as input."),
]);
type ChatTool = Checked<typeof knownTool>;
const tool = z.union([
  knownTool,
  ofUnknownType(TOOL_TYPES, ONLY_HERE),
]);

const knownChoice = z.discriminatedUnion("type", [
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
      tools: list(opaqueObject()),
    }),
  }),
]);
type ChatNamedChoice = Checked<typeof knownChoice>;
const toolChoice = z.union([
  z.enum(["none", "auto", "required", "any"]),
  knownChoice,
  ofUnknownType(CHOICE_TYPES, ONLY_HERE),
]);

const knownFormat = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text") }).describe("Plain text."),
  z.looseObject({ type: z.literal("json_object") }).describe(
    "Any JSON object.",
  ),
  z.looseObject({
    type: z.literal("json_schema"),
    json_schema: z.looseObject(SCHEMA_SHAPE),
  }).describe("JSON that fits a schema."),
]);
type ChatResponseFormat = Checked<typeof knownFormat>;
const responseFormat = z.union([
  knownFormat,
  ofUnknownType(FORMAT_TYPES, ONLY_HERE),
]);

const effort = z.enum(["default", ...EFFORTS]);
export type ChatEffort = Checked<typeof effort>;

const request = z.looseObject({
  model: z.string().min(1).describe(
    "Model id, exactly as listed by GET /v1/models.",
  ),
  messages: list(message).min(1).describe(
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
  ...settingsShape(SETTINGS),
  tools: list(tool).nullish().describe("Tools that the model may call."),
  tool_choice: toolChoice.nullish().describe(
    "Which tool to call: none, auto, required, or one by name.",
  ),
  parallel_tool_calls: z.boolean().nullish().describe(
    "False for at most one call per reply.",
  ),
  functions: list(definedFunction).nullish().describe(
    "Deprecated form of `tools`.",
  ),
  function_call: z.union([
    z.enum(["none", "auto"]),
    z.looseObject({ name: z.string().min(1) }),
  ]).nullish().describe("Deprecated form of `tool_choice`."),
  response_format: responseFormat.nullish().describe(
    "The format required of the reply's text.",
  ),
  reasoning_effort: effort.nullish().describe(
    "How much a reasoning model should reason; `default` leaves it to the model.",
  ),
  logit_bias: z.record(z.string(), z.number()).nullish().describe(
    "Bias per token id.",
  ),
  modalities: list(z.string()).nullish().describe(
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
  prompt_cache_retention: z.string().nullish().describe(
    "How long the prompt may stay in a cache.",
  ),
  moderation: opaqueObject().nullish().describe(
    "Moderation of the prompt and the reply by the model's vendor.",
  ),
  web_search_options: opaqueObject().nullish().describe(
    "Asks for a web search. Only where the model's own format is this one.",
  ),
});
export type ChatRequest = Checked<typeof request>;

/** The body of `POST /v1/chat/completions`. */
export const chatCompletionsRequest: z.ZodType<ChatRequest> = request;
