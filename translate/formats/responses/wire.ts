/**
 * The schema of a client's request to `POST /v1/responses`. It checks requests and documents
 * them. Fields that it does not name are let through. `decode_request.ts` interprets the fields;
 * upstream replies are read leniently elsewhere.
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
  "input_text",
  "output_text",
  "text",
  "input_image",
  "input_file",
  "input_audio",
  "refusal",
]);
const ITEM_TYPES: ReadonlySet<string> = new Set([
  "reasoning",
  "function_call",
  "custom_tool_call",
  "function_call_output",
  "custom_tool_call_output",
  "additional_tools",
  "configuration_update",
]);
const TOOL_TYPES: ReadonlySet<string> = new Set([
  "function",
  "custom",
  "namespace",
]);
/** Whether the part's type is one that the schema checks. */
export function isKnownPart(
  part: WirePart | UnknownObject,
): part is WirePart {
  return PART_TYPES.has(part.type);
}

export function isMessage(item: Item): item is MessageItem {
  const { type } = item;
  return type === undefined || type === null || type === "message";
}

/** Whether the item's type is one that the schema checks. The item is not a message. */
export function isKnownItem(
  item: KnownItem | UnknownObject,
): item is KnownItem {
  return ITEM_TYPES.has(item.type);
}

/** Whether the tool's type is one that the schema checks. */
export function isKnownTool(tool: WireTool | UnknownObject): tool is WireTool {
  return TOOL_TYPES.has(tool.type);
}

/** Whether the tool choice's type is one that the schema checks. */
export function isKnownChoice(
  choice: ChoiceObject | UnknownObject,
): choice is ChoiceObject {
  return CHOICE_TYPES.has(choice.type);
}

/** Whether the text format's type is one that the schema checks. */
export function isKnownFormat(
  format: TextFormat | UnknownObject,
): format is TextFormat {
  return FORMAT_TYPES.has(format.type);
}

const ONLY_HERE =
  "Anything of a type not listed here: passed on where the model's own format is the Responses format.";

const knownPart = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.enum(["input_text", "output_text", "text"]),
    text: z.string(),
  }).describe("Text."),
  z.looseObject({
    type: z.literal("input_image"),
    image_url: z.string().nullish().describe(
      "The image: a `data:` URL with its bytes, or an http(s) URL.",
    ),
    file_id: z.string().nullish(),
    detail: z.string().nullish(),
  }).describe("An image."),
  z.looseObject({
    type: z.literal("input_file"),
    file_data: z.string().nullish().describe(
      "The file's bytes: a `data:` URL, or bare base64 of a PDF.",
    ),
    file_url: z.string().nullish(),
    file_id: z.string().nullish(),
    filename: z.string().nullish(),
  }).describe("A document."),
  z.looseObject({
    type: z.literal("input_audio"),
    input_audio: z.looseObject({
      data: z.string(),
      format: z.string().min(1),
    }),
  }).describe("Audio."),
  z.looseObject({ type: z.literal("refusal"), refusal: z.string() })
    .describe("The assistant's refusal."),
]);
/** A part of a message's content, or of a call's output. */
export type WirePart = Checked<typeof knownPart>;
const part = z.union([
  knownPart,
  ofUnknownType(PART_TYPES, ONLY_HERE),
]);

const content = z.union([z.string(), list(part)]);
/** The content of a message, or the output of a call. */
export type ItemContent = Checked<typeof content>;
const callId = z.string().min(1).describe(
  "Pairs a call with its output; not the item's own id.",
);

const functionTool = z.looseObject({
  type: z.literal("function"),
  ...FUNCTION_SHAPE,
}).describe("A function that the model may call.");
const customTool = z.looseObject({
  type: z.literal("custom"),
  ...FREE_TEXT_SHAPE,
}).describe("A tool whose input is free text.");
/**
 * A function that the model may call; its name is unique among tools of the same group. Vendors of
 * this format treat an absent `strict` as true.
 */
export type WireFunction = Checked<typeof functionTool>;
/** A tool whose input is free text; its name is unique among tools of the same group. */
export type CustomTool = Checked<typeof customTool>;
const knownTool = z.discriminatedUnion("type", [
  functionTool,
  customTool,
  z.looseObject({
    type: z.literal("namespace"),
    name: z.string().min(1),
    description: z.string().nullish(),
    tools: list(z.union([
      z.discriminatedUnion("type", [functionTool, customTool]),
      ofUnknownType(new Set(["function", "custom"]), ONLY_HERE),
    ])),
  }).describe("A group of tools whose names are unique within the group."),
]);
/** A tool, or a group of tools whose names are unique within the group. */
export type WireTool = Checked<typeof knownTool>;
const tool = z.union([
  knownTool,
  ofUnknownType(
    TOOL_TYPES,
    "A tool that the model's vendor runs. If the model has another format, the tool is dropped and named in `x-gateway-dropped`.",
  ),
]);

const knownFormat = z.discriminatedUnion("type", [
  z.looseObject({ type: z.enum(["text", "json_object"]) }),
  z.looseObject({
    type: z.literal("json_schema"),
    ...SCHEMA_SHAPE,
    name: z.string().min(1),
  }),
]);
type TextFormat = Checked<typeof knownFormat>;
const textFormat = z.union([
  knownFormat,
  ofUnknownType(FORMAT_TYPES, ONLY_HERE),
]);

const effort = z.enum(EFFORTS);

const message = z.looseObject({
  type: z.literal("message").nullish(),
  role: z.enum(["user", "assistant", "system", "developer"]),
  content,
  phase: z.unknown().optional(),
}).describe("A message.");
/** A message; the only item that may lack a type. */
export type MessageItem = Checked<typeof message>;
const knownItem = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("reasoning"),
    summary: z.unknown().optional(),
    content: z.unknown().optional(),
    encrypted_content: z.string().nullish(),
  }).describe("Reasoning of an earlier reply."),
  z.looseObject({
    type: z.literal("function_call"),
    call_id: callId,
    name: z.string().min(1),
    namespace: z.string().nullish(),
    arguments: z.string(),
  }).describe("A call of an earlier reply."),
  z.looseObject({
    type: z.literal("custom_tool_call"),
    call_id: callId,
    name: z.string().min(1),
    namespace: z.string().nullish(),
    input: z.string(),
  }).describe("A call with free text as input, of an earlier reply."),
  z.looseObject({
    type: z.enum(["function_call_output", "custom_tool_call_output"]),
    call_id: callId,
    output: content,
  }).describe("The output of a call."),
  z.looseObject({
    type: z.literal("additional_tools"),
    tools: list(tool),
  }).describe("Additional tools."),
  z.looseObject({
    type: z.literal("configuration_update"),
    reasoning: z.looseObject({ effort: effort.nullish() }).nullish(),
    text: z.looseObject({ format: textFormat.nullish() }).nullish(),
  }).describe("New settings; each is in force until the next update of it."),
]);
/** An input item of a known type, other than a message. */
export type KnownItem = Checked<typeof knownItem>;
const item = z.union([
  z.discriminatedUnion("type", [message, ...knownItem.options]),
  ofUnknownType(new Set([...ITEM_TYPES, "message"]), ONLY_HERE),
]);
export type Item = MessageItem | KnownItem | UnknownObject;

const knownChoice = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.enum(["function", "custom"]),
    name: z.string().min(1),
    namespace: z.string().nullish(),
  }),
  z.looseObject({
    type: z.literal("allowed_tools"),
    mode: z.enum(["auto", "required"]),
    tools: list(opaqueObject()),
  }),
]);
type ChoiceObject = Checked<typeof knownChoice>;
const toolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  knownChoice,
  ofUnknownType(CHOICE_TYPES, ONLY_HERE),
]);

const request = z.looseObject({
  model: z.string().min(1).describe(
    "Model id, exactly as listed by GET /v1/models.",
  ),
  input: z.union([z.string(), list(item)]).describe(
    "The conversation: a text, or items, oldest first.",
  ),
  instructions: z.string().nullish().describe("The system prompt."),
  stream: z.boolean().nullish().describe(
    "True for server-sent events. Default false.",
  ),
  tools: list(tool).nullish().describe("Tools that the model may call."),
  tool_choice: toolChoice.nullish().describe(
    "Which tool to call: none, auto, required, one by name, or a set of allowed ones.",
  ),
  parallel_tool_calls: z.boolean().nullish().describe(
    "False for at most one call per reply. Default true.",
  ),
  max_tool_calls: z.int().min(1).nullish().describe(
    "Most calls of tools that the model's vendor runs.",
  ),
  ...settingsShape(SETTINGS),
  text: z.looseObject({
    format: textFormat.nullish().describe("The format required of the text."),
    ...settingsShape(SETTINGS, "text"),
  }).nullish().describe("The form of the reply's text."),
  reasoning: z.looseObject({
    effort: effort.nullish().describe(
      "How much a reasoning model should reason.",
    ),
    summary: z.string().nullish().describe(
      "auto, concise or detailed: asks for summaries of the reasoning.",
    ),
    generate_summary: z.string().nullish().describe(
      "Older name of `summary`.",
    ),
    context: z.string().nullish(),
    mode: z.string().nullish(),
  }).nullish().describe("How the model should reason."),
  include: list(z.string()).nullish().describe(
    "Additional data that the reply should contain, e.g. `reasoning.encrypted_content`.",
  ),
  store: z.boolean().nullish().describe(
    "Whether the reply may be stored, so that later requests can refer to it; absent: true. The reply states whether it is.",
  ),
  background: z.boolean().nullish().describe("Only false is supported."),
  previous_response_id: z.string().min(1).nullish().describe(
    "Id of a stored reply of the same key, which this request continues.",
  ),
  conversation: z.unknown().optional().describe("Not supported."),
  prompt: z.unknown().optional().describe("Not supported."),
  truncation: z.string().nullish().describe("disabled or auto."),
  metadata: opaqueObject().nullish().describe("Your own labels."),
});
export type ResponsesRequest = Checked<typeof request>;

/** The body of `POST /v1/responses`. */
export const responsesRequest: z.ZodType<ResponsesRequest> = request;
