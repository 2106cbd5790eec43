import assert from "node:assert/strict";
import type { ReplyEvent } from "../model/reply.ts";
import { blockOf, toolBlock } from "../testing/reply_events.ts";
import { atStops } from "./stop_texts.ts";

const END: readonly ReplyEvent[] = [
  { type: "stop", reason: "end", raw: "completed" },
  { type: "usage", usage: { input: 3, output: 9 } },
  { type: "end" },
];

function cut(
  stops: readonly string[],
  events: readonly ReplyEvent[],
): readonly ReplyEvent[] {
  return events.flatMap(atStops(stops));
}

/** What a client reads: the texts of the blocks, and the last stop event. */
function read(events: readonly ReplyEvent[]): readonly unknown[] {
  const blocks: string[] = [];
  let stop: unknown;
  for (const event of events) {
    if (event.type === "open") blocks.push(`${event.kind}:`);
    else if (event.type === "delta") {
      blocks.push(`${blocks.pop()}${event.text}`);
    } else if (event.type === "stop") stop = event.sequence ?? event.reason;
  }
  return [...blocks, stop];
}

const CASES: readonly (readonly [
  name: string,
  stops: readonly string[],
  text: string,
  kept: string,
  stop: string,
])[] = [
  ["one in the middle", ["END"], "one END two", "one ", "END"],
  ["none", ["END"], "one EN D", "one EN D", "end"],
  ["at the beginning", ["one"], "one two", "", "one"],
  ["at the very end", ["two"], "one two", "one ", "two"],
  ["the beginning of one at the end", ["two!"], "one two", "one two", "end"],
  ["the first of two", ["two", "one"], "a one two", "a ", "one"],
  ["the one that is complete first", ["abc", "b"], "xabc", "xa", "b"],
  ["the longer of two with one end", ["c", "bc"], "abcd", "a", "bc"],
  ["a false start", ["aab"], "aaab", "a", "aab"],
  ["a line break", ["\n\n"], "a\nb\n\nc", "a\nb", "\n\n"],
  ["a character of two units", ["🙂"], "a🙃b🙂c", "a🙃b", "🙂"],
];

Deno.test("a text ends before the first stop string, wherever its deltas are cut", async (t) => {
  for (const [name, stops, text, kept, stop] of CASES) {
    await t.step(name, () => {
      const pieces = [[text], [...text]];
      for (let at = 1; at < text.length; at++) {
        pieces.push([text.slice(0, at), text.slice(at)]);
      }
      for (const deltas of pieces) {
        const events = cut(stops, [...blockOf("text", ...deltas), ...END]);
        assert.deepEqual(
          read(events),
          [`text:${kept}`, stop],
          deltas.join("|"),
        );
        assert.deepEqual(
          events.filter(({ type }) => type === "close" || type === "usage"),
          [{ type: "close" }, END[1]],
        );
        assert.equal(events.at(-1)?.type, "end");
      }
    });
  }
});

Deno.test("text that cannot begin a stop string is not held back", () => {
  const push = atStops(["END"]);
  push({ type: "open", kind: "text" });
  const texts = ["one E", "asy", " EN"].flatMap((text) =>
    push({ type: "delta", text })
  );
  assert.deepEqual(texts, [
    { type: "delta", text: "one " },
    { type: "delta", text: "Easy" },
    { type: "delta", text: " " },
  ]);
});

Deno.test("nothing of a reply follows the stop string; thoughts and calls before it stay", () => {
  const events = cut(["END"], [
    ...blockOf("reasoning", "END of thought"),
    ...toolBlock("a", "f", '{"x":"END"}'),
    ...blockOf("text", "one END two"),
    ...blockOf("text", "three"),
    ...toolBlock("b", "g", "{}"),
    ...END,
  ]);
  assert.deepEqual(read(events), [
    "reasoning:END of thought",
    'tool:{"x":"END"}',
    "text:one ",
    "END",
  ]);
});

Deno.test("a failure stays one, and comes after the text that was held back", () => {
  const error: ReplyEvent = {
    type: "error",
    error: new Error("cut") as never,
  };
  const open: ReplyEvent = { type: "open", kind: "text" };
  assert.deepEqual(cut(["END"], [open, { type: "delta", text: "E" }, error]), [
    open,
    { type: "delta", text: "E" },
    error,
  ]);
  assert.equal(
    cut(["E"], [open, { type: "delta", text: "E" }, error]).at(-1),
    error,
  );
});
