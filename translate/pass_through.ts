/**
 * A stream between two sides that speak one dialect: the upstream's own bytes, frame by frame. Only four things are touched: the
 * `model` value becomes the id that the caller asked for, a usage frame that the caller did not ask for stays here, the end is
 * told once and as the format tells it where the upstream did otherwise, and a failure (in the stream or by its being cut) is
 * told in the dialect's clean form, with nothing after it.
 *
 * @module
 */
import type {
  DecodeContext,
  Dialect,
  EncodeContext,
  UpstreamDialect,
} from "./dialect.ts";
import { ApiError } from "./error.ts";
import { frameWalk, loneDelta } from "./frame_walk.ts";
import { withModel } from "./model_splice.ts";
import type { Relay } from "./relay.ts";
import type { ReplyEvent } from "./reply.ts";
import { observer } from "./seen.ts";
import { joinPieces } from "./slab.ts";

const ENCODER = new TextEncoder();
const NOTHING = new Uint8Array(0);

/** Makes the relay for one stream; `upstream` reads what `dialect` writes. */
export function passThroughRelay(
  dialect: Dialect,
  upstream: UpstreamDialect,
  decode: DecodeContext,
  encode: EncodeContext,
): Relay {
  const decoder = upstream.streamDecoder(decode);
  const varying = decoder.more === undefined ? undefined : upstream.varying;
  const encoder = dialect.streamEncoder(encode);
  const ending = dialect.endingKeeper(encode);
  const watch = observer();
  const model = ENCODER.encode(JSON.stringify(encode.model));
  const out = byteRuns();
  let done = false;

  const failWith = (error: ApiError): void => {
    if (done) return;
    done = true;
    watch.observe({ type: "error", error });
    out.add(ENCODER.encode(encoder.push({ type: "error", error })));
  };
  const note = (events: readonly ReplyEvent[]): void => {
    for (const event of events) {
      if (event.type === "error") return failWith(event.error);
      watch.observe(event);
      if (event.type === "end") done = true;
      // The encoder is not used for the answer, but it must know whether one has begun: its pings depend on that.
      if (event.type === "start") encoder.push(event);
    }
  };
  const walk = frameWalk(
    {
      take(bytes, frames) {
        const events: ReplyEvent[] = [];
        for (const frame of frames) {
          for (const event of decoder.push(frame)) events.push(event);
        }
        const failure = events.find((event) => event.type === "error");
        note(events);
        if (failure !== undefined) return undefined;
        if (!frames.some((frame) => dialect.unasked(frame, encode))) {
          const told = frames.some((frame) => frame.data.includes('"model"'))
            ? withModel(bytes, model)
            : bytes;
          for (const piece of ending.keep(told, frames, events)) out.add(piece);
        }
        return loneDelta(events, varying);
      },
      takeLike(chunk, start, end, like) {
        note(decoder.more?.(like) ?? []);
        if (like.head === undefined) return out.keep(chunk, start, end);
        out.add(like.head);
        out.keep(chunk, like.headEnd(), end);
      },
      isDone: () => done,
    },
    varying,
    model,
  );
  const guarded = (work: () => void): Uint8Array => {
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
    push: (chunk) => guarded(() => walk.push(chunk)),
    end: () =>
      guarded(() => {
        walk.end();
        if (done) return;
        const events = decoder.end();
        note(events);
        done = true;
        if (events.at(-1)?.type !== "end") return;
        for (const piece of ending.finish(events)) out.add(piece);
      }),
    fail: (error) => guarded(() => failWith(error)),
    ping: () =>
      done ? NOTHING : ENCODER.encode(encoder.ping() || ": keep-alive\n\n"),
    done: () => done,
    seen: watch.seen,
  };
}

/** Puts together what goes out for a chunk. Neighbours in one chunk stay together, so that an untouched chunk is not copied. */
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
