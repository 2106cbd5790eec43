/** What the clock tells of a live stream, on streams made by hand. */
import assert from "node:assert/strict";
import type { Exchange } from "../evidence/exchange.ts";
import { Redaction } from "../evidence/redaction.ts";
import { recordOf } from "../suite/recorder.ts";
import { inPieces } from "./transport_pieces.ts";

/** A chat stream of so many deltas that arrives in pieces of so many, the last of them at its end. */
function stream(deltas: number, together: number, endedMs: number): Exchange {
  const frames = Array.from(
    { length: deltas },
    (_, at) =>
      `data: {"choices":[{"index":0,"delta":{"content":"word${at} "}}]}\n\n`,
  );
  const bytes = new TextEncoder().encode(frames.join(""));
  const pieces = Array.from(
    { length: Math.ceil(deltas / together) },
    (_, at) => frames.slice(0, (at + 1) * together).join("").length,
  );
  return recordOf({
    label: "chat/model/stream",
    scenario: "text",
    endpoint: "chat",
    via: undefined,
    request: {
      client: "fetch",
      method: "POST",
      path: "/v1/chat/completions",
      headers: [],
      body: "",
    },
    received: {
      head: {
        status: 200,
        headers: [["content-type", "text/event-stream"]],
        atMs: 1,
      },
      body: bytes,
      arrivals: pieces.map((upTo, at) => ({
        upTo,
        atMs: endedMs - pieces.length + at,
      })),
      ending: "complete",
      endedMs,
    },
    redaction: new Redaction(),
  });
}

function verdicts(...streams: readonly Exchange[]): string {
  return inPieces(streams).map(({ verdict }) => verdict).join();
}

Deno.test("inPieces() fails a long and slow stream that came at once", () => {
  assert.equal(verdicts(stream(30, 30, 4000)), "fail");
});

Deno.test("inPieces() passes a stream whose deltas came one after another, however late the first", () => {
  assert.equal(
    verdicts(stream(30, 1, 4000), stream(30, 15, 4000)),
    "pass,pass",
  );
});

Deno.test("inPieces() cannot tell of short and of fast streams", () => {
  assert.equal(verdicts(stream(5, 5, 4000), stream(30, 30, 300)), "unclear");
});
