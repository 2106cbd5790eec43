import assert from "node:assert/strict";
import { ApiError } from "../translate/error.ts";
import { soon } from "../end_to_end/soon.ts";
import type { Relay } from "../translate/relay.ts";
import { type Pump, pump } from "./pump.ts";
import { gatewayTimers } from "./timers.ts";
import type { ByteSink, ByteSource } from "./upstream/byte_source.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A source that gives what the test hands it, and a relay that passes it on; "END" in a piece ends the answer. */
function streamed(
  pieces: readonly string[],
  after: "end" | "hold" | "repeat",
): {
  readonly running: Pump;
  readonly cancelled: () => boolean;
  /** From now on all pieces come in one turn. */
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
      if (piece !== undefined) sink?.piece(bytes(piece));
      else if (after === "end") return sink?.ended();
      else return;
      if (!inOneTurn) await Promise.resolve();
    }
  };
  const source: ByteSource = {
    read: () => Promise.reject(new Error("the pump reads nothing itself")),
    flow(taker) {
      sink = taker;
      run();
    },
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
      run();
    },
    cancel() {
      if (cancelled) return;
      cancelled = true;
      sink?.failed(new ApiError("upstream", "the call was broken off"));
    },
  };
  let done = false;
  let error: ApiError | undefined;
  const failed = (told: ApiError): Uint8Array => {
    if (done) return bytes("");
    done = true;
    error = told;
    return bytes(`[${told.message}]`);
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
    seen: () => ({
      started: true,
      ended: done && error === undefined,
      usage: {},
      generatedChars: 0,
      ...(error === undefined ? {} : { error }),
    }),
  };
  let tell = (_: string): void => {};
  const ended = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const running = pump({
    source,
    relay,
    first: bytes("first "),
    pingMs: 20,
    slowReaderMs: 60,
    timers: gatewayTimers(),
    onEnd: (how) => tell(how),
  });
  return {
    running,
    cancelled: () => cancelled,
    together() {
      inOneTurn = true;
    },
    ended,
  };
}

Deno.test("pump() gives what was there first, then the rest, and ends with the answer", async () => {
  const { running, ended } = streamed(["a ", "b END"], "end");
  assert.equal(await new Response(running.body).text(), "first a b END");
  assert.equal(await soon(ended, "the end"), "complete");
});

Deno.test("pump() tells a body that ended too early", async () => {
  const { running, ended } = streamed(["a "], "end");
  assert.equal(await new Response(running.body).text(), "first a [cut]");
  assert.equal(await soon(ended, "the end"), "failed");
});

Deno.test("pump() sends pings while the source is silent, and cancels it when the caller leaves", async () => {
  const { running, cancelled, ended } = streamed([], "hold");
  const reader = running.body.getReader();
  const heard: string[] = [];
  while (heard.length < 4) {
    heard.push(new TextDecoder().decode((await reader.read()).value));
  }
  assert.deepEqual(heard, ["first ", "[ping]", "[ping]", "[ping]"]);
  await reader.cancel();
  assert.equal(cancelled(), true);
  assert.equal(await soon(ended, "the end"), "caller_left");
});

Deno.test("fail() reaches a caller whose source is silent", async () => {
  const { running, cancelled, ended } = streamed(["a "], "hold");
  const reader = running.body.getReader();
  await reader.read();
  await reader.read();
  running.fail(new ApiError("unavailable", "stopping"));
  assert.equal(cancelled(), true);
  let text = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    text += new TextDecoder().decode(next.value);
  }
  assert.match(text, /^(\[ping\])*\[stopping\]$/);
  assert.equal(await soon(ended, "the end"), "failed");
});

Deno.test("fail() reaches a caller whose source always has more", async () => {
  const { running, ended } = streamed(["x"], "repeat");
  const reader = running.body.getReader();
  for (let i = 0; i < 50; i++) await reader.read();
  running.fail(new ApiError("timeout", "too long"));
  let last = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    last = new TextDecoder().decode(next.value);
  }
  assert.equal(last, "[too long]");
  assert.equal(await soon(ended, "the end"), "failed");
});

Deno.test("pump() pauses a source whose caller does not read, and cuts the caller off", async () => {
  const { running, cancelled, ended } = streamed(["x".repeat(1000)], "repeat");
  const reader = running.body.getReader();
  await reader.read();
  await reader.read();
  assert.equal(await soon(ended, "the end"), "caller_left");
  assert.equal(cancelled(), true);
  await assert.rejects(async () => {
    let size = 0;
    for (;;) {
      size += (await reader.read()).value?.length ?? 0;
      assert.ok(size < 1_000_000, "more was kept than a caller may leave");
    }
  }, /reads too slowly/);
});

Deno.test("pump() sends what comes in one turn in one piece, also where the body breaks in the same turn", async () => {
  for (const [after, wanted] of [["end", "[cut]"], ["hold", ""]] as const) {
    const { running, together } = streamed(["a ", "b ", "c "], after);
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

Deno.test("pump() goes on where the very first piece is more than may wait", async () => {
  const { running, ended } = streamed(["x".repeat(1_000_000), "END"], "end");
  const text = await new Response(running.body).text();
  assert.equal(text.length, 6 + 1_000_000 + 3);
  assert.equal(await soon(ended, "the end"), "complete");
});

Deno.test("pump() goes on where a caller reads slowly but reads", async () => {
  const { running, ended } = streamed(
    [...new Array(300).fill("x".repeat(1000)), "END"],
    "end",
  );
  const reader = running.body.getReader();
  let text = "";
  for (let n = 0;; n++) {
    const next = await reader.read();
    if (next.done) break;
    text += new TextDecoder().decode(next.value);
    // Each time nearly as long as it may be stuck, and far longer in all.
    if (n % 50 === 0) await new Promise((go) => setTimeout(go, 40));
  }
  assert.equal(text.replaceAll(/[^x]/g, "").length, 300_000);
  assert.match(text, /END$/);
  assert.equal(await soon(ended, "the end"), "complete");
});

Deno.test("fail() ends the call even where the caller reads no more", async () => {
  const { running, cancelled, ended } = streamed(["x"], "repeat");
  running.fail(new ApiError("unavailable", "stopping"));
  assert.equal(cancelled(), true);
  assert.equal(await soon(ended, "the end"), "failed");
  assert.equal(await new Response(running.body).text(), "first [stopping]");
});
