/**
 * The neutral request: what a client asks for, independent of any dialect. Every dialect decodes
 * into it and encodes from it. Absent means "not given", never zero, null or false. JSON schemas
 * and tool arguments are the client's data, are carried by reference and are never modified.
 */
import type { DialectName, Effort } from "./capabilities.ts";
import type { FieldNames } from "./field_names.ts";
import type { ApiError } from "./error.ts";
import type { JsonObject } from "../bytes/json.ts";
import type { Settings } from "./settings.ts";

export type { DialectName, Effort } from "./capabilities.ts";

/**
 * Opaque proof that a model attached to its output. It is sent back only to the dialect that made
 * it.
 */
export interface Signature {
  /** The dialect whose upstream made it. */
  readonly from: DialectName;
  /** The value, byte for byte. */
  readonly value: string;
  /** True where the value replaces the text (redacted or encrypted reasoning). */
  readonly redacted?: boolean;
}

/** Content of an image, document or sound: base64 or a URL. The gateway never fetches a URL. */
export type Media =
  | {
    readonly type: "base64";
    readonly mediaType: string;
    readonly data: string;
  }
  | { readonly type: "url"; readonly url: string; readonly mediaType?: string };

/**
 * For how long a prompt is kept in the upstream's cache: the usual time, five minutes in the
 * messages format, or the long one.
 */
export type CacheMark = "5m" | "1h";

/** What a client may ask to have cached. */
interface Cacheable {
  /** For how long the prompt up to here is to be cached; absent: the client does not ask. */
  readonly cacheMark?: CacheMark;
}

/** What has a place in the client's request. */
interface Placed {
  /**
   * Its path, such as `messages[0].content[1]`, of calls and results that of the id; absent for
   * parts that the gateway made.
   */
  readonly at?: string;
}

/** Plain text. */
export interface TextPart extends Cacheable {
  readonly type: "text";
  /** Possibly empty: encoders leave it out where their dialect refuses empty text. */
  readonly text: string;
  /** The Responses format's `phase` of an assistant's message; other dialects have none. */
  readonly phase?: string;
  /** Absent where the model attached none. */
  readonly signature?: Signature;
}
export interface ImagePart extends Cacheable, Placed {
  readonly type: "image";
  /** The media type of a URL may be unknown. */
  readonly source: Media;
}
/** A document: bytes (PDF and the like) or text. */
export interface DocumentPart extends Cacheable, Placed {
  readonly type: "document";
  /** Text is kept separate: dialects without text documents send it as plain text. */
  readonly source: Media | { readonly type: "text"; readonly text: string };
  /** A title or a file name; absent where the client gave none. */
  readonly title?: string;
  /** The client's note about the document; sent as text where a dialect has no field for it. */
  readonly context?: string;
}
/** A sound; `format` is the subtype of its media type: `wav`, `mp3`, … */
export interface AudioPart extends Placed {
  readonly type: "audio";
  /** Lower case. */
  readonly format: string;
  /** Base64. */
  readonly data: string;
}
/**
 * A tool call by the assistant. `arguments` is JSON text as the model wrote it, possibly empty or
 * malformed.
 */
export interface ToolCallPart extends Cacheable, Placed {
  readonly type: "tool_call";
  /**
   * Id that its result refers to; generated for the chat format's old `function_call`, which has
   * none.
   */
  readonly id: string;
  /** The client's tool name; encoders change it where their dialect is stricter. */
  readonly name: string;
  /** Text, because arguments that do not parse must be kept too. */
  readonly arguments: string;
  /** Absent where the model attached none. */
  readonly signature?: Signature;
  /** True where the input is free text; `arguments` then has the form of `free_text.ts`. */
  readonly freeText?: true;
}
/** The result of a tool call. */
export interface ToolResultPart extends Cacheable, Placed {
  readonly type: "tool_result";
  /** Id of the call; `call_pairs.ts` checks that the call exists. */
  readonly id: string;
  /** Empty where the tool returned nothing. */
  readonly content: readonly ResultPart[];
  readonly failed?: boolean;
}
/**
 * The assistant's reasoning. Without a signature it can be sent only to dialects that do not
 * require one.
 */
export interface ReasoningPart {
  readonly type: "reasoning";
  /** Empty where the signature replaces it. */
  readonly text: string;
  /** Absent where the model attached none. */
  readonly signature?: Signature;
}
/** The text with which the assistant refused. */
export interface RefusalPart {
  readonly type: "refusal";
  /** Sent as plain text where a dialect has no refusal part. */
  readonly text: string;
}
/** A part that only its own dialect has (server tools, file ids, …). */
export interface OpaquePart {
  readonly type: "opaque";
  /** The only dialect that it can be sent to. */
  readonly from: DialectName;
  /** Its type in that dialect, such as `server_tool_use`. */
  readonly kind: string;
  /** Path in the client's request, such as `messages[0].content[1]`. */
  readonly path: string;
  /** The part, unchanged. */
  readonly value: JsonObject;
  /**
   * True where dropping it would change what the client asked for, so another dialect must refuse
   * it.
   */
  readonly essential: boolean;
}

/** The parts of a tool result. */
export type ResultPart =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | OpaquePart;
/** The parts of a turn. */
export type Part =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | ToolCallPart
  | ToolResultPart
  | ReasoningPart
  | RefusalPart
  | OpaquePart;

/**
 * The author of a turn. A `system` turn is inside the conversation; the opening system prompt is
 * not a turn.
 */
export type Role = "user" | "assistant" | "system";

/**
 * One turn, its parts in order. Neighbours may share a role: encoders merge them where their
 * dialect demands it.
 */
export interface Turn {
  /** Tool results are in `user` turns, whatever role their wire format gives them. */
  readonly role: Role;
  /** In order; possibly empty. */
  readonly parts: readonly Part[];
}

/** A function that the model may call. */
export interface FunctionTool extends Cacheable {
  readonly type: "function";
  /**
   * The client's name; encoders change it where their dialect is stricter, and decoders restore it.
   */
  readonly name: string;
  /** For the model; absent where the client gave none. */
  readonly description?: string;
  /** JSON Schema of the arguments; absent where the client gave none. */
  readonly parameters?: JsonObject;
  /** True where arguments must match the schema exactly; absent: the upstream's default. */
  readonly strict?: boolean;
  /**
   * Present where the client's tool takes free text: for models that have such tools. The other
   * fields describe it as a function; `free_text.ts` makes both.
   */
  readonly freeText?: FreeTextInput;
}
/** What a client states about a tool with free text as input. */
interface FreeTextInput {
  /** For the model, without the grammar; absent where the client gave none. */
  readonly description?: string;
  /** The grammar that the input must match; absent: any text. */
  readonly grammar?: Grammar;
}
/** The grammar of a free-text input. */
export interface Grammar {
  /** Its notation: `lark`, `regex`; empty where the client gave none. */
  readonly syntax: string;
  /** The grammar itself. */
  readonly definition: string;
}
/** A tool that only its own dialect has: one that the vendor runs. */
export interface OpaqueTool {
  readonly type: "opaque";
  /** The only dialect that it can be sent to. */
  readonly from: DialectName;
  /** Its type in that dialect, such as `web_search_20250305`. */
  readonly kind: string;
  /** The name that a tool choice uses; absent where its dialect has none. */
  readonly name?: string;
  /** Path in the client's request, such as `tools[2]`. */
  readonly path: string;
  /** The tool, unchanged. */
  readonly value: JsonObject;
  /** Present where it is a search of the web, which other formats may have too. */
  readonly search?: WebSearch;
}
/**
 * The bounds of a search of the web, by the names that follow the tool's path in the client's
 * request.
 */
export interface WebSearch {
  readonly max_uses?: number;
  readonly allowed_domains?: readonly string[];
  readonly blocked_domains?: readonly string[];
  readonly user_location?: JsonObject;
  /** The names of its other fields, which only its own format has. */
  readonly others: readonly string[];
}
export type Tool = FunctionTool | OpaqueTool;

/** Which tool the model must or may call. */
export type ToolChoice =
  | { readonly type: "auto" }
  | { readonly type: "required" }
  | { readonly type: "none" }
  | { readonly type: "tool"; readonly name: string }
  | {
    readonly type: "allowed";
    readonly required: boolean;
    readonly names: readonly string[];
  };

/** The required form of the reply's text. */
export type OutputFormat =
  | { readonly type: "text" }
  | { readonly type: "json" }
  | {
    readonly type: "schema";
    readonly name?: string;
    readonly description?: string;
    readonly schema: JsonObject;
    readonly strict?: boolean;
  };

/** How the model reasons. Absent fields are left to the model. */
export interface Reasoning {
  /** `off`: no reasoning; `on`: by budget or effort; `auto`: the model decides how much. */
  readonly mode: "off" | "on" | "auto";
  /** Moved to the nearest effort that the model has. */
  readonly effort?: Effort;
  /** Most tokens that the model may spend on reasoning. */
  readonly budgetTokens?: number;
  /** False where the client does not want to receive the reasoning. */
  readonly visible?: boolean;
}

/** What some formats state in the path instead of the body. */
export type RequestTarget = Pick<GenerationRequest, "model" | "stream">;

/** A neutral request. */
export interface GenerationRequest extends Partial<Settings> {
  /** The model id: the client's after decoding, the upstream's once a candidate is chosen. */
  readonly model: string;
  /** Whether the client asked for a stream. */
  readonly stream: boolean;
  /**
   * The opening system prompt, one part per block or message, in order. Empty where there is none.
   */
  readonly system: readonly TextPart[];
  /** The conversation after the opening system prompt, oldest first. */
  readonly turns: readonly Turn[];
  /** Absent where the client gave no list; an empty list is a different request. */
  readonly tools?: readonly Tool[];
  /** Absent where the client leaves the choice to the upstream. */
  readonly toolChoice?: ToolChoice;
  /** False: at most one call per reply. */
  readonly parallelTools?: boolean;
  /** Required form of the text; absent: free text. */
  readonly format?: OutputFormat;
  /** Absent: the model's default. */
  readonly reasoning?: Reasoning;
  /**
   * True where a streaming client asked for the chat format's usage chunk. Other dialects always
   * report usage.
   */
  readonly wantUsage: boolean;
  /**
   * True where tools were given as the chat format's old `functions`, so calls are returned in that
   * form too.
   */
  readonly legacyFunctions?: boolean;
  /**
   * True where the text of the model's reasoning is left out of the reply: the client's format has
   * it only on request. Absent: the client receives what there is.
   */
  readonly hidesReasoning?: boolean;
  /** The client's names for the neutral fields. */
  readonly fieldNames: FieldNames;
  /** Client paths of fields without a neutral counterpart: dropped wherever the dialect changes. */
  readonly unknownFields: readonly string[];
  /** Paths in `unknownFields` of marks that parts and tools have as `cacheMark`; absent: none. */
  readonly cacheMarks?: MarkPaths;
  /**
   * Why the request cannot be translated: its dialect's schema does not allow a value. The other
   * fields are then complete enough for limits and estimates only. Absent where it can be
   * translated.
   */
  readonly refusal?: ApiError;
  /**
   * Paths like `unknownFields`, but dropping them would change the meaning: a change of dialect
   * must refuse the request.
   */
  readonly essential: readonly string[];
}

/** The client's paths of its cache marks, by their place; absent: no mark is there. */
export interface MarkPaths {
  /** In the opening prompt. */
  readonly system?: string;
  /** In messages and results of calls. */
  readonly turns?: string;
  /** After the definitions of functions. */
  readonly tools?: string;
}

/** The fields of a request beside its model, conversation and field names; absent: not set. */
export type RequestSettings = Partial<
  Omit<
    GenerationRequest,
    "model" | "stream" | "system" | "turns" | "fieldNames"
  >
>;
