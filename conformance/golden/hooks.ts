/**
 * Where a mutant takes hold of the golden gateway. Every hook stands at a point where real gateways go wrong; without
 * hooks the gateway is right.
 */
import type { Json, JsonObject } from "../replay/json.ts";
import type { Dialect } from "../replay/call.ts";
import type { ReplayRequest } from "../replay/script.ts";
import type { Ask, Part, Problem } from "./part.ts";

/** A JSON reply that is about to be written. */
export interface JsonReply {
  /** The status. */
  readonly status: number;
  /** Headers; the length is added by the writer. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body. */
  readonly body: JsonObject;
}

/** A frame of an event stream that is about to be written. */
export interface OutFrame {
  /** The event name; absent on the chat endpoint. */
  readonly event?: string;
  /** A JSON value, or a text that is none, such as `[DONE]`. */
  readonly data: JsonObject | string;
}

/** A call that is about to be made upstream. */
export interface OutCall {
  /** The whole address. */
  readonly url: string;
  /** Headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body. */
  readonly body: JsonObject;
}

/** Writes a response to the socket; what it is told is what goes out. */
export interface Writer {
  /** Status line and headers; `chunked` and `length` headers are part of them. */
  head(status: number, headers: Readonly<Record<string, string>>): void;
  /** A piece of the body: one chunk when the body is chunked. */
  piece(bytes: Uint8Array): void;
  /** The proper end. */
  end(): void;
  /** Resets the connection. */
  reset(): void;
}

/** The exchange that a hook is called for. */
export interface Context {
  /** The request as it arrived. */
  readonly request: ReplayRequest;
  /** The path without the query. */
  readonly path: string;
  /** `messages` or `chat` for the two generation endpoints. */
  readonly endpoint: "messages" | "chat" | "models" | "other";
  /** True when a stream was asked for. */
  readonly stream: boolean;
  /** The model asked for; "" when none was. */
  readonly model: string;
  /** The dialect of the upstream; undefined before a model was chosen. */
  readonly via: Dialect | undefined;
  /** Room for a hook to remember things during the exchange. */
  readonly state: Map<string, Json>;
}

/** The hooks; an absent one changes nothing. */
export interface Hooks {
  /** The request before anything looks at it. */
  readonly request?: (request: ReplayRequest, x: Context) => ReplayRequest;
  /** The key that the request presents. */
  readonly key?: (key: string | undefined, x: Context) => string | undefined;
  /** What the key check found; undefined admits. */
  readonly admit?: (
    problem: Problem | undefined,
    x: Context,
  ) => Problem | undefined;
  /** What the look at the body found; undefined accepts, and then `ask` must be able to use the body. */
  readonly accept?: (
    problem: Problem | undefined,
    body: JsonObject,
    x: Context,
  ) => Problem | undefined;
  /** What the request was understood to ask. */
  readonly ask?: (ask: Ask, x: Context) => Ask;
  /** The call that goes upstream. */
  readonly upstream?: (call: OutCall, x: Context) => OutCall;
  /** How often the upstream is called, and what is done before each: by default once. */
  readonly attempts?: (x: Context) => number;
  /** The bytes of the upstream's stream. */
  readonly upstreamBytes?: (
    bytes: AsyncIterable<Uint8Array>,
    x: Context,
  ) => AsyncIterable<Uint8Array>;
  /** A part of the reply, as read from the upstream. */
  readonly part?: (part: Part, x: Context) => readonly Part[];
  /** A problem, before it is told. */
  readonly problem?: (problem: Problem, x: Context) => Problem;
  /** Any JSON reply. */
  readonly reply?: (reply: JsonReply, x: Context) => JsonReply;
  /** Headers of a stream. */
  readonly streamHeaders?: (
    headers: Readonly<Record<string, string>>,
    x: Context,
  ) => Readonly<Record<string, string>>;
  /** A frame of a stream. */
  readonly frame?: (frame: OutFrame, x: Context) => readonly OutFrame[];
  /** The text of a frame on the wire. */
  readonly wire?: (text: string, x: Context) => string;
  /** The writer of the response. */
  readonly writer?: (writer: Writer, x: Context) => Writer;
  /** False: the upstream call goes on when the caller leaves. */
  readonly hangUpCancels?: (x: Context) => boolean;
}
