/**
 * What a wire format must implement. Each folder in `formats/` is one format; `dialects.ts` lists
 * them. A format that only upstreams use is an {@linkcode UpstreamDialect}; one that clients use
 * too is a {@linkcode Dialect}. A dialect knows no other dialect and no vendor.
 */
import type { BilledField } from "./model/billed_field.ts";
import type { Capabilities } from "./model/capabilities.ts";
import type { ApiError } from "./model/error.ts";
import type { JsonObject } from "./bytes/json.ts";
import type { ReplyEvent } from "./model/reply.ts";
import type { DialectName, GenerationRequest } from "./model/request.ts";
import type { DialectState, StoredState } from "./model/stored_state.ts";
import type { MatchedFrame, VariableKeys } from "./stream/frame_template.ts";
import type { Frame } from "./stream/sse.ts";
import type { Lack } from "./turns/named_losses.ts";
import { type Steps } from "./steps.ts";

/** What the decoder of a reply needs to know about its request; made by `encodeRequest`. */
export interface DecodeContext {
  /** Tool name sent upstream → the client's tool name, for names that had to change. */
  readonly toolNames: ReadonlyMap<string, string>;
  /**
   * Name of the forced tool that replaces structured output: its arguments are the reply's text.
   */
  readonly formatTool?: string;
  /** See `cachedBesidePrompt` of the capabilities; absent: false. */
  readonly cachedBesidePrompt?: boolean;
  /** See `thinkTags` of the capabilities; absent: false. */
  readonly thinkTags?: boolean;
  /**
   * True where the request was translated although client and upstream have one dialect, so the
   * reply is too.
   */
  readonly isTranslated?: boolean;
  /** True where a translated request asks for the probabilities of the reply's tokens. */
  readonly wantsProbabilities?: boolean;
  /** True where a translated request asks for a search of the web, which the client reads. */
  readonly wantsSearch?: boolean;
  /** The client's stop strings, where the translated request lacks some; absent: it has them all. */
  readonly stops?: readonly string[];
}

/**
 * What the encoder of a reply needs to know about its client; made by the gateway, fixed for one
 * reply.
 */
export interface EncodeContext {
  /** The model id that the client asked for; the reply repeats it. */
  readonly model: string;
  /** Unix time in whole seconds of the request. */
  readonly created: number;
  /**
   * The Unix time in whole seconds at the reply's end, called once then, for a dialect whose
   * replies state it. Absent: not known.
   */
  readonly endedAt?: () => number;
  /**
   * 24 or more characters of [0-9A-Za-z], unique per reply; ids that the upstream does not send are
   * made from it.
   */
  readonly idSeed: string;
  /** The request's id, which an error inside a stream repeats. Absent: it has none. */
  readonly requestId?: string;
  /** See {@linkcode GenerationRequest.wantUsage}. */
  readonly wantUsage: boolean;
  /** See {@linkcode GenerationRequest.legacyFunctions}. */
  readonly legacyFunctions: boolean;
  /** See {@linkcode GenerationRequest.hidesReasoning}. */
  readonly hidesReasoning?: boolean;
  /** Names of the client's tools that take free text; absent: none. */
  readonly freeTextTools?: ReadonlySet<string>;
  /**
   * Estimated prompt tokens, reported at a stream's start where the upstream reports them only at
   * its end.
   */
  readonly inputEstimate: number;
  /** See {@linkcode Dialect.echoOf}; absent where the dialect has no such fields. */
  readonly echo?: JsonObject;
  /** Absent: the reply is not stored and continues none. */
  readonly stored?: StoredState;
  /**
   * Number of frames sent to the client while no upstream had answered, in a dialect that numbers
   * its frames. Increased by each ping, read by the encoder of the reply. Absent: none were sent.
   */
  readonly opened?: { frames: number };
}

export interface EncodedRequest {
  readonly body: JsonObject;
  /** Headers beside the vendor's own, such as a beta that the body needs. */
  readonly headers: Readonly<Record<string, string>>;
  /** Dropped fields: paths in the client's format, each once, in order of discovery. */
  readonly dropped: readonly string[];
  /** To be passed to the reply's decoder. */
  readonly context: DecodeContext;
}

export interface EncodedError {
  /** HTTP status. */
  readonly status: number;
  /** Headers beside those that every reply has. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** Decodes the frames of one stream. */
export interface StreamDecoder {
  /** The events of one frame. After an `end` or `error` event, further frames give none. */
  push(frame: Frame): readonly ReplyEvent[];
  /**
   * The events of a frame that differs only in {@linkcode VariableKeys} from the frame pushed
   * before, which gave one delta and at most a usage event beside it. Absent where every frame must
   * be parsed.
   */
  pushMatched?(like: MatchedFrame): readonly ReplyEvent[];
  /**
   * The text so far of the item that was read last, if it is incomplete. Absent where no failure of
   * the format repeats it.
   */
  partialText?(): string;
  /**
   * Reports the end of the body: gives `end` if the reply was complete, `error` where it was
   * cut off, nothing after either.
   */
  end(): readonly ReplyEvent[];
}

/** Encodes the frames of one stream. */
export interface StreamEncoder {
  /** The frames for one event: complete frames, possibly none. */
  push(event: ReplyEvent): string;
  /**
   * Frames held back until the events of one upstream frame are all pushed. The first frame of a
   * call waits for a signature in the same upstream frame, but not for the next one.
   */
  flush?(): string;
  /** A ping frame; empty where the stream must not have one now. */
  ping(): string;
}

/** Makes a stream that passes through end exactly once, as its format demands. One per stream. */
export interface StreamEnding {
  /** True where `keep` replaces the model id; otherwise its frames already have the client's. */
  readonly setsModel?: boolean;
  /** The bytes to send for one frame, usually its own. `events` is the decoded frame. */
  keep(
    bytes: Uint8Array,
    frames: readonly Frame[],
    events: readonly ReplyEvent[],
  ): readonly Uint8Array[];
  /**
   * The bytes to send for a frame that matches the one before, at `chunk[start]` to `chunk[end -
   * 1]`; undefined where its own bytes go out. Absent where they always do.
   */
  keepMatched?(
    like: MatchedFrame,
    chunk: Uint8Array,
    start: number,
    end: number,
  ): Uint8Array | undefined;
  /** The `event:` line that a frame lacks; absent where clients of the dialect need none. */
  nameLine?(frame: Frame): string | undefined;
  /** A ping frame; absent where the dialect's encoder can write it. */
  ping?(): Uint8Array;
  /**
   * The stream's last frames after a failure; absent where the dialect's encoder can write them.
   *
   * @param partialText see {@linkcode StreamDecoder.partialText}
   */
  fail?(error: ApiError, partialText: string): Uint8Array;
  /**
   * The final frames that the upstream left out although its reply is complete; `events` is the
   * result of decoding the end of the body.
   */
  finish(events: readonly ReplyEvent[]): readonly Uint8Array[];
}

/**
 * A wire format on the upstream side: encodes requests, decodes replies and errors. All functions
 * are pure.
 */
export interface UpstreamDialect {
  /** Its key in `dialects.ts`. */
  readonly name: DialectName;
  /**
   * Encodes a request for an upstream; `request.model` is the upstream's model id.
   *
   * @throws {ApiError} `invalid_request` with the client's path of a field that can be neither
   * dropped nor expressed
   */
  encodeRequest(
    request: GenerationRequest,
    can: Capabilities,
  ): Steps<EncodedRequest>;
  /**
   * Decodes a whole reply leniently; an error inside a 200 becomes an `error` event. The last event
   * is `end` or `error`.
   */
  decodeReply(body: unknown, context: DecodeContext): readonly ReplyEvent[];
  /**
   * The values that may differ between matching frames, see {@linkcode StreamDecoder.pushMatched};
   * absent where frames never match closely enough.
   */
  readonly variableKeys?: VariableKeys;
  /**
   * Makes the decoder of one stream, as lenient as {@linkcode UpstreamDialect.decodeReply} and with
   * the same events.
   */
  streamDecoder(context: DecodeContext): StreamDecoder;
  /**
   * Decodes an upstream's error of any shape: JSON, arrays, HTML, plain text, an empty body. Never
   * throws.
   */
  decodeError(status: number, headers: Headers, body: string): ApiError;
}

/** The changed part of a request that passes through. */
export interface CleanRequest {
  /** The top-level fields that change, undefined those that are removed; others keep their bytes. */
  readonly fields: JsonObject;
  /** Paths, in the client's words, of what was removed although the client sent it, each once. */
  readonly removed: readonly string[];
}

/** A wire format in both directions: clients use it too. All functions are pure. */
export interface Dialect extends UpstreamDialect {
  /**
   * True: a request's path states model and kind of reply, and its body neither; `decodeRequest`
   * then returns an empty model and no stream. Absent: the body states both.
   */
  readonly hasTargetInPath?: true;
  /** The key of the model id in replies and frames; absent: `model`. */
  readonly modelKey?: "modelVersion";
  /** The form of a stream: one JSON array of all frames' data. Absent: an event stream. */
  readonly streamForm?: "json_array";
  /** What its replies have no place for; absent: nothing. */
  readonly lacks?: readonly Lack[];
  /**
   * Decodes a client's request strictly.
   *
   * @throws {ApiError} `invalid_request` with the field's path
   */
  decodeRequest(body: unknown): Steps<GenerationRequest>;
  /**
   * For pass-through: checks only what the gateway itself reads and what its own specification
   * bounds. The upstream validates the rest.
   *
   * @throws {ApiError} `invalid_request` with the field's path
   */
  checkPassable(body: unknown): void;
  /** The fields of a request that change what vendors bill, beside the number of tokens. */
  billedFields(body: JsonObject): readonly BilledField[];
  /**
   * Whether the model takes the request as it is; otherwise it is translated although client and
   * upstream have one dialect. Absent: every model does.
   */
  isPassable?(body: JsonObject, can: Capabilities): boolean;
  /**
   * For pass-through: the request's conversation without what the gateway itself marked in its
   * replies (other dialects' signatures and the thoughts they belong to) and without what the model
   * refuses; undefined where there is nothing to remove, so that the client's bytes can go as they
   * are.
   */
  cleanRequest(body: JsonObject, can: Capabilities): CleanRequest | undefined;
  /**
   * For pass-through: keys that the model does not take, in the form of `refuses` of
   * `body_edits.ts`. Absent: every model takes all of them.
   */
  refusedKeys?(can: Capabilities): readonly string[];
  /**
   * For pass-through: the top-level fields of a request that change where proofs of reasoning that
   * its own dialect's upstreams made are left out, for an upstream that refuses them: they are
   * bound to an account. Absent where the dialect has none.
   */
  withoutSignatures?(body: JsonObject): JsonObject;
  /** Pass-through: top-level fields to set beside `model`, so that the reply reports usage. */
  passThroughFields(
    body: JsonObject,
    can: Capabilities,
  ): Readonly<Record<string, unknown>>;
  /**
   * For pass-through: top-level fields of a whole reply that the gateway sets; absent: `model`
   * alone.
   */
  replyFields?(context: EncodeContext): Readonly<Record<string, unknown>>;
  /**
   * The request fields that a reply must repeat; absent where the dialect's replies repeat nothing.
   */
  echoOf?(body: JsonObject): JsonObject;
  /** Absent where the dialect's requests cannot refer to earlier replies. */
  readonly state?: DialectState;
  /** For pass-through: makes the {@linkcode StreamEnding} of one stream. */
  streamEnding(context: EncodeContext): StreamEnding;
  /**
   * For pass-through: a copy of a whole reply that lacks a stop reason, with the reason taken from
   * its events; everything else stays. Absent where such a reply is an error.
   */
  withStop?(body: JsonObject, events: readonly ReplyEvent[]): JsonObject;
  /**
   * For pass-through: whether a frame was sent only because of {@linkcode
   * Dialect.passThroughFields}.
   */
  isUnrequestedFrame(frame: Frame, context: EncodeContext): boolean;
  /**
   * For pass-through: the top-level key that the vendor sends as null in the other frames only
   * because of {@linkcode Dialect.passThroughFields}; absent and undefined where there is none.
   */
  unrequestedKey?(context: EncodeContext): string | undefined;
  /**
   * Encodes a whole reply.
   *
   * @throws {ApiError} the error that the events contain
   */
  encodeReply(events: Iterable<ReplyEvent>, context: EncodeContext): JsonObject;
  streamEncoder(context: EncodeContext): StreamEncoder;
  /** Encodes an error for a client. The body contains `requestId`. */
  encodeError(error: ApiError, requestId: string): EncodedError;
}

/** The context of a reply whose request changed no tool name. */
export const PLAIN_CONTEXT: DecodeContext = { toolNames: new Map() };
