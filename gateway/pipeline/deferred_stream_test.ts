import assert from "node:assert/strict";
import type { Relay } from "../../translate/stream/relay_interface.ts";
import type { Reply } from "../upstream/operation.ts";
import { gatewayTimers } from "../timers.ts";
import { deferredStream } from "./deferred_stream.ts";
import { pump } from "./stream_pump.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Passes chunks through; "." ends the reply. */
function plainRelay(ping: string): Relay {
  let ended = false;
  return {
    push(chunk) {
      ended ||= new TextDecoder().decode(chunk).endsWith(".");
      return chunk;
    },
    end: () => bytes(""),
    fail: () => bytes("[error]"),
    ping: () => bytes(ping),
    done: () => ended,
    progress: () => ({ started: true, ended, usage: {}, generatedChars: 0 }),
  };
}

/** The text that a client receives of a reply that begins while it waits. */
async function received(chunks: readonly string[]): Promise<string> {
  const attempts = Promise.withResolvers<Reply>();
  const { relay, source, first } = deferredStream({
    attempts: attempts.promise,
    pingRelay: plainRelay("ping "),
    abortAttempts: () => {},
  });
  const { body } = pump({
    source,
    relay,
    first,
    pingMs: 60_000,
    slowReaderMs: 60_000,
    timers: gatewayTimers(),
    onEnd: () => {},
  });
  const text = new Response(body).text();
  attempts.resolve({
    type: "stream",
    relay: plainRelay(""),
    first: bytes("first "),
    source: {
      read: () => Promise.reject(new Error("the pump does not call read()")),
      pushTo(sink) {
        for (const chunk of chunks) sink.onChunk(bytes(chunk));
        sink.onEnd();
      },
      pause: () => {},
      resume: () => {},
      countOnlyFrames: () => () => {},
      cancel: () => {},
    },
  });
  return await text;
}

Deno.test("a deferred stream sends the reply's first bytes before chunks that wait already", async () => {
  assert.equal(await received(["second", "."]), "ping first second.");
});

Deno.test("a deferred stream sends the reply's first bytes if nothing follows them", async () => {
  assert.equal(await received([]), "ping first ");
});
