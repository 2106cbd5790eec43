import assert from "node:assert/strict";
import { ApiError } from "../../translate/model/error.ts";
import type { ReplyEnd } from "../../translate/model/stored_state.ts";
import type { Relay } from "../../translate/stream/relay_interface.ts";
import type { ReplyKeeper } from "../responses/conversation.ts";
import { gatewayTimers } from "../timers.ts";
import type { ByteSink } from "../upstream/http/byte_source.ts";
import { keptStream } from "./kept_stream.ts";
import { type Pump, pump } from "./stream_pump.ts";
import { compact } from "../../translate/bytes/compact.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (chunk: Uint8Array): string => new TextDecoder().decode(chunk);

/**
 * Passes chunks through. "." ends the reply, "!" ends it with an error, and "~" lets the end of the
 * body end it.
 */
function plainRelay(): Relay {
  let ended = false;
  let endsWithBody = false;
  let error: ApiError | undefined;
  return {
    push(chunk) {
      const text = textOf(chunk);
      ended ||= /[.!]$/.test(text);
      endsWithBody ||= text.endsWith("~");
      if (text.endsWith("!")) error = new ApiError("upstream", "failed");
      return chunk;
    },
    end() {
      if (ended) return bytes("");
      ended = true;
      if (endsWithBody) return bytes("end.");
      error = new ApiError("upstream", "cut");
      return bytes("[cut]");
    },
    fail(thrown) {
      if (ended) return bytes("");
      ended = true;
      error = thrown;
      return bytes(`[${thrown.message}]`);
    },
    ping: () => bytes("[ping]"),
    done: () => ended,
    progress: () => ({
      started: true,
      ended,
      usage: {},
      generatedChars: 0,
      ...compact({ error }),
    }),
  };
}

interface World {
  readonly running: Pump;
  readonly sink: ByteSink;
  /** What the keeper was called with; resolve it to end the wait. */
  readonly kept: Promise<{ readonly end: string; resolve(is: boolean): void }>;
  readonly ended: Promise<string>;
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  rest(): Promise<string>;
}

/** A kept stream that has begun with `first`. */
async function start(first: string): Promise<World> {
  const kept = Promise.withResolvers<Awaited<World["kept"]>>();
  const keeper: ReplyKeeper = {
    stores: true,
    wholeEnd: () => assert.fail(),
    streamEnd: (last) =>
      /ignored\.$/.test(textOf(last)) ? undefined : end(last),
    keep(end) {
      const stored = Promise.withResolvers<boolean>();
      kept.resolve({ end: end.reply, resolve: stored.resolve });
      return stored.promise;
    },
  };
  const end = (last: Uint8Array): ReplyEnd => ({
    id: "resp_1",
    reply: textOf(last),
    itemIds: [],
    unstored: () => bytes("unstored."),
  });
  const ended = Promise.withResolvers<string>();
  const pushing = Promise.withResolvers<ByteSink>();
  const inner = plainRelay();
  const stream = keptStream({
    type: "stream",
    first: inner.push(bytes(first)),
    relay: inner,
    source: {
      read: () => Promise.reject(new Error("the pump does not call read()")),
      pushTo: pushing.resolve,
      pause: () => {},
      resume: () => {},
      countOnlyFrames: () => () => {},
      cancel: () => {},
    },
  }, keeper);
  const running = pump({
    ...stream,
    pingMs: 60_000,
    slowReaderMs: 60_000,
    timers: gatewayTimers(),
    onEnd: ended.resolve,
  });
  const reader = running.body.getReader();
  let text = "";
  const read = (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += textOf(value);
    }
  })();
  read.catch(() => {});
  return {
    running,
    reader,
    sink: await pushing.promise,
    kept: kept.promise,
    ended: ended.promise,
    rest: () => read,
  };
}

Deno.test("the last bytes wait until the reply is stored", async () => {
  const { sink, kept, rest, ended } = await start("a");
  sink.onChunk(bytes("b"));
  await Promise.resolve();
  sink.onChunk(bytes("c."));
  const { end, resolve } = await kept;
  assert.equal(end, "c.");
  resolve(true);
  sink.onEnd();
  assert.equal(await rest(), "abc.");
  assert.equal(await ended, "complete");
});

Deno.test("a reply that could not be stored ends with other last bytes", async () => {
  for (const endsFirst of [false, true]) {
    const { sink, kept, rest, ended } = await start("a");
    sink.onChunk(bytes("c."));
    if (endsFirst) sink.onEnd();
    (await kept).resolve(false);
    if (!endsFirst) sink.onEnd();
    assert.equal(await rest(), "aunstored.");
    assert.equal(await ended, "complete");
  }
});

Deno.test("a reply that is complete at once, or at the end of the body, is kept as well", async () => {
  for (const first of ["all.", "most~"]) {
    const { sink, kept, rest, ended } = await start(first);
    sink.onEnd();
    (await kept).resolve(true);
    assert.equal(await rest(), first === "all." ? "all." : "most~end.");
    assert.equal(await ended, "complete");
  }
});

Deno.test("a connection that breaks behind the reply does not harm it", async () => {
  const { sink, kept, rest, ended } = await start("a");
  sink.onChunk(bytes("c."));
  sink.onError(new ApiError("upstream", "reset"));
  (await kept).resolve(true);
  assert.equal(await rest(), "ac.");
  assert.equal(await ended, "complete");
});

Deno.test("a reply that failed, was cut, broke or is not to be kept does not wait", async () => {
  for (
    const [chunk, text, how, breaks] of [
      ["b!", "ab!", "failed"],
      ["b", "ab[cut]", "failed"],
      ["b", "ab[reset]", "failed", true],
      ["ignored.", "aignored.", "complete"],
    ] as const
  ) {
    const { sink, rest, ended } = await start("a");
    sink.onChunk(bytes(chunk));
    if (breaks === true) sink.onError(new ApiError("upstream", "reset"));
    else sink.onEnd();
    assert.equal(await rest(), text);
    assert.equal(await ended, how);
  }
});

Deno.test("a stream that the gateway ends while its reply is stored is complete, as not stored", async () => {
  const { running, sink, kept, rest } = await start("a");
  sink.onChunk(bytes("c."));
  const { resolve } = await kept;
  running.fail(new ApiError("unavailable", "stopping"));
  resolve(true);
  assert.equal(await rest(), "aunstored.");
});

Deno.test("a client that disconnects while its reply is stored ends the stream", async () => {
  const { sink, kept, ended, reader } = await start("a");
  sink.onChunk(bytes("c."));
  const { resolve } = await kept;
  await reader.cancel();
  assert.equal(await ended, "caller_left");
  resolve(true);
  sink.onEnd();
});
