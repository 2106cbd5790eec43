/** Verdicts of `judgePace()` on constructed streams. */
import assert from "node:assert/strict";
import type { Exchange } from "../../evidence/exchange.ts";
import { Redaction } from "../../evidence/redaction.ts";
import { recordOf } from "../../suite/recorder.ts";
import { judgePace } from "./checks_pace.ts";

/**
 * A chat stream of `deltas` deltas that arrives in pieces of `together`, the last of them at its
 * end.
 */
function stream(
  deltas: number,
  together: number,
  endedMs: number,
  apartMs: number = 50,
): Exchange {
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
        // Each piece takes the model some time.
        atMs: endedMs - apartMs * (pieces.length - at - 1),
      })),
      ending: "complete",
      endedMs,
    },
    redaction: new Redaction(),
  });
}

function verdicts(...streams: readonly Exchange[]): string {
  return judgePace(streams).map(({ verdict }) => verdict).join();
}

Deno.test("judgePace() fails long and slow streams that arrive at once", () => {
  const held = stream(30, 30, 4000);
  assert.equal(verdicts(held, held, held), "fail,fail,fail");
});

Deno.test("judgePace() does not fail a target by few of its streams: the network may have stalled", () => {
  const held = stream(30, 30, 4000);
  const flowing = stream(30, 1, 4000);
  assert.equal(verdicts(held), "unclear");
  assert.equal(
    verdicts(held, flowing, flowing, held, held, flowing),
    "unclear,pass,pass,unclear,unclear,pass",
  );
});

Deno.test("judgePace() fails streams that are buffered in steps, and not those that come slowly", () => {
  const steps = stream(80, 20, 4800, 1200);
  assert.equal(verdicts(steps, steps, steps), "fail,fail,fail");
  const slow = stream(30, 1, 12_000, 400);
  assert.equal(verdicts(slow, slow, slow), "pass,pass,pass");
  const few = stream(40, 4, 4800, 480);
  assert.equal(verdicts(few, few, few), "pass,pass,pass");
});

Deno.test("judgePace() passes a stream whose deltas arrive one after another, however late the first", () => {
  assert.equal(
    verdicts(stream(30, 1, 4000), stream(30, 15, 4000)),
    "pass,pass",
  );
});

Deno.test("judgePace() leaves short streams and fast streams unclear", () => {
  assert.equal(verdicts(stream(5, 5, 4000), stream(30, 30, 300)), "unclear");
});

Deno.test("judgePace() fails a stream that is buffered after its first deltas", () => {
  const late = stream(30, 28, 4000);
  const [first] = late.frames;
  assert.ok(first);
  const held = {
    ...late,
    frames: late.frames.map((frame, at) => ({
      ...frame,
      // A proxy releases its buffer, frame after frame.
      atMs: at < 2 ? first.atMs : 3990 + at / 10,
    })),
  };
  assert.equal(verdicts(held, held, held), "fail,fail,fail");
});
