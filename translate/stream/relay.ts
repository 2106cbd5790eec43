/**
 * Joins the client's dialect and an upstream's: bytes in, bytes out, synchronous. Only this file
 * decides whether the upstream's own bytes pass through or are translated.
 */
import type {
  DecodeContext,
  Dialect,
  EncodeContext,
  UpstreamDialect,
} from "../dialect.ts";
import { ApiError } from "../model/error.ts";
import { upstreamJson } from "../bytes/exact_json.ts";
import { isObject } from "../bytes/json.ts";
import { jsonPieces } from "../bytes/json_pieces.ts";
import { spliceFields, topLevelOf } from "../bytes/json_splice.ts";
import { frameReader, loneDelta } from "./frame_reader.ts";
import { asJsonArray, jsonArrayRelay } from "./json_array_relay.ts";
import { passThroughRelay } from "./pass_through.ts";
import { answerOnly } from "../turns/answer_only.ts";
import { namedLosses } from "../turns/named_losses.ts";
import { settledEnd } from "../turns/settled_end.ts";
import { atStops } from "../turns/stop_texts.ts";
import type { ReplyEvent } from "../model/reply.ts";
import type { DialectName } from "../model/request.ts";
import {
  progressTracker,
  type ReplyProgress,
  withLoss,
} from "../model/reply_progress.ts";
import { encodeText, joinPieces } from "../bytes/buffers.ts";
import type { Steps } from "../steps.ts";
import { type Frame, sseParser } from "./sse.ts";
import type { Relay } from "./relay_interface.ts";
import { LONG_BYTES, parsedReply } from "./parsed_reply.ts";

const ENCODER = new TextEncoder();
const NOTHING = new Uint8Array(0);
/** Bytes of a step through a long stream: some milliseconds of work, whatever its frames are. */
const STEP_BYTES = 16 * 1024;

/** Whether bytes pass through: client and upstream have the same dialect. */
function passesThrough(
  client: DialectName,
  upstream: DialectName,
  { isTranslated = false }: Pick<DecodeContext, "isTranslated">,
): boolean {
  return client === upstream && !isTranslated;
}

/**
 * The relay for an upstream that streams to a client that asked for a stream.
 *
 * @param onFrames called once for each chunk that completes a frame; SSE comments are not frames
 */
export function streamRelay(
  client: Dialect,
  upstream: UpstreamDialect,
  decode: DecodeContext,
  encode: EncodeContext,
  onFrames?: () => void,
): Relay {
  const relay = passesThrough(client.name, upstream.name, decode)
    ? passThroughRelay(client, upstream, decode, encode, onFrames)
    : translatingRelay(client, upstream, decode, encode, onFrames);
  return client.streamForm === "json_array" ? jsonArrayRelay(relay) : relay;
}

function translatingRelay(
  client: Dialect,
  upstream: UpstreamDialect,
  decode: DecodeContext,
  encode: EncodeContext,
  onFrames?: () => void,
): Relay {
  const decoder = upstream.streamDecoder(decode);
  const varying = decoder.pushMatched === undefined
    ? undefined
    : upstream.variableKeys;
  const writer = eventWriter(client, encode, decode.stops);
  // What the client receives for the current chunk.
  let text = "";
  const received = clientEvents(client, decode, true);
  const write = (events: readonly ReplyEvent[]): void => {
    for (const event of received(events)) {
      text += writer.push(event);
    }
    text += writer.flush();
  };
  const walk = frameReader(
    {
      onFrame(_bytes, frames) {
        const decoded: ReplyEvent[] = [];
        for (const frame of frames) {
          const events = decoder.push(frame);
          // More than some 60,000 arguments exhaust the stack.
          for (const event of events) decoded.push(event);
          write(events);
        }
        return loneDelta(decoded, varying);
      },
      onMatched(_chunk, _start, _end, matched) {
        write(decoder.pushMatched?.(matched) ?? []);
      },
      isDone: writer.done,
    },
    varying,
    undefined,
    onFrames,
  );
  const guard = (work: () => void): Uint8Array => {
    if (writer.done()) return NOTHING;
    text = "";
    try {
      work();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      text += writer.push({ type: "error", error });
    }
    return text === "" ? NOTHING : encodeText(singleLines(text));
  };
  return {
    push: (chunk) => guard(() => walk.push(chunk)),
    end: () =>
      guard(() => {
        walk.end();
        write(decoder.end());
      }),
    fail: (error) => guard(() => write([{ type: "error", error }])),
    ping: () => writer.done() ? NOTHING : ENCODER.encode(writer.ping()),
    done: writer.done,
    progress: writer.progress,
  };
}

/**
 * Encodes events for a client and tracks their progress. Writes nothing after an end or an error.
 *
 * @param stops see {@linkcode DecodeContext.stops}; what follows one is progress all the same
 */
function eventWriter(
  client: Dialect,
  encode: EncodeContext,
  stops?: readonly string[],
): {
  push(event: ReplyEvent): string;
  flush(): string;
  ping(): string;
  done(): boolean;
  progress(): ReplyProgress;
} {
  const encoder = client.streamEncoder(encode);
  const watch = progressTracker();
  let done = false;
  /**
   * The first half of a surrogate pair is held back until its second half arrives: a client that
   * decodes each delta to UTF-8 would lose both.
   */
  let half = "";
  const delta = (given: string): string => {
    const text = half + given;
    const end = text.length - 1;
    half = isFirstHalf(text.charCodeAt(end)) ? text.slice(end) : "";
    return encoder.push({
      type: "delta",
      text: half === "" ? text : text.slice(0, end),
    });
  };
  const release = (): string => {
    const text = half;
    half = "";
    return encoder.push({ type: "delta", text });
  };
  const write = (event: ReplyEvent): string => {
    if (event.type === "delta") {
      const { text } = event;
      return half === "" && !isFirstHalf(text.charCodeAt(text.length - 1))
        ? encoder.push(event)
        : delta(text);
    }
    const isBeside = event.type === "usage" || event.type === "stop";
    return half === "" || isBeside
      ? encoder.push(event)
      : release() + encoder.push(event);
  };
  const cut = stops === undefined ? undefined : atStops(stops);
  return {
    push(event) {
      if (done) return "";
      watch.observe(event);
      done = event.type === "end" || event.type === "error";
      const written = event.type === "stop"
        ? withLoss(event, watch.progress())
        : event;
      return cut === undefined
        ? write(written)
        : cut(written).map(write).join("");
    },
    flush: () => done ? "" : encoder.flush?.() ?? "",
    ping: () => encoder.ping() || ": keep-alive\n\n",
    done: () => done,
    progress: watch.progress,
  };
}

/**
 * Frames in which only line feeds end a line: some clients also split at U+2028 and U+2029, which
 * JSON texts may contain.
 */
function singleLines(frames: string): string {
  return frames.includes("\u2028") || frames.includes("\u2029")
    ? frames.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")
    : frames;
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** A complete reply. */
export interface WholeReply {
  /** JSON; where the client asked for a stream, all of its frames. */
  readonly body: Uint8Array;
  /** For settling and logging; contains no error, because an error would have been thrown. */
  readonly progress: ReplyProgress;
}

/**
 * A whole reply for a client that asked for one, from an upstream that sent one, in steps.
 *
 * @throws {ApiError} the error in the reply, or `upstream` for bytes that are not a reply
 */
export function* wholeReply(
  client: Dialect,
  upstream: UpstreamDialect,
  decode: DecodeContext,
  encode: EncodeContext,
  body: Uint8Array,
): Steps<WholeReply> {
  const { reply, text, top } = yield* parsedReply(body);
  const isPassed = passesThrough(client.name, upstream.name, decode) &&
    isObject(reply);
  const decoded = upstream.decodeReply(reply, decode);
  const events = isPassed
    ? decoded
    : clientEvents(client, decode, false)(decoded);
  const progress = progressOf(events);
  if (progress.error !== undefined) throw progress.error;
  yield;
  if (!isPassed) {
    return yield* foldReply(client, decode, encode, events, progress);
  }
  const { lost: _, ...passed } = progress;
  const fields = client.replyFields?.(encode) ?? { model: encode.model };
  if (client.withStop !== undefined && !tellsStop(events)) {
    // Every reply of a format has a stop reason.
    const complete = { ...client.withStop(reply, events), ...fields };
    return { body: ENCODER.encode(upstreamJson(complete)), progress: passed };
  }
  const spliced = spliceFields(body, fields, top ?? topLevelOf(body, text));
  return { body: spliced, progress: passed };
}

/**
 * A whole reply as the stream that the client asked for, in steps. Throws its error, because
 * nothing has been sent yet.
 */
export function* streamOfWhole(
  client: Dialect,
  upstream: UpstreamDialect,
  decode: DecodeContext,
  encode: EncodeContext,
  body: Uint8Array,
): Steps<WholeReply> {
  const { reply } = yield* parsedReply(body);
  const decoded = upstream.decodeReply(reply, decode);
  const events = clientEvents(client, decode, true)(decoded);
  const progress = progressOf(events);
  if (progress.error !== undefined) throw progress.error;
  yield;
  const writer = eventWriter(client, encode, decode.stops);
  const frames = events.map((event) => writer.push(event)).join("");
  yield;
  return {
    body: ENCODER.encode(
      singleLines(
        client.streamForm === "json_array" ? asJsonArray(frames) : frames,
      ),
    ),
    progress,
  };
}

/** A stream as the whole reply that the client asked for, in steps. */
export function* wholeOfStream(
  client: Dialect,
  upstream: UpstreamDialect,
  decode: DecodeContext,
  encode: EncodeContext,
  body: Uint8Array,
): Steps<WholeReply> {
  const reader = sseParser();
  const decoder = upstream.streamDecoder(decode);
  const events: ReplyEvent[] = [];
  const read = (frames: readonly Frame[]): void => {
    for (const frame of frames) {
      for (const event of decoder.push(frame)) events.push(event);
    }
  };
  for (let at = 0; at < body.length; at += STEP_BYTES) {
    read(reader.push(body.subarray(at, at + STEP_BYTES)));
    yield;
  }
  read(reader.end());
  for (const event of decoder.end()) events.push(event);
  const kept = clientEvents(client, decode, false)(events);
  const progress = progressOf(kept);
  if (progress.error !== undefined) throw progress.error;
  return yield* foldReply(client, decode, encode, kept, progress);
}

/** Makes the events of a translated reply those that its client receives. */
function clientEvents(
  { lacks }: Dialect,
  { formatTool }: DecodeContext,
  isStream: boolean,
): (events: readonly ReplyEvent[]) => readonly ReplyEvent[] {
  const only = formatTool === undefined ? undefined : answerOnly();
  const settled = settledEnd();
  const named = namedLosses(lacks, isStream);
  return (events) => named(settled(only?.(events) ?? events));
}

function tellsStop(events: readonly ReplyEvent[]): boolean {
  return events.some((event) => event.type === "stop" && event.raw !== "");
}

function* foldReply(
  client: Dialect,
  { stops }: DecodeContext,
  encode: EncodeContext,
  events: readonly ReplyEvent[],
  progress: ReplyProgress,
): Steps<WholeReply> {
  const sent = progress.lost === undefined
    ? events
    : events.map((event) => withLoss(event, progress));
  const reply = client.encodeReply(
    stops === undefined ? sent : sent.flatMap(atStops(stops)),
    encode,
  );
  if (progress.generatedChars < LONG_BYTES) {
    return { body: ENCODER.encode(JSON.stringify(reply)), progress };
  }
  const pieces: Uint8Array[] = [];
  for (const text of jsonPieces(reply)) {
    pieces.push(ENCODER.encode(text));
    yield;
  }
  return { body: joinPieces(pieces), progress };
}

function progressOf(events: readonly ReplyEvent[]): ReplyProgress {
  const watch = progressTracker();
  for (const event of events) watch.observe(event);
  return watch.progress();
}
