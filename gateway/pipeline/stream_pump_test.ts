import assert from "node:assert/strict";
import { ApiError } from "../../translate/model/error.ts";
import { withTimeout } from "../../tests/support/with_timeout.ts";
import type { Relay } from "../../translate/stream/relay_interface.ts";
import { type Pump, pump } from "./stream_pump.ts";
import { gatewayTimers } from "../timers.ts";
import type { ByteSink, ByteSource } from "../upstream/http/byte_source.ts";
import { compact } from "../../translate/bytes/compact.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const PROGRESS = {
  started: true,
  ended: false,
  usage: {},
  generatedChars: 0,
};

/**
 * A source with scripted chunks, and a relay that passes them through; "END" in a chunk ends the
 * reply.
 */
function startStream(
  pieces: readonly string[],
  after: "end" | "hold" | "repeat",
): {
  readonly running: Pump;
  readonly cancelled: () => boolean;
  /** From now on all chunks arrive in one turn. */
  readonly together: () => void;
  readonly ended: Promise<string>;
} {
  let cancelled = false;
  let at = 0;
  let paused = false;
  let inOneTurn = false;
  let sink: ByteSink | undefined;
  const run = async (): Promise<void> => {
    while (!paused && !cancelled) {
      const piece = pieces[after === "repeat" ? at++ % pieces.length : at++];
      if (piece !== undefined) sink?.onChunk(bytes(piece));
      else if (after === "end") return sink?.onEnd();
      else return;
      if (!inOneTurn) await Promise.resolve();
    }
  };
  const source: ByteSource = {
    read: () => Promise.reject(new Error("the pump does not call read()")),
    pushTo(target) {
      sink = target;
      run();
    },
    pause() {
      paused = true;
    },
    countOnlyFrames: () => () => {},
    resume() {
      paused = false;
      run();
    },
    cancel() {
      if (cancelled) return;
      cancelled = true;
      sink?.onError(new ApiError("upstream", "the call was aborted"));
    },
  };
  let done = false;
  let error: ApiError | undefined;
  const failed = (thrown: ApiError): Uint8Array => {
    if (done) return bytes("");
    done = true;
    error = thrown;
    return bytes(`[${thrown.message}]`);
  };
  const relay: Relay = {
    push(chunk) {
      done ||= new TextDecoder().decode(chunk).includes("END");
      return chunk;
    },
    end: () => done ? bytes("") : failed(new ApiError("upstream", "cut")),
    fail: failed,
    ping: () => bytes("[ping]"),
    done: () => done,
    progress: () => ({
      ...PROGRESS,
      ended: done && error === undefined,
      ...compact({ error }),
    }),
  };
  const ended = Promise.withResolvers<string>();
  const running = pump({
    source,
    relay,
    first: bytes("first "),
    pingMs: 20,
    slowReaderMs: 60,
    timers: gatewayTimers(),
    onEnd: ended.resolve,
  });
  return {
    running,
    cancelled: () => cancelled,
    together() {
      inOneTurn = true;
    },
    ended: withTimeout(ended.promise, "the end"),
  };
}

async function restOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<readonly string[]> {
  const pieces: string[] = [];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return pieces;
    pieces.push(new TextDecoder().decode(value));
  }
}

Deno.test("pump() sends the first bytes, then the rest, and ends with the reply", async () => {
  const { running, ended } = startStream(["a ", "b END"], "end");
  assert.equal(await new Response(running.body).text(), "first a b END");
  assert.equal(await ended, "complete");
});

Deno.test("pump() reports a body that ended too early", async () => {
  const { running, ended } = startStream(["a "], "end");
  assert.equal(await new Response(running.body).text(), "first a [cut]");
  assert.equal(await ended, "failed");
});

Deno.test("pump() sends pings while the source is silent, and cancels it when the client disconnects", async () => {
  const { running, cancelled, ended } = startStream([], "hold");
  const reader = running.body.getReader();
  const received: string[] = [];
  while (received.length < 4) {
    received.push(new TextDecoder().decode((await reader.read()).value));
  }
  assert.deepEqual(received, ["first ", "[ping]", "[ping]", "[ping]"]);
  await reader.cancel();
  assert.equal(cancelled(), true);
  assert.equal(await ended, "caller_left");
});

Deno.test("fail() reaches a client whose source is silent", async () => {
  const { running, cancelled, ended } = startStream(["a "], "hold");
  const reader = running.body.getReader();
  await reader.read();
  await reader.read();
  running.fail(new ApiError("unavailable", "stopping"));
  assert.equal(cancelled(), true);
  const text = (await restOf(reader)).join("");
  assert.match(text, /^(\[ping\])*\[stopping\]$/);
  assert.equal(await ended, "failed");
});

Deno.test("fail() reaches a client whose source always has more", async () => {
  const { running, ended } = startStream(["x"], "repeat");
  const reader = running.body.getReader();
  for (let i = 0; i < 50; i++) await reader.read();
  running.fail(new ApiError("timeout", "too long"));
  assert.equal((await restOf(reader)).at(-1), "[too long]");
  assert.equal(await ended, "failed");
});

Deno.test("pump() pauses a source whose client does not read, and drops the client", async () => {
  const pieces = ["x".repeat(1000)];
  const { running, cancelled, ended } = startStream(pieces, "repeat");
  const reader = running.body.getReader();
  await reader.read();
  await reader.read();
  assert.equal(await ended, "caller_left");
  assert.equal(cancelled(), true);
  await assert.rejects(async () => {
    let size = 0;
    for (;;) {
      size += (await reader.read()).value?.length ?? 0;
      assert.ok(size < 1_000_000, "the queue grew beyond its limit");
    }
  }, /reads too slowly/);
});

Deno.test("pump() sends the chunks of one turn as one chunk, also if the body fails in the same turn", async () => {
  for (const [after, wanted] of [["end", "[cut]"], ["hold", ""]] as const) {
    const { running, together } = startStream(["a ", "b ", "c "], after);
    const reader = running.body.getReader();
    const read = async (): Promise<string> =>
      new TextDecoder().decode((await reader.read()).value);
    together();
    assert.equal(await read(), "first ");
    assert.equal(await read(), "a b c ");
    if (wanted !== "") assert.equal(await read(), wanted);
    await reader.cancel();
  }
});

Deno.test("pump() continues if the first chunk exceeds the queue's limit", async () => {
  const { running, ended } = startStream(["x".repeat(1_000_000), "END"], "end");
  const text = await new Response(running.body).text();
  assert.equal(text.length, 6 + 1_000_000 + 3);
  assert.equal(await ended, "complete");
});

Deno.test("pump() continues for a client that reads slowly but steadily", async () => {
  const pieces = [...new Array(300).fill("x".repeat(1000)), "END"];
  const { running, ended } = startStream(pieces, "end");
  const reader = running.body.getReader();
  let text = "";
  for (let n = 0;; n++) {
    const next = await reader.read();
    if (next.done) break;
    text += new TextDecoder().decode(next.value);
    // Each pause is nearly as long as the limit for a slow reader, and all of them together far
    // longer.
    if (n % 50 === 0) await new Promise((go) => setTimeout(go, 40));
  }
  assert.equal(text.replaceAll(/[^x]/g, "").length, 300_000);
  assert.match(text, /END$/);
  assert.equal(await ended, "complete");
});

Deno.test("fail() ends the call even if the client no longer reads", async () => {
  const { running, cancelled, ended } = startStream(["x"], "repeat");
  running.fail(new ApiError("unavailable", "stopping"));
  assert.equal(cancelled(), true);
  assert.equal(await ended, "failed");
  assert.equal(await new Response(running.body).text(), "first [stopping]");
});

Deno.test("fail() does not close a body that its reader cancels at that moment", async () => {
  const how: string[] = [];
  const relay: Relay = {
    push: (chunk) => chunk,
    end: () => bytes(""),
    fail: () => bytes("[error]"),
    ping: () => bytes(""),
    done: () => false,
    progress: () => PROGRESS,
  };
  let leave: (() => void) | undefined;
  const running = pump({
    source: {
      read: () => Promise.reject(new Error("the pump reads nothing itself")),
      pushTo: () => {},
      pause: () => {},
      resume: () => {},
      countOnlyFrames: () => () => {},
      // As a server does that finds its connection closed while it takes the last bytes.
      cancel: () => leave?.(),
    },
    relay,
    first: bytes("first"),
    pingMs: 60_000,
    slowReaderMs: 60_000,
    timers: gatewayTimers(),
    onEnd: (ended) => how.push(ended),
  });
  const reader = running.body.getReader();
  assert.deepEqual((await reader.read()).value, bytes("first"));
  let left: Promise<void> | undefined;
  leave = () => {
    leave = undefined;
    left = reader.cancel();
  };
  running.fail(new ApiError("upstream", "broken off"));
  await left;
  assert.deepEqual(how, ["caller_left"]);
});
