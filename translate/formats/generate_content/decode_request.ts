/**
 * Decodes a request in the generate-content format. Its schema is in `wire.ts`,
 * `decode_messages.ts` decodes its turns, `encode_request.ts` is the inverse. Model and stream are
 * in the path.
 */
import { ApiError, invalidField } from "../../model/error.ts";
import { withDoubles } from "../../bytes/exact_json.ts";
import { isObject, type JsonObject, textIn } from "../../bytes/json.ts";
import type { FieldNames } from "../../model/field_names.ts";
import type {
  Effort,
  GenerationRequest,
  OutputFormat,
  Reasoning,
} from "../../model/request.ts";
import { check } from "../../model/schema.ts";
import type { Settings } from "../../model/settings.ts";
import { decodeSettings, settingsShape } from "../../model/settings_table.ts";
import { asJson, newUnknownFields } from "../../model/unknown_fields.ts";
import {
  decodeMessages,
  decodeSystem,
  note,
  type Reading,
} from "./decode_messages.ts";
import { decodeTools } from "./decode_tools.ts";
import { jsonSchema } from "./json_schema.ts";
import { type OneSpelling, oneSpelling } from "./key_names.ts";
import { SETTINGS } from "./settings.ts";
import {
  DYNAMIC_THINKING_BUDGET,
  type GenerateContentRequest,
  generateContentRequest,
  THINKING_LEVELS,
  type WireConfig,
  type WireThinkingConfig,
} from "./wire.ts";
import { type Steps } from "../../steps.ts";

const CONFIG = "generationConfig.";

const WORDS: FieldNames = {
  ...SETTINGS.names,
  messages: "contents",
  image: "inlineData",
  document: "inlineData",
  audio: "inlineData",
  arguments: "contents[].parts[].functionCall.args",
  system: "systemInstruction",
  tools: "tools",
  toolChoice: "toolConfig.functionCallingConfig",
  format: `${CONFIG}responseMimeType`,
  reasoning: `${CONFIG}thinkingConfig`,
  parallelTools: "parallelToolCalls",
};

/**
 * Fields whose loss would change the meaning: each is a part of the prompt that the vendor keeps.
 */
const ESSENTIAL_FIELDS: readonly string[] = [
  "cachedContent",
  "continuationToken",
];
const TOP_FIELDS: ReadonlySet<string> = new Set([
  "contents",
  "systemInstruction",
  "tools",
  "toolConfig",
  "generationConfig",
  ...Object.keys(settingsShape(SETTINGS)),
  ...ESSENTIAL_FIELDS,
]);
const CONFIG_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(settingsShape(SETTINGS, "generationConfig")),
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "responseModalities",
  "thinkingConfig",
]);
const THINKING_FIELDS: ReadonlySet<string> = new Set([
  "includeThoughts",
  "thinkingBudget",
  "thinkingLevel",
]);

/**
 * Decodes the body of `:generateContent` and `:streamGenerateContent`. The model is empty: the path
 * states it.
 *
 * @throws {ApiError} `invalid_request` with the path of the first field at fault
 */
export function* decodeRequest(body: unknown): Steps<GenerationRequest> {
  const given = isObject(body) ? oneSpelling(body) : undefined;
  try {
    return yield* decode(withConfig(given?.body ?? body), given);
  } catch (error) {
    throw inWords(error, given);
  }
}

/** The error of a check, naming fields in the client's spelling. */
export function inWords(
  error: unknown,
  given: OneSpelling | undefined,
): unknown {
  const path = error instanceof ApiError ? error.details.param : undefined;
  if (!(error instanceof ApiError) || path === undefined) return error;
  const written = given?.written(path) ?? path;
  if (written === path) return error;
  const problem = error.message.startsWith(`${path}: `)
    ? error.message.slice(path.length + 2)
    : error.message;
  const { code, wrongFields } = error.details;
  const renamed = invalidField(written, problem, code);
  return wrongFields === undefined
    ? renamed
    : new ApiError(renamed.kind, renamed.message, {
      ...renamed.details,
      wrongFields: wrongFields.map((name) => given?.written(name) ?? name),
    });
}

/** The body with the config's own numbers as doubles. */
export function withConfig(body: unknown): unknown {
  if (!isObject(body) || !isObject(body["generationConfig"])) return body;
  const config = withDoubles(body["generationConfig"]);
  return config === body["generationConfig"]
    ? body
    : { ...body, generationConfig: config };
}

function* decode(
  body: unknown,
  given: OneSpelling | undefined,
): Steps<GenerationRequest> {
  const request = check(generateContentRequest, body);
  yield;
  const written = given?.written ?? ((path: string) => path);
  const reading: Reading = { unknown: newUnknownFields(), written };
  const { unknown } = reading;
  note(request, TOP_FIELDS, "", reading);
  const config = request.generationConfig ?? {};
  note(config, CONFIG_FIELDS, CONFIG, reading);
  note(
    config.thinkingConfig,
    THINKING_FIELDS,
    `${CONFIG}thinkingConfig.`,
    reading,
  );
  noteDemands(request, config, reading);
  const system = decodeSystem(request.systemInstruction, reading);
  const turns = yield* decodeMessages(request.contents, reading);
  const toolSet = decodeTools(request, reading);
  const settings = readSettings(request, reading);
  const format = formatOf(config);
  const reasoning = reasoningOf(config.thinkingConfig ?? undefined, reading);
  return {
    model: "",
    stream: false,
    system,
    turns,
    ...toolSet,
    ...settings,
    ...(format === undefined ? {} : { format }),
    ...(reasoning === undefined ? {} : { reasoning }),
    // Between calls of tools, some models need their reasoning back.
    ...(reasoning?.visible === true || (toolSet.tools?.length ?? 0) > 0
      ? {}
      : { hidesReasoning: true }),
    wantUsage: false,
    fieldNames: wordsOf(config, given),
    unknownFields: [...unknown.optional],
    essential: [...unknown.essential],
  };
}

/**
 * Records fields that change the content of the reply and that only upstreams of this format
 * support.
 */
function noteDemands(
  request: GenerateContentRequest,
  config: WireConfig,
  { unknown, written }: Reading,
): void {
  const fields: JsonObject = { ...request };
  for (const field of ESSENTIAL_FIELDS) {
    if (textIn(fields[field]) !== undefined) {
      unknown.essential.add(written(field));
    }
  }
  const isTextOnly = (config.responseModalities ?? []).every((modality) =>
    /^(?:text|modality_unspecified)$/i.test(modality)
  );
  if (!isTextOnly) {
    unknown.essential.add(written(`${CONFIG}responseModalities`));
  }
  const type = mimeTypeOf(config);
  if (type !== undefined && type !== JSON_TYPE && type !== "text/plain") {
    unknown.essential.add(written(WORDS.format));
  }
}

const JSON_TYPE = "application/json";

function mimeTypeOf({ responseMimeType }: WireConfig): string | undefined {
  return textIn(responseMimeType)?.toLowerCase();
}

/** The settings; what they cannot hold is recorded in the client's spelling. */
function readSettings(
  request: GenerateContentRequest,
  { unknown, written }: Reading,
): Partial<Settings> {
  const found = newUnknownFields();
  const settings = decodeSettings(SETTINGS, asJson(request), found);
  for (const path of found.optional) unknown.optional.add(written(path));
  for (const path of found.essential) unknown.essential.add(written(path));
  return settings;
}

function formatOf(config: WireConfig): OutputFormat | undefined {
  const { responseSchema, responseJsonSchema } = config;
  if (isObject(responseJsonSchema)) {
    return { type: "schema", schema: responseJsonSchema };
  }
  if (responseSchema) {
    return { type: "schema", schema: jsonSchema(responseSchema) };
  }
  const type = mimeTypeOf(config);
  return type === JSON_TYPE
    ? { type: "json" }
    : type === undefined
    ? undefined
    : { type: "text" };
}

/** By default the format's replies do not have the reasoning. */
function reasoningOf(
  thinking: WireThinkingConfig | undefined,
  { written }: Reading,
): Reasoning | undefined {
  if (thinking === undefined) return undefined;
  const { thinkingBudget: budget, includeThoughts } = thinking;
  const visible = { visible: includeThoughts === true };
  if (budget === 0) return { mode: "off" };
  const level = textIn(thinking.thinkingLevel)?.toLowerCase();
  const isUnspecified = level === undefined ||
    level === "thinking_level_unspecified";
  if (!isUnspecified) {
    if (!isEffort(level)) {
      throw invalidField(
        written(`${CONFIG}thinkingConfig.thinkingLevel`),
        "expected MINIMAL, LOW, MEDIUM, HIGH or XHIGH",
      );
    }
    return { mode: "on", effort: level, ...visible };
  }
  // A client that only asks to see no thoughts does not ask for any.
  if (typeof budget !== "number" && !visible.visible) return undefined;
  return typeof budget === "number" && budget !== DYNAMIC_THINKING_BUDGET
    ? { mode: "on", budgetTokens: budget, ...visible }
    : { mode: "auto", ...visible };
}

function isEffort(level: string): level is Effort {
  const levels: ReadonlySet<string> = THINKING_LEVELS;
  return levels.has(level);
}

function wordsOf(
  config: WireConfig,
  given: OneSpelling | undefined,
): FieldNames {
  const format = isObject(config.responseJsonSchema)
    ? `${CONFIG}responseJsonSchema`
    : config.responseSchema
    ? `${CONFIG}responseSchema`
    : WORDS.format;
  const words = format === WORDS.format ? WORDS : { ...WORDS, format };
  // The usual case: making all names costs as much as the rest of the decoder.
  if (given?.isOther !== true) return words;
  return Object.fromEntries(
    Object.entries(words).map(([field, path]) => [field, given.written(path)]),
  ) as FieldNames;
}
