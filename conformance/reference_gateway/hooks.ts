/**
 * The hooks through which a mutant changes the reference gateway. Each hook is at a point where
 * real gateways make mistakes; without hooks the gateway is correct.
 */
import type { WebSocketFrame } from "../evidence/web_socket_frame.ts";
import type { Endpoint } from "../evidence/exchange.ts";
import type { Json, JsonObject } from "@model-gateway/replay/json";
import type { DialectName } from "@model-gateway/replay/parse_request";
import type { ReplayRequest } from "@model-gateway/replay/script";
import type { Operation } from "./operation.ts";
import type { ModelRequest, Part, Problem } from "./part.ts";

/** A JSON reply before it is written. */
export interface JsonReply {
  readonly status: number;
  /** Headers; the writer adds the length. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** A frame of an event stream before it is written. */
export interface OutFrame {
  /** The event name; absent on the chat endpoint. */
  readonly event?: string;
  /** A JSON value, or a string that is not JSON, such as `[DONE]`. */
  readonly data: JsonObject | string;
}

/** A request upstream before it is sent. */
export interface OutCall {
  /** The whole address. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** Writes a response to the socket. */
export interface Writer {
  /** Writes the status line and the headers, including those that declare the framing. */
  head(status: number, headers: Readonly<Record<string, string>>): void;
  /** Writes a piece of the body: one chunk when the body is chunked. */
  piece(bytes: Uint8Array): void;
  /** Ends the response properly. */
  end(): void;
  /** Resets the connection. */
  reset(): void;
}

/** The exchange that a hook is called for. */
export interface Context {
  readonly request: ReplayRequest;
  /** The path, without the query. */
  readonly path: string;
  /** The operation that the path belongs to. */
  readonly endpoint: Endpoint;
  /** What the path asks for. */
  readonly does: Operation["does"];
  readonly stream: boolean;
  /** The requested model; "" when there is none. */
  readonly model: string;
  /** The dialect of the upstream; undefined before the model is looked up. */
  readonly via: DialectName | undefined;
  /** Values that a hook keeps during the exchange. */
  readonly state: Map<string, Json>;
}

/** What is wrong with a frame, or with the message that it belongs to. */
export type WrongFrame =
  | "unmasked"
  | "reserved"
  | "unknown"
  | "malformed"
  | "size";

/** What is right, and may still be refused by mistake. */
export type RightFrame = "ping" | "fragment" | "interruption";

/** Points at which a fault changes how frames are read and written. */
export interface FrameHooks {
  /** True: what is wrong is taken. */
  readonly accepts?: (problem: WrongFrame) => boolean;
  /** True: what is right ends the connection. */
  readonly refuses?: (frame: RightFrame) => boolean;
  /** The code of the close for what is wrong. */
  readonly faultCode?: () => number;
  /** The text of a message in several fragments. */
  readonly join?: (parts: readonly Uint8Array[]) => string;
  /** False: a control frame drops the fragments before it. */
  readonly keepsParts?: () => boolean;
  /** The payload of a pong; undefined: none is sent. */
  readonly pong?: (payload: Uint8Array) => Uint8Array | undefined;
  /** The payload of the answer to a close; undefined: none is sent. */
  readonly closing?: (payload: Uint8Array) => Uint8Array | undefined;
  /** False: the connection stays open after a close. */
  readonly endsConnection?: () => boolean;
  /** Changes a frame that is sent. */
  readonly own?: (frame: WebSocketFrame) => WebSocketFrame;
}

/** All hooks; an absent one changes nothing. */
export interface Hooks {
  /** Changes the request before it is read. */
  readonly request?: (request: ReplayRequest, x: Context) => ReplayRequest;
  /** Changes the key that the request presents. */
  readonly key?: (key: string | undefined, x: Context) => string | undefined;
  /** Changes the result of the key check; undefined accepts the key. */
  readonly admit?: (
    problem: Problem | undefined,
    x: Context,
  ) => Problem | undefined;
  /** Changes the key that the stored replies of a request belong to; `first` is the first key. */
  readonly owner?: (key: string, first: string, x: Context) => string;
  /**
   * Changes the result of the body's validation; undefined accepts, and then `modelRequest` must be
   * able to use the body.
   */
  readonly accept?: (
    problem: Problem | undefined,
    body: JsonObject,
    x: Context,
  ) => Problem | undefined;
  /** Changes the request as it was understood. */
  readonly modelRequest?: (request: ModelRequest, x: Context) => ModelRequest;
  /** Changes the request upstream. */
  readonly upstream?: (call: OutCall, x: Context) => OutCall;
  /** Number of upstream calls for a request; absent: 1. Only the last reply is used. */
  readonly attempts?: (x: Context) => number;
  /** Changes the bytes of the upstream's stream. */
  readonly upstreamBytes?: (
    bytes: AsyncIterable<Uint8Array>,
    x: Context,
  ) => AsyncIterable<Uint8Array>;
  /** Changes a part of the reply, as read from the upstream. */
  readonly part?: (part: Part, x: Context) => readonly Part[];
  /** Changes a problem before it is reported. */
  readonly problem?: (problem: Problem, x: Context) => Problem;
  /** Changes any JSON reply. */
  readonly reply?: (reply: JsonReply, x: Context) => JsonReply;
  /** Changes the headers of a stream. */
  readonly streamHeaders?: (
    headers: Readonly<Record<string, string>>,
    x: Context,
  ) => Readonly<Record<string, string>>;
  /** Changes a frame of a stream. */
  readonly frame?: (frame: OutFrame, x: Context) => readonly OutFrame[];
  /** Changes the text of a frame on the wire. */
  readonly wire?: (text: string, x: Context) => string;
  /** Changes the writer of the response. */
  readonly writer?: (writer: Writer, x: Context) => Writer;
  /** Refuses the handshake of a web socket; undefined accepts it. */
  readonly upgrade?: (x: Context) => Problem | undefined;
  /** Changes the key of a handshake before it is answered. */
  readonly handshake?: (key: string, x: Context) => string;
  /** Changes an event before it is sent through a web socket; a string is sent as it is. */
  readonly message?: (
    event: JsonObject,
    x: Context,
  ) => readonly (JsonObject | string)[];
  /** True for an event after which a web socket is closed. */
  readonly endsAfter?: (event: JsonObject) => boolean;
  /** False: a web socket remembers no replies of its own. */
  readonly remembers?: (x: Context) => boolean;
  /** False: the turns of a web socket do not wait for each other. */
  readonly inOrder?: (x: Context) => boolean;
  /** Changes how the frames of a web socket are read and written. */
  readonly frames?: FrameHooks;
  /** False: the request for strictness is ignored. */
  readonly strictMode?: (x: Context) => boolean;
  /** False: the upstream call continues when the client disconnects. */
  readonly hangUpCancels?: (x: Context) => boolean;
}
