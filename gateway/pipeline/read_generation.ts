/**
 * Reads the reply of a generation: whole or as a stream, whichever of both the client asked for and
 * the upstream sent.
 */
import type {
  DecodeContext,
  Dialect,
  EncodeContext,
} from "../../translate/dialect.ts";
import { joinPieces } from "../../translate/bytes/buffers.ts";
import { ApiError } from "../../translate/model/error.ts";
import {
  streamOfWhole,
  streamRelay,
  wholeOfStream,
  wholeReply,
} from "../../translate/stream/relay.ts";
import type { Relay } from "../../translate/stream/relay_interface.ts";
import { atOnce } from "../../translate/steps.ts";
import { nextTurn } from "../accounts/next_turn.ts";
import { isLarge } from "../http/request_body.ts";
import { inTurns } from "../in_turns.ts";
import type { Timers } from "../timers.ts";
import { readUpTo } from "../upstream/attempt.ts";
import type { ByteSource } from "../upstream/http/byte_source.ts";
import type { UpstreamResponse } from "../upstream/http/http_client.ts";
import type { Candidate } from "../upstream/catalogue/model_registry.ts";
import type {
  PreparedCall,
  Reply,
  StreamedReply,
} from "../upstream/operation.ts";
import { unwrapAwsStream } from "../upstream/unwrap_aws_stream.ts";
import {
  type KeyFilter,
  keyFilter,
  withoutKeys,
} from "../upstream/without_keys.ts";

/** What all candidates' replies of one call are read with. */
export interface Reading {
  /** The client's dialect; the reply is written in it. */
  readonly dialect: Dialect;
  readonly isStream: boolean;
  /** Settings of the reply's encoder that depend on the client's request. */
  readonly encode: EncodeContext;
  /** For the limit to a stream's first frame. */
  readonly timers: Timers;
  /**
   * Longest time from a stream's head to its first frame, unless the candidate has a limit of its
   * own for its first byte.
   */
  readonly firstFrameMs: number;
}

/** The largest whole reply that is read, in bytes. */
const MAX_WHOLE_BYTES = 64 * 1024 * 1024;

const BINARY_STREAM = "application/vnd.amazon.eventstream";

/** The functions of a prepared call that read a candidate's reply. */
export function generationReader(
  reading: Reading,
  candidate: Candidate,
  decode: DecodeContext,
): Required<Pick<PreparedCall<Reply>, "isRelayed" | "read" | "pingRelay">> {
  const { dialect, isStream, encode } = reading;
  const upstream = candidate.dialect;
  return {
    isRelayed: (response) => isStream && isEventStream(response, isStream),
    async read(response) {
      const body = isBinaryStream(response)
        ? unwrapAwsStream(response.body, upstream)
        : response.body;
      const isEvents = isEventStream(response, isStream);
      if (isEvents && isStream) {
        return await relayReply(reading, candidate, decode, body);
      }
      const sent = await readUpTo(body, MAX_WHOLE_BYTES, "fail");
      // Each of these steps takes some milliseconds for each ten megabytes.
      const isLong = isLarge({ bytes: sent });
      if (isLong) await nextTurn();
      const bytes = withoutKeys(sent, candidate.credential.secrets());
      const given = [dialect, upstream, decode, encode, bytes] as const;
      if (isLong) await nextTurn();
      const steps = isEvents
        ? wholeOfStream(...given)
        : isStream
        ? streamOfWhole(...given)
        : wholeReply(...given);
      const reply = isLong ? await inTurns(steps) : atOnce(steps);
      if (isLong) await nextTurn();
      return {
        type: "whole",
        reply,
        hadKey: () => bytes !== sent,
      };
    },
    pingRelay: () => streamRelay(dialect, upstream, decode, encode),
  };
}

async function relayReply(
  { dialect, encode, timers, firstFrameMs }: Reading,
  candidate: Candidate,
  decode: DecodeContext,
  body: ByteSource,
): Promise<StreamedReply> {
  let noteFrames = (): void => {};
  const whole = streamRelay(
    dialect,
    candidate.dialect,
    decode,
    encode,
    () => noteFrames(),
  );
  const filter = keyFilter(candidate.credential.secrets());
  const relay = filter === undefined ? whole : filterKeys(whole, filter);
  const stream = await startedStream(
    relay,
    body,
    timers,
    candidate.limits?.firstByteTimeoutMs ?? firstFrameMs,
  );
  noteFrames = body.countOnlyFrames();
  return filter === undefined ? stream : { ...stream, hadKey: filter.found };
}

/** The relay of a stream from which keys are removed. */
function filterKeys(relay: Relay, filter: KeyFilter): Relay {
  return {
    ...relay,
    push: (chunk) => relay.push(filter.push(chunk)),
    end() {
      const rest = filter.rest();
      return rest.length === 0
        ? relay.end()
        : joinPieces([relay.push(rest), relay.end()]);
    },
  };
}

function typeOf(response: UpstreamResponse): string {
  return response.header("content-type")?.toLowerCase() ?? "";
}

function isBinaryStream(response: UpstreamResponse): boolean {
  return typeOf(response).includes(BINARY_STREAM);
}

/**
 * Decided by the content type; if that is neither JSON nor HTML nor an event stream, by the
 * request.
 */
function isEventStream(
  response: UpstreamResponse,
  wantsStream: boolean,
): boolean {
  const type = typeOf(response);
  if (type.includes("event-stream") || type.includes(BINARY_STREAM)) {
    return true;
  }
  return wantsStream && !type.includes("json") && !type.includes("html");
}

interface LateFrame {
  /** Rejects at the limit. */
  readonly promise: Promise<never>;
  /** Ends the wait. */
  readonly clear: () => void;
}

function lateFrame(timers: Timers, limitMs: number): LateFrame {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  const timer = timers.set(
    () =>
      reject(
        new ApiError(
          "timeout",
          "the upstream did not begin its answer in time",
        ),
      ),
    limitMs,
  );
  return { promise, clear: () => timers.clear(timer) };
}

/**
 * Waits for a stream's first frame, so that an error in it still becomes an HTTP status. The wait
 * has a limit of its own: some hosts send comments for many minutes before they answer.
 */
async function startedStream(
  relay: Relay,
  source: ByteSource,
  timers: Timers,
  limitMs: number,
): Promise<StreamedReply> {
  const first: Uint8Array[] = [];
  let late: LateFrame | undefined;
  try {
    for (let reads = 0; !relay.progress().started && !relay.done(); reads++) {
      // Nearly every first read has a frame, and needs no timer.
      if (reads === 1) late = lateFrame(timers, limitMs);
      const chunk = await (late === undefined
        ? source.read()
        : Promise.race([source.read(), late.promise]));
      const out = chunk === undefined ? relay.end() : relay.push(chunk);
      if (out.length > 0) {
        first.push(out);
      }
      if (chunk === undefined) {
        break;
      }
    }
  } catch (error) {
    source.cancel();
    throw error;
  } finally {
    late?.clear();
  }
  const { started, error } = relay.progress();
  if (error !== undefined && !started) {
    source.cancel();
    throw error;
  }
  return { type: "stream", relay, source, first: joinPieces(first) };
}
