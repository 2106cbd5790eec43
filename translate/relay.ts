/**
 * Joins the caller's dialect and an upstream's: bytes in, bytes out, synchronous. Here, and only here, is decided whether the
 * upstream's own bytes pass through or are translated.
 *
 * @module
 */
import type { Capabilities } from "./capabilities.ts";
import type {
  DecodeContext,
  Dialect,
  EncodeContext,
  UpstreamDialect,
} from "./dialect.ts";
import { ApiError } from "./error.ts";
import { exactJson } from "./exact_json.ts";
import type { JsonObject } from "./json.ts";
import { spliceFields, type TopLevel, topLevelOf } from "./json_splice.ts";
import { frameWalk, loneDelta } from "./frame_walk.ts";
import { passThroughRelay } from "./pass_through.ts";
import type { ReplyEvent } from "./reply.ts";
import type { DialectName, GenerationRequest } from "./request.ts";
import { observer, type Seen } from "./seen.ts";
import { encodeText } from "./slab.ts";
import { frameReader } from "./sse.ts";

/** One stream's way through the gateway. */
export interface Relay {
  /** What the caller gets for a chunk of the upstream's body; possibly nothing. */
  push(chunk: Uint8Array): Uint8Array;
  /** What the caller gets when the upstream's body is over: the end of the answer, or an error where it was cut. */
  end(): Uint8Array;
  /** What the caller gets when the gateway itself has to break off. Nothing where the answer is over already. */
  fail(error: ApiError): Uint8Array;
  /** A sign of life. */
  ping(): Uint8Array;
  /** True once the caller has all there is to get: whatever the upstream still sends is ignored. */
  done(): boolean;
  /** What has come so far; all there is once the stream is over. */
  seen(): Seen;
}

/** A request as it goes to an upstream. */
export interface UpstreamRequest {
  /** The body: the caller's with fields spliced in, or one written anew. */
  readonly bytes: Uint8Array;
  /** Beside the vendor's own; none where the caller's bytes go. */
  readonly headers: Readonly<Record<string, string>>;
  /** Paths, in the caller's words, of what could not be said. */
  readonly losses: readonly string[];
  /** What the reply's decoder must undo or know. */
  readonly context: DecodeContext;
  /** True where the caller's own bytes go, so that the caller's headers of this dialect go with them. */
  readonly passedThrough: boolean;
}

/** What a caller sent: its bytes, what they parse to, and what that means. */
export interface CallerRequest {
  /** What the bytes are written in. */
  readonly dialect: Dialect;
  /** What goes on where the upstream speaks the same dialect. */
  readonly bytes: Uint8Array;
  /** What the bytes parse to; never written to. */
  readonly body: JsonObject;
  /** Where its fields stand in the bytes. */
  readonly top: TopLevel;
  /** What goes on, encoded, where the upstream speaks another dialect. */
  readonly request: GenerationRequest;
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
const NOTHING = new Uint8Array(0);

/** THE decision: one dialect on both sides, so the bytes pass. */
function passes(caller: DialectName, upstream: DialectName): boolean {
  return caller === upstream;
}

/**
 * Writes the request for an upstream that knows the model as `upstreamModel`.
 *
 * @throws {ApiError} `invalid_request` for what the upstream's dialect cannot say and must not leave out
 */
export function upstreamRequest(
  caller: CallerRequest,
  upstream: UpstreamDialect,
  upstreamModel: string,
  can: Capabilities,
): UpstreamRequest {
  if (!passes(caller.dialect.name, upstream.name)) {
    const encoded = upstream.encodeRequest({
      ...caller.request,
      model: upstreamModel,
    }, can);
    return {
      bytes: ENCODER.encode(JSON.stringify(encoded.body)),
      headers: encoded.headers,
      losses: encoded.losses,
      context: encoded.context,
      passedThrough: false,
    };
  }
  const cleaned = caller.dialect.cleanRequest(caller.body, can);
  const fields = {
    model: upstreamModel,
    // Carriers stand among the messages only: the rest keeps its bytes.
    ...(cleaned === undefined ? {} : { messages: cleaned["messages"] }),
    ...caller.dialect.passThroughFields(caller.body, can),
  };
  return {
    bytes: spliceFields(caller.bytes, fields, caller.top),
    headers: {},
    losses: [],
    context: { toolNames: new Map() },
    passedThrough: true,
  };
}

/** The relay for an upstream that streams to a caller that wants a stream. */
export function streamRelay(
  caller: Dialect,
  upstream: UpstreamDialect,
  decode: DecodeContext,
  encode: EncodeContext,
): Relay {
  return passes(caller.name, upstream.name)
    ? passThroughRelay(caller, upstream, decode, encode)
    : translatingRelay(caller, upstream, decode, encode);
}

function translatingRelay(
  caller: Dialect,
  upstream: UpstreamDialect,
  decode: DecodeContext,
  encode: EncodeContext,
): Relay {
  const decoder = upstream.streamDecoder(decode);
  const varying = decoder.more === undefined ? undefined : upstream.varying;
  const writer = eventWriter(caller, encode);
  // What the caller gets for the chunk that is being gone through.
  let text = "";
  const write = (events: readonly ReplyEvent[]): void => {
    for (const event of events) text += writer.push(event);
    text += writer.flush();
  };
  const walk = frameWalk(
    {
      take(_bytes, frames) {
        const told: ReplyEvent[] = [];
        for (const frame of frames) {
          const events = decoder.push(frame);
          told.push(...events);
          write(events);
        }
        return loneDelta(told, varying);
      },
      takeLike(_chunk, _start, _end, like) {
        write(decoder.more?.(like) ?? []);
      },
      isDone: writer.done,
    },
    varying,
  );
  const guarded = (work: () => void): Uint8Array => {
    if (writer.done()) return NOTHING;
    text = "";
    try {
      work();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      text += writer.push({ type: "error", error });
    }
    return text === "" ? NOTHING : encodeText(text);
  };
  return {
    push: (chunk) => guarded(() => walk.push(chunk)),
    end: () =>
      guarded(() => {
        walk.end();
        write(decoder.end());
      }),
    fail: (error) => guarded(() => write([{ type: "error", error }])),
    ping: () => writer.done() ? NOTHING : ENCODER.encode(writer.ping()),
    done: writer.done,
    seen: writer.seen,
  };
}

/** Writes events for a caller and notes what they show. After an end or an error it writes nothing more. */
function eventWriter(caller: Dialect, encode: EncodeContext): {
  push(event: ReplyEvent): string;
  flush(): string;
  ping(): string;
  done(): boolean;
  seen(): Seen;
} {
  const encoder = caller.streamEncoder(encode);
  const watch = observer();
  let done = false;
  return {
    push(event) {
      if (done) return "";
      watch.observe(event);
      done = event.type === "end" || event.type === "error";
      return encoder.push(event);
    },
    flush: () => done ? "" : encoder.flush?.() ?? "",
    ping: () => encoder.ping() || ": keep-alive\n\n",
    done: () => done,
    seen: watch.seen,
  };
}

/** A reply that is there as a whole. */
export interface WholeReply {
  /** JSON; where the caller asked for a stream, the whole of its frames. */
  readonly body: Uint8Array;
  /** For settling and logging; it holds no error, for that would have been thrown. */
  readonly seen: Seen;
}

/**
 * A whole reply for a caller that wants one, from an upstream that sent one.
 *
 * @throws {ApiError} what the reply says went wrong, or `upstream` for bytes that are no reply
 */
export function wholeReply(
  caller: Dialect,
  upstream: UpstreamDialect,
  decode: DecodeContext,
  encode: EncodeContext,
  body: Uint8Array,
): WholeReply {
  const text = DECODER.decode(body);
  const events = upstream.decodeReply(parsedReply(text), decode);
  const seen = observed(events);
  if (seen.error !== undefined) throw seen.error;
  // A reply that does not say why it ends is written anew: the format's every reply does.
  if (!passes(caller.name, upstream.name) || !tellsStop(events)) {
    return folded(caller, encode, events, seen);
  }
  const top = topLevelOf(body, text);
  return { body: spliceFields(body, { model: encode.model }, top), seen };
}

/** A whole reply as the stream that the caller asked for. An error in it is thrown: nothing has been sent yet. */
export function streamOfWhole(
  caller: Dialect,
  upstream: UpstreamDialect,
  decode: DecodeContext,
  encode: EncodeContext,
  body: Uint8Array,
): WholeReply {
  const events = upstream.decodeReply(
    parsedReply(DECODER.decode(body)),
    decode,
  );
  const seen = observed(events);
  if (seen.error !== undefined) throw seen.error;
  const writer = eventWriter(caller, encode);
  return {
    body: ENCODER.encode(events.map((event) => writer.push(event)).join("")),
    seen,
  };
}

/** A stream as the whole reply that the caller asked for. */
export function wholeOfStream(
  caller: Dialect,
  upstream: UpstreamDialect,
  decode: DecodeContext,
  encode: EncodeContext,
  body: Uint8Array,
): WholeReply {
  const reader = frameReader();
  const decoder = upstream.streamDecoder(decode);
  const events: ReplyEvent[] = [];
  for (const frame of [...reader.push(body), ...reader.end()]) {
    for (const event of decoder.push(frame)) events.push(event);
  }
  for (const event of decoder.end()) events.push(event);
  const seen = observed(events);
  if (seen.error !== undefined) throw seen.error;
  return folded(caller, encode, events, seen);
}

function tellsStop(events: readonly ReplyEvent[]): boolean {
  return events.some((event) => event.type === "stop" && event.raw !== "");
}

function folded(
  caller: Dialect,
  encode: EncodeContext,
  events: readonly ReplyEvent[],
  seen: Seen,
): WholeReply {
  return {
    body: ENCODER.encode(JSON.stringify(caller.encodeReply(events, encode))),
    seen,
  };
}

function observed(events: readonly ReplyEvent[]): Seen {
  const watch = observer();
  for (const event of events) watch.observe(event);
  return watch.seen();
}

function parsedReply(text: string): unknown {
  const parsed = exactJson(text);
  if (parsed === undefined) {
    throw new ApiError(
      "upstream",
      "could not read the upstream's reply: it is not JSON",
    );
  }
  return parsed;
}
