/**
 * The request body of the generate-content format, as a schema for the decoder and the OpenAPI
 * document, and the format's constants: finish reasons, block reasons and error statuses. Objects
 * are loose, because newer fields must be able to pass through. From
 * ai.google.dev/api/generate-content and the Vertex `v1` protos (2026-11).
 */
import { z } from "zod";
import type { JsonObject } from "../../bytes/json.ts";
import type { StopReason } from "../../model/reply.ts";
import type { Effort } from "../../model/request.ts";
import { type Checked, list, opaqueObject } from "../../model/schema.ts";
import { settingsShape } from "../../model/settings_table.ts";
import { SETTINGS } from "./settings.ts";

/** One turn in this format. */
export interface WireContent {
  /** The turn's role; tool results are in `user` turns. */
  readonly role: "user" | "model";
  /** Never empty: the format refuses that. */
  readonly parts: readonly JsonObject[];
}

/**
 * The neutral stop reason of each finish reason. `lost`: what the model wrote was unusable. A reply
 * with nothing else is an error that a client may retry, not an empty success that ends an agent;
 * after other content the reply is incomplete. `lost_call`: the same, but a call in the reply is
 * whole, and the client may run it.
 */
export const FINISH_REASONS: ReadonlyMap<
  string,
  StopReason | "lost" | "lost_call"
> = new Map<string, StopReason | "lost" | "lost_call">([
  ["STOP", "end"],
  ["MAX_TOKENS", "max_tokens"],
  // The reply goes on in another request, which the gateway does not make: the client decides
  // whether more is worth its price.
  ["CONTINUATION", "max_tokens"],
  ["SAFETY", "refusal"],
  ["RECITATION", "refusal"],
  ["BLOCKLIST", "refusal"],
  ["PROHIBITED_CONTENT", "refusal"],
  ["SPII", "refusal"],
  ["MODEL_ARMOR", "refusal"],
  ["IMAGE_SAFETY", "refusal"],
  ["IMAGE_PROHIBITED_CONTENT", "refusal"],
  ["IMAGE_RECITATION", "refusal"],
  ["ESCALATION", "refusal"],
  ["LANGUAGE", "other"],
  ["OTHER", "other"],
  ["MALFORMED_FUNCTION_CALL", "lost"],
  ["MALFORMED_RESPONSE", "lost"],
  // Neither means that the vendor refuses the content: the same request may succeed.
  ["NO_IMAGE", "lost"],
  ["IMAGE_OTHER", "lost"],
  // The vendor limits the operator's account.
  ["PUP_LIMITED_DISABLED", "lost"],
  ["UNEXPECTED_TOOL_CALL", "lost_call"],
  ["TOO_MANY_TOOL_CALLS", "lost_call"],
  ["MISSING_THOUGHT_SIGNATURE", "lost_call"],
]);

/**
 * Finish reasons without a meaning. In the last frame of a stream such a reason still marks the end
 * of the answer.
 */
export const UNSPECIFIED_REASONS: ReadonlySet<string> = new Set([
  "FINISH_REASON_UNSPECIFIED",
  "BLOCK_REASON_UNSPECIFIED",
  "BLOCKED_REASON_UNSPECIFIED",
]);

/**
 * Finish reasons by number, as sent with `enum-encoding=int`. The numbers are Vertex's, the only
 * ones in the recordings; from 10 on its versions disagree on the word, but up to 12 all of them
 * are refusals.
 */
export const FINISH_REASON_NUMBERS: readonly (string | undefined)[] = [
  undefined,
  "STOP",
  "MAX_TOKENS",
  "SAFETY",
  "RECITATION",
  "OTHER",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "MALFORMED_FUNCTION_CALL",
  "MODEL_ARMOR",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
];

/**
 * Block reasons by number, 0 having no meaning; the words need no table, because each of them is a
 * refusal.
 */
export const BLOCK_REASON_NUMBERS: readonly (string | undefined)[] = [
  undefined,
  "SAFETY",
  "OTHER",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
];

/**
 * HTTP status of each `google.rpc.Code` word, for errors that arrive after the status line
 * (google/rpc/code.proto).
 */
export const RPC_STATUSES: ReadonlyMap<string, number> = new Map([
  ["INVALID_ARGUMENT", 400],
  ["FAILED_PRECONDITION", 400],
  ["OUT_OF_RANGE", 400],
  ["UNAUTHENTICATED", 401],
  ["PERMISSION_DENIED", 403],
  ["NOT_FOUND", 404],
  ["ABORTED", 409],
  ["ALREADY_EXISTS", 409],
  ["RESOURCE_EXHAUSTED", 429],
  ["CANCELLED", 502],
  ["UNIMPLEMENTED", 502],
  ["INTERNAL", 500],
  ["UNKNOWN", 500],
  ["DATA_LOSS", 500],
  ["UNAVAILABLE", 503],
  ["DEADLINE_EXCEEDED", 504],
]);

/** Media types by file extension, for URLs whose type the client's format has no field for. */
export const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["webp", "image/webp"],
  ["gif", "image/gif"],
  ["heic", "image/heic"],
  ["heif", "image/heif"],
  ["pdf", "application/pdf"],
  ["txt", "text/plain"],
  ["md", "text/markdown"],
  ["html", "text/html"],
  ["csv", "text/csv"],
  ["xml", "text/xml"],
  ["json", "application/json"],
  ["wav", "audio/wav"],
  ["mp3", "audio/mp3"],
  ["aiff", "audio/aiff"],
  ["aac", "audio/aac"],
  ["ogg", "audio/ogg"],
  ["flac", "audio/flac"],
  ["mp4", "video/mp4"],
  ["mpeg", "video/mpeg"],
  ["mov", "video/mov"],
  ["webm", "video/webm"],
]);

/** Media types that a function response may contain; others follow it in a user turn. */
export const RESPONSE_MEDIA_TYPES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/webp",
  "application/pdf",
  "text/plain",
]);

export const THINKING_LEVELS: ReadonlySet<Effort> = new Set<Effort>([
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
]);

/** Thinking budgets for efforts, where the model accepts only a budget. */
export const EFFORT_BUDGETS: Readonly<Record<Effort, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 24576,
  xhigh: 32768,
  max: 32768,
};

/** Efforts for budgets below a bound, first match; larger budgets are `high`. */
export const BUDGET_EFFORTS: readonly (readonly [number, Effort])[] = [
  [4096, "low"],
  [16384, "medium"],
  [Infinity, "high"],
];

/** The smallest budget of the models that cannot switch reasoning off. */
export const MIN_THINKING_BUDGET = 128;

/** The budget with which the model decides how much to reason. */
export const DYNAMIC_THINKING_BUDGET: number = -1;

/**
 * The documented placeholder for the signature of a call that another model made
 * (ai.google.dev/gemini-api/docs/thought-signatures): Gemini 3 answers 400 where the first call of
 * a turn has no signature. It is not a forged signature; it declares that there is none.
 */
export const FOREIGN_CALL_SIGNATURE = "skip_thought_signature_validator";

const blob = z.looseObject({
  mimeType: z.string().min(1).describe("Media type, e.g. `image/png`."),
  data: z.string().describe("The bytes in base64."),
  displayName: z.string().nullish(),
}).describe("Bytes.");
export type WireBlob = Checked<typeof blob>;
const file = z.looseObject({
  mimeType: z.string().nullish().describe("Media type."),
  fileUri: z.string().min(1).describe(
    "Address; the gateway does not fetch it.",
  ),
}).describe("A file by its address.");
export type WireFile = Checked<typeof file>;
const part = z.looseObject({
  text: z.string().nullish().describe("Text."),
  inlineData: blob.nullish(),
  fileData: file.nullish(),
  functionCall: z.looseObject({
    id: z.string().nullish().describe("Id that the result refers to."),
    name: z.string().min(1).describe("Name of the function."),
    args: opaqueObject().nullish().describe("The arguments."),
  }).nullish().describe("A call that the model made."),
  functionResponse: z.looseObject({
    id: z.string().nullish().describe("Id of the call."),
    name: z.string().min(1).describe("Name of the function."),
    response: opaqueObject().nullish().describe(
      "What it returned; `output` or `error` alone is taken as the result or the failure.",
    ),
    parts: list(
      z.looseObject({ inlineData: blob.nullish(), fileData: file.nullish() }),
    ).nullish().describe("Pictures and files that it returned."),
  }).nullish().describe("The result of a call."),
  thought: z.boolean().nullish().describe("True: the text is reasoning."),
  thoughtSignature: z.string().nullish().describe(
    "Return it as it was in the reply.",
  ),
}).describe("A part of a turn.");
/** A part: one of the fields before `thought`, or one that only this format has. */
export type WirePart = Checked<typeof part>;
export type WireResult = NonNullable<WirePart["functionResponse"]>;
const turn = z.looseObject({
  role: z.string().nullish().describe("`user` or `model`."),
  parts: list(part).nullish().describe("Its parts, in order."),
});
/** A turn, or the system prompt. */
export type WireTurn = Checked<typeof turn>;
const config = z.looseObject({
  ...settingsShape(SETTINGS, "generationConfig"),
  responseMimeType: z.string().nullish().describe(
    "`application/json`: the reply is JSON.",
  ),
  responseSchema: opaqueObject().nullish().describe(
    "Schema of the reply, in the vendor's subset of OpenAPI.",
  ),
  responseJsonSchema: z.unknown().optional().describe(
    "JSON Schema of the reply.",
  ),
  responseModalities: list(z.string()).nullish(),
  thinkingConfig: z.looseObject({
    includeThoughts: z.boolean().nullish().describe(
      "Whether the reply has the reasoning.",
    ),
    thinkingBudget: z.int().min(-1).nullish().describe(
      "Tokens for reasoning; 0: none, -1: the model decides.",
    ),
    thinkingLevel: z.string().nullish().describe(
      "`MINIMAL`, `LOW`, `MEDIUM`, `HIGH` or `XHIGH`.",
    ),
  }).nullish().describe("The reasoning settings."),
}).describe("Sampling, limits and the form of the reply.");

/** The form of the reply and reasoning; the settings beside them are in `settings.ts`. */
export type WireConfig = Checked<typeof config>;
export type WireThinkingConfig = NonNullable<WireConfig["thinkingConfig"]>;

/** Schema of `generationConfig`, also for requests that pass through. */
export const generationConfig: z.ZodType<WireConfig> = config;

const functionTool = z.looseObject({
  name: z.string().min(1).describe("Name of the function."),
  description: z.string().nullish().describe("What it does, for the model."),
  parameters: opaqueObject().nullish().describe(
    "Schema of the arguments, in the vendor's subset of OpenAPI.",
  ),
  parametersJsonSchema: z.unknown().optional().describe(
    "JSON Schema of the arguments.",
  ),
});
export type WireFunction = Checked<typeof functionTool>;
const tool = z.looseObject({
  functionDeclarations: list(functionTool).nullish(),
}).describe(
  "Functions that the client runs, or a tool that the vendor runs; the latter only for models whose upstream has this format.",
);
export type WireTool = Checked<typeof tool>;
const callingConfig = z.looseObject({
  mode: z.string().nullish().describe("`AUTO`, `ANY`, `NONE` or `VALIDATED`."),
  allowedFunctionNames: list(z.string()).nullish(),
});
export type WireCallingConfig = Checked<typeof callingConfig>;

const request = z.looseObject({
  contents: list(turn).min(1).describe("The turns, oldest first."),
  systemInstruction: z.union([z.string(), turn]).nullish().describe(
    "System prompt.",
  ),
  tools: list(tool).nullish().describe("Tools that the model may call."),
  toolConfig: z.looseObject({ functionCallingConfig: callingConfig.nullish() })
    .nullish().describe("Which function the model must or may call."),
  generationConfig: config.nullish(),
  ...settingsShape(SETTINGS),
}).describe("A request for content.");
export type GenerateContentRequest = Checked<typeof request>;

/** Schema of the body of `:generateContent` and `:streamGenerateContent`. */
export const generateContentRequest: z.ZodType<GenerateContentRequest> =
  request;
