/**
 * The neutral request: what a caller asks for, in no dialect's words. Every dialect decodes into it and encodes from it.
 * Absent means "not told", never zero, null or false. JSON schemas and tool arguments are the caller's data and are carried
 * by reference: nobody writes to them.
 *
 * @module
 */
import type { JsonObject } from "./json.ts";

/** Name of a wire format. */
export type DialectName = "messages" | "chat_completions" | "generate_content";

/** Opaque proof that a model attached to its output. It goes back only to the dialect it came from. */
export interface Signature {
  /** The dialect whose upstream made it. */
  readonly from: DialectName;
  /** The value, byte for byte. */
  readonly value: string;
  /** True where the value stands in place of the text (redacted or encrypted reasoning). */
  readonly redacted?: boolean;
}

/** Bytes of a picture, document or sound, given in place or by address. The gateway never fetches an address. */
export type Media =
  | {
    readonly type: "base64";
    readonly mediaType: string;
    readonly data: string;
  }
  | { readonly type: "url"; readonly url: string; readonly mediaType?: string };

/** Plain text. */
export interface TextPart {
  /** Tag in {@linkcode Part}. */
  readonly type: "text";
  /** Possibly empty: encoders leave it out where their dialect takes no empty text. */
  readonly text: string;
}
/** A picture. */
export interface ImagePart {
  /** Tag in {@linkcode Part}. */
  readonly type: "image";
  /** Given by address, its media type may be unknown. */
  readonly source: Media;
}
/** A document: bytes (PDF and the like), or text. */
export interface DocumentPart {
  /** Tag in {@linkcode Part}. */
  readonly type: "document";
  /** Text is kept apart: where a dialect has no documents of text, it is said as plain text. */
  readonly source: Media | { readonly type: "text"; readonly text: string };
  /** A title or a file name; absent where the caller gave none. */
  readonly title?: string;
  /** What the caller tells the model about it; said as text where a dialect has no field for it. */
  readonly context?: string;
}
/** A sound; `format` is `wav`, `mp3`, …, the subtype of its media type. */
export interface AudioPart {
  /** Tag in {@linkcode Part}. */
  readonly type: "audio";
  /** In lower case. */
  readonly format: string;
  /** Base64. */
  readonly data: string;
}
/** A call that the assistant made. `arguments` is JSON text as the model wrote it, possibly empty or malformed. */
export interface ToolCallPart {
  /** Tag in {@linkcode Part}. */
  readonly type: "tool_call";
  /** What its result names; made up for the chat format's old `function_call`, which has none. */
  readonly id: string;
  /** The caller's name of the tool; encoders change it where their dialect is stricter. */
  readonly name: string;
  /** Text, because what does not parse must survive too. */
  readonly arguments: string;
  /** Absent where the model attached none. */
  readonly signature?: Signature;
}
/** What a call gave. */
export interface ToolResultPart {
  /** Tag in {@linkcode Part}. */
  readonly type: "tool_result";
  /** Id of the call that it answers; nobody checks that there is one. */
  readonly id: string;
  /** Empty where the tool said nothing. */
  readonly content: readonly ResultPart[];
  /** True where the tool failed. */
  readonly failed?: boolean;
}
/** What the assistant thought. Without a signature it can be replayed only to dialects that ask for none. */
export interface ReasoningPart {
  /** Tag in {@linkcode Part}. */
  readonly type: "reasoning";
  /** Empty where the signature stands in its place. */
  readonly text: string;
  /** Absent where the model attached none. */
  readonly signature?: Signature;
}
/** The assistant's refusal in its own words. */
export interface RefusalPart {
  /** Tag in {@linkcode Part}. */
  readonly type: "refusal";
  /** Said as plain text where a dialect has no word for a refusal. */
  readonly text: string;
}
/** A part that only its own dialect knows (server tools, file ids, …): `path` names it to the caller. */
export interface OpaquePart {
  /** Tag in {@linkcode Part}. */
  readonly type: "opaque";
  /** The only dialect it can go back to. */
  readonly from: DialectName;
  /** The wire's own word for it, e.g. `server_tool_use`. */
  readonly kind: string;
  /** Where it stood in the caller's request, e.g. `messages[0].content[1]`. */
  readonly path: string;
  /** The part as it came, whole. */
  readonly value: JsonObject;
  /** True where leaving it out would change what the caller asked for, so another dialect must refuse it. */
  readonly essential: boolean;
}

/** What a tool result can hold. */
export type ResultPart =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | OpaquePart;
/** What a turn can hold. */
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

/** Who speaks. A `system` turn stands inside the conversation; the opening system prompt is not a turn. */
export type Role = "user" | "assistant" | "system";

/** One turn, its parts in order. Neighbours may share a role: encoders merge where their dialect demands it. */
export interface Turn {
  /** Tool results stand in `user` turns, whatever their wire calls the speaker. */
  readonly role: Role;
  /** Possibly empty. */
  readonly parts: readonly Part[];
}

/** A function that the model may call. */
export interface FunctionTool {
  /** Tag in {@linkcode Tool}. */
  readonly type: "function";
  /** The caller's; encoders change it where their dialect is stricter, and decoders change it back. */
  readonly name: string;
  /** For the model; absent where the caller gave none. */
  readonly description?: string;
  /** JSON Schema of the arguments; absent where the caller gave none. */
  readonly parameters?: JsonObject;
  /** True where arguments must match the schema exactly; absent: the upstream's own default. */
  readonly strict?: boolean;
}
/** A tool that only its own dialect knows: one that the vendor runs, or one with free text as input. */
export interface OpaqueTool {
  /** Tag in {@linkcode Tool}. */
  readonly type: "opaque";
  /** The only dialect it can be offered in. */
  readonly from: DialectName;
  /** The wire's own type, e.g. `web_search_20250305`. */
  readonly kind: string;
  /** What a choice calls it; absent where its wire gives it none. */
  readonly name?: string;
  /** Where it stood in the caller's request, e.g. `tools[2]`. */
  readonly path: string;
  /** The tool as it came, whole. */
  readonly value: JsonObject;
}
/** Any tool. */
export type Tool = FunctionTool | OpaqueTool;

/** Which tool the model shall call. */
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

/** What the text of the reply must be. */
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

/** How much effort, from none to most. */
export type Effort = "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** How the model shall reason. Absent fields are the model's own choice. */
export interface Reasoning {
  /** `off`: not at all; `on`: yes, by budget or effort; `auto`: the model decides how much. */
  readonly mode: "off" | "on" | "auto";
  /** Moved to the nearest that the model knows. */
  readonly effort?: Effort;
  /** Tokens the model may spend on it. */
  readonly budgetTokens?: number;
  /** False where the caller does not want to see it. */
  readonly visible?: boolean;
}

/** Which of the neutral fields below a dialect has a word for, and that word. Encoders name losses and refusals with it. */
export type FieldWords = Readonly<Record<NeutralField, string>>;

/** The fields of a request that some dialect cannot say. */
export type NeutralField =
  | "messages"
  | "system"
  | "tools"
  | "toolChoice"
  | "parallelTools"
  | "maxTokens"
  | "temperature"
  | "topP"
  | "topK"
  | "stop"
  | "format"
  | "reasoning"
  | "user"
  | "serviceTier"
  | "candidates"
  | "seed"
  | "presencePenalty"
  | "frequencyPenalty"
  | "logprobs";

/** A request in neutral words. */
export interface GenerationRequest {
  /** The id to call: the caller's on decoding, the upstream's once a candidate is chosen. */
  readonly model: string;
  /** Whether the caller wants its answer as a stream. */
  readonly stream: boolean;
  /** The opening system prompt, a part per block or message, in order. Empty where there is none. */
  readonly system: readonly TextPart[];
  /** The conversation after the opening system prompt, oldest first. */
  readonly turns: readonly Turn[];
  /** Absent where the caller gave no list, which is not an empty one. */
  readonly tools?: readonly Tool[];
  /** Absent where the caller leaves it to the upstream. */
  readonly toolChoice?: ToolChoice;
  /** False: at most one call per reply. */
  readonly parallelTools?: boolean;
  /** Cap on everything generated, reasoning included. */
  readonly maxTokens?: number;
  /** As the caller gave it, in the caller's range (0–1 or 0–2). */
  readonly temperature?: number;
  /** From 0 to 1. */
  readonly topP?: number;
  /** How many of the likeliest tokens may be chosen from. */
  readonly topK?: number;
  /** Texts that end the answer; absent where there are none. */
  readonly stop?: readonly string[];
  /** Absent: free text. */
  readonly format?: OutputFormat;
  /** Absent: the model does as it does by itself. */
  readonly reasoning?: Reasoning;
  /** The caller's own user id, for attribution. */
  readonly user?: string;
  /** `auto` may use capacity paid for in advance, `default` may not; any other tier is `unmapped`. */
  readonly serviceTier?: "auto" | "default";
  /** How many answers; absent is one. */
  readonly candidates?: number;
  /** For repeatable sampling, as far as an upstream can. */
  readonly seed?: number;
  /** From -2 to 2, against tokens that have occurred at all. */
  readonly presencePenalty?: number;
  /** From -2 to 2, against tokens by how often they have occurred. */
  readonly frequencyPenalty?: number;
  /** Log probabilities asked for; the number is how many alternatives per token (0: none beside the chosen). */
  readonly logprobs?: number;
  /** True where a streaming caller asked for the usage chunk of the chat format. Other dialects always tell usage. */
  readonly wantUsage: boolean;
  /** True where tools were given as the chat format's old `functions`, so that calls must be answered that way. */
  readonly legacyFunctions?: boolean;
  /** The caller's words for the neutral fields. */
  readonly words: FieldWords;
  /** Paths of fields, in the caller's words, that have no neutral place: lost wherever the dialect changes. */
  readonly unmapped: readonly string[];
  /** Paths like `unmapped` whose loss would change the meaning: a dialect change must refuse the request. */
  readonly essential: readonly string[];
}
