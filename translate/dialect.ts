/**
 * What a wire format must be able to do. Each folder beside this file is one; `dialects.ts` lists them. One that only upstreams
 * speak is an {@linkcode UpstreamDialect}; one that callers speak too is a {@linkcode Dialect}. A dialect knows no other dialect
 * and no vendor.
 *
 * @module
 */
import type { Capabilities } from "./capabilities.ts";
import type { ApiError } from "./error.ts";
import type { JsonObject } from "./json.ts";
import type { ReplyEvent } from "./reply.ts";
import type { DialectName, GenerationRequest } from "./request.ts";
import type { LikeFrame, VaryingKeys } from "./frame_template.ts";
import type { Frame } from "./sse.ts";

/** What a reply's decoder must undo or know of the request; made by `encodeRequest`. */
export interface DecodeContext {
  /** Upstream tool name → the caller's, for names that had to change. */
  readonly toolNames: ReadonlyMap<string, string>;
  /** Name of the tool that was forced to stand in for structured output: its arguments are the reply's text. */
  readonly formatTool?: string;
}

/** What a reply's encoder must know of the caller; made by the gateway. Fixed for one reply. */
export interface EncodeContext {
  /** The model id the caller asked for, told in the reply. */
  readonly model: string;
  /** Unix time in whole seconds of the request. */
  readonly created: number;
  /** 24 or more characters of [0-9A-Za-z], unique per reply: ids that nobody told are made of it. */
  readonly idSeed: string;
  /** See {@linkcode GenerationRequest.wantUsage}. */
  readonly wantUsage: boolean;
  /** See {@linkcode GenerationRequest.legacyFunctions}. */
  readonly legacyFunctions: boolean;
  /** Estimated prompt tokens, told at a stream's start where the upstream tells them only at its end. */
  readonly inputEstimate: number;
}

/** A request for an upstream. */
export interface EncodedRequest {
  /** What is sent, as JSON. */
  readonly body: JsonObject;
  /** Headers beside the vendor's own, e.g. a beta that the body needs. */
  readonly headers: Readonly<Record<string, string>>;
  /** Paths in the caller's words of what could not be said, each once, in order of discovery. */
  readonly losses: readonly string[];
  /** What the reply's decoder must be given. */
  readonly context: DecodeContext;
}

/** An error on the wire. */
export interface EncodedError {
  /** HTTP status. */
  readonly status: number;
  /** Headers beside those that every answer has. */
  readonly headers: Readonly<Record<string, string>>;
  /** What is sent, as JSON. */
  readonly body: JsonObject;
}

/** Reads the frames of one stream. Made anew for each. */
export interface StreamDecoder {
  /** The events that one frame stands for. After an `end` or `error` event, further frames give none. */
  push(frame: Frame): readonly ReplyEvent[];
  /**
   * The events of a frame that differs from the one pushed before, which gave one delta and nothing else (but usage, perhaps, where
   * counts may differ), in {@linkcode VaryingKeys} alone. Absent where a frame must be read to be understood.
   */
  more?(like: LikeFrame): readonly ReplyEvent[];
  /** The body is over: gives `end` where the answer was finished, `error` where it was cut, nothing after either. */
  end(): readonly ReplyEvent[];
}

/** Writes the frames of one stream. Made anew for each. */
export interface StreamEncoder {
  /** The text (complete frames, possibly none) that one event becomes. */
  push(event: ReplyEvent): string;
  /**
   * What is held back although it could be said: to be called once the events of an upstream's frame are all pushed. A call's
   * first frame waits for the signature that may come with it, but not for the upstream's next frame.
   */
  flush?(): string;
  /** A frame that says only "still here"; empty where the stream must not have one now. */
  ping(): string;
}

/** Sees to it that a stream that passes through says how it ends, once, and as the format says it. Made anew for each. */
export interface EndingKeeper {
  /** What goes out for a frame that was read: its bytes (told the caller's model), mostly. `events` is what the frame says. */
  keep(
    bytes: Uint8Array,
    frames: readonly Frame[],
    events: readonly ReplyEvent[],
  ): readonly Uint8Array[];
  /** What is missing where the body is over, the answer finished and its last frame not sent; `events` is what that says. */
  finish(events: readonly ReplyEvent[]): readonly Uint8Array[];
}

/** A wire format as an upstream speaks it: requests are written, replies and errors read. All functions are pure. */
export interface UpstreamDialect {
  /** The key of its row in `dialects.ts`. */
  readonly name: DialectName;
  /**
   * Writes a request for an upstream; `request.model` is the upstream's id.
   *
   * @throws {ApiError} `invalid_request` naming, in the caller's words, a field that cannot be left out and cannot be said
   */
  encodeRequest(request: GenerationRequest, can: Capabilities): EncodedRequest;
  /** Reads a whole reply leniently; an error inside a 200 becomes an `error` event. Ends with `end` or `error`. */
  decodeReply(body: unknown, context: DecodeContext): readonly ReplyEvent[];
  /** What may differ between a stream's like frames, see {@linkcode StreamDecoder.more}; absent where no two are like enough. */
  readonly varying?: VaryingKeys;
  /** Makes the reader of one stream, as lenient as {@linkcode UpstreamDialect.decodeReply} and of the same events. */
  streamDecoder(context: DecodeContext): StreamDecoder;
  /** Reads an upstream's error of any shape: JSON, arrays, HTML, plain text, nothing. Never throws. */
  decodeError(status: number, headers: Headers, body: string): ApiError;
}

/** A wire format in both directions: one that callers speak too. All functions are pure. */
export interface Dialect extends UpstreamDialect {
  /**
   * Reads a caller's request strictly.
   *
   * @throws {ApiError} `invalid_request` naming the field
   */
  decodeRequest(body: unknown): GenerationRequest;
  /**
   * For pass-through: a copy of a request without what only the gateway's own replies in this dialect put among its messages
   * (other dialects' signatures and thoughts); undefined where there is nothing to remove, so that the caller's bytes can go
   * as they are.
   */
  cleanRequest(body: JsonObject, can: Capabilities): JsonObject | undefined;
  /** For pass-through: top-level fields to set in the caller's request beside `model`, so that the reply tells usage. */
  passThroughFields(
    body: JsonObject,
    can: Capabilities,
  ): Readonly<Record<string, unknown>>;
  /** For pass-through: makes the keeper of one stream's ending. */
  endingKeeper(context: EncodeContext): EndingKeeper;
  /** For pass-through: whether a frame of the reply exists only because of {@linkcode Dialect.passThroughFields}. */
  unasked(frame: Frame, context: EncodeContext): boolean;
  /**
   * Writes a whole reply.
   *
   * @throws {ApiError} the events' own error
   */
  encodeReply(events: Iterable<ReplyEvent>, context: EncodeContext): JsonObject;
  /** Makes the writer of one stream. */
  streamEncoder(context: EncodeContext): StreamEncoder;
  /** Writes an error for a caller. `requestId` is told in the body. */
  encodeError(error: ApiError, requestId: string): EncodedError;
}

/** The context of a reply whose request changed no name. */
export const PLAIN_CONTEXT: DecodeContext = { toolNames: new Map() };
