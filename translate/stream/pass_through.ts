/**
 * A stream between a client and an upstream of one dialect: the upstream's own bytes, frame by
 * frame. Only five things change: the `model` value becomes the id that the client asked for; a
 * frame without a name gets one in a dialect whose clients need it; usage that the client did not
 * ask for is removed; the end is sent once, as the format
 * demands, where the upstream did otherwise; and a failure (an error in the stream, or a cut) is
 * sent in the dialect's error format, with nothing after it.
 */
import type {
  DecodeContext,
  Dialect,
  EncodeContext,
  StreamEncoder,
  UpstreamDialect,
} from "../dialect.ts";
import { ApiError } from "../model/error.ts";
import { frameReader, loneDelta } from "./frame_reader.ts";
import { modelSpan } from "../bytes/model_splice.ts";
import { nullFieldEdits } from "../bytes/json_splice.ts";
import type { Frame } from "./sse.ts";
import type { Relay } from "./relay_interface.ts";
import type { ReplyEvent } from "../model/reply.ts";
import { progressTracker } from "../model/reply_progress.ts";
import { joinPieces, withoutMark } from "../bytes/buffers.ts";
import { applyEdits, type Edit } from "../bytes/apply_edits.ts";

const ENCODER = new TextEncoder();
const NOTHING = new Uint8Array(0);

/**
 * Makes the relay of one stream; `upstream` decodes what `dialect` encodes.
 *
 * @param onFrames called once for each chunk that completes a frame; SSE comments are not frames
 */
export function passThroughRelay(
  dialect: Dialect,
  upstream: UpstreamDialect,
  decode: DecodeContext,
  encode: EncodeContext,
  onFrames?: () => void,
): Relay {
  const decoder = upstream.streamDecoder(decode);
  const varying = decoder.pushMatched === undefined
    ? undefined
    : upstream.variableKeys;
  const ending = dialect.streamEnding(encode);
  const watch = progressTracker();
  const model = ENCODER.encode(JSON.stringify(encode.model));
  const modelKey = dialect.modelKey ?? "model";
  const unrequestedKey = dialect.unrequestedKey?.(encode);
  const editsOf = (frame: Uint8Array): readonly Edit[] => {
    const span = modelSpan(frame, modelKey);
    const edits = span === undefined ? [] : [{ ...span, bytes: model }];
    if (unrequestedKey === undefined) return edits;
    return [...edits, ...nullFieldEdits(frame, unrequestedKey)]
      .sort((a, b) => a.start - b.start);
  };
  const changedKeys = [modelKey, unrequestedKey]
    .filter((key) => key !== undefined).map((key) => JSON.stringify(key));
  const mayChange = (frames: readonly Frame[]): boolean =>
    frames.some(({ data }) => changedKeys.some((key) => data.includes(key)));
  const out = byteRuns();
  let done = false;
  let isFirst = true;
  let start: ReplyEvent | undefined;
  let encoder: StreamEncoder | undefined;
  /**
   * For pings and the failure, where the `StreamEnding` does not write them itself: made for the
   * first one, which most streams never have.
   */
  const startedEncoder = (): StreamEncoder => {
    if (encoder === undefined) {
      encoder = dialect.streamEncoder(encode);
      if (start !== undefined) encoder.push(start);
    }
    return encoder;
  };

  const failWith = (error: ApiError): void => {
    if (done) return;
    done = true;
    watch.observe({ type: "error", error });
    out.add(
      ending.fail?.(error, decoder.partialText?.() ?? "") ??
        ENCODER.encode(startedEncoder().push({ type: "error", error })),
    );
  };
  const note = (events: readonly ReplyEvent[]): void => {
    for (const event of events) {
      if (event.type === "error") return failWith(event.error);
      // Here the client receives all parts.
      if (event.type !== "lost") watch.observe(event);
      if (event.type === "end") done = true;
      // The encoder does not write the answer, but its pings depend on whether one has started.
      if (event.type === "start") {
        start = event;
        encoder?.push(event);
      }
    }
  };
  const walk = frameReader(
    {
      onFrame(received, frames) {
        const bytes = isFirst ? withoutMark(received) : received;
        isFirst = false;
        const events: ReplyEvent[] = [];
        for (const frame of frames) {
          for (const event of decoder.push(frame)) events.push(event);
        }
        const failure = events.find((event) => event.type === "error");
        note(events);
        if (failure !== undefined) return undefined;
        const [frame] = frames;
        const name = frame === undefined ? undefined : ending.nameLine?.(frame);
        if (
          !frames.some((frame) => dialect.isUnrequestedFrame(frame, encode))
        ) {
          const changed = ending.setsModel !== true && mayChange(frames)
            ? applyEdits(bytes, editsOf(bytes))
            : bytes;
          const named = name === undefined
            ? changed
            : joinPieces([ENCODER.encode(name), changed]);
          for (const piece of ending.keep(named, frames, events)) {
            out.add(piece);
          }
        }
        // Matched frames go out as they came.
        return name === undefined ? loneDelta(events, varying) : undefined;
      },
      onMatched(chunk, start, end, matched) {
        note(decoder.pushMatched?.(matched) ?? []);
        const changed = ending.keepMatched?.(matched, chunk, start, end);
        if (changed !== undefined) return out.add(changed);
        const { head, foot } = matched;
        if (head !== undefined) out.add(head);
        out.keep(
          chunk,
          head === undefined ? start : matched.headEnd(),
          foot === undefined ? end : matched.footStart(),
        );
        if (foot !== undefined) out.add(foot);
      },
      isDone: () => done,
    },
    varying,
    editsOf,
    onFrames,
  );
  const guard = (work: () => void): Uint8Array => {
    if (done) return NOTHING;
    try {
      work();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failWith(error);
    }
    return out.taken();
  };
  return {
    push: (chunk) => guard(() => walk.push(chunk)),
    end: () =>
      guard(() => {
        walk.end();
        if (done) return;
        const events = decoder.end();
        note(events);
        done = true;
        if (events.at(-1)?.type !== "end") return;
        for (const piece of ending.finish(events)) out.add(piece);
      }),
    fail: (error) => guard(() => failWith(error)),
    ping: () =>
      done ? NOTHING : ending.ping?.() ??
        ENCODER.encode(startedEncoder().ping() || ": keep-alive\n\n"),
    done: () => done,
    progress: watch.progress,
  };
}

/**
 * Collects the bytes to send for a chunk. Adjacent ranges are merged, so that an unchanged chunk is
 * not copied.
 */
function byteRuns(): {
  keep(chunk: Uint8Array, start: number, end: number): void;
  add(bytes: Uint8Array): void;
  taken(): Uint8Array;
} {
  let pieces: Uint8Array[] = [];
  let run: Uint8Array | undefined;
  let runStart = 0;
  let runEnd = 0;
  const close = (): void => {
    if (run === undefined) return;
    pieces.push(
      runStart === 0 && runEnd === run.length
        ? run
        : run.subarray(runStart, runEnd),
    );
    run = undefined;
  };
  return {
    keep(chunk, start, end) {
      if (run === chunk && runEnd === start) {
        runEnd = end;
        return;
      }
      close();
      run = chunk;
      runStart = start;
      runEnd = end;
    },
    add(bytes) {
      close();
      if (bytes.length > 0) pieces.push(bytes);
    },
    taken() {
      close();
      const bytes = pieces.length === 0 ? NOTHING : joinPieces(pieces);
      pieces = [];
      return bytes;
    },
  };
}
