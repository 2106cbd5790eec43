import assert from "node:assert/strict";
import { type DecodeContext, PLAIN_CONTEXT } from "../../dialect.ts";
import { type Block, foldReply } from "../../model/reply.ts";
import { decodeReply } from "./decode_reply.ts";
import { streamDecoder } from "./decode_stream.ts";

const TAGGED: DecodeContext = { ...PLAIN_CONTEXT, thinkTags: true };
const ROWS: readonly (readonly [string, string, string])[] = [
  ["<think>a</think>b", "a", "b"],
  ["\n<think>\na < b </thin </think>\n\nb", "\na < b </thin ", "b"],
  ["a <think>b</think>", "", "a <think>b</think>"],
  ["<thin", "", "<thin"],
  ["<think>a", "a", ""],
  ["<think></think>b", "", "b"],
  ["<think>a</thi", "a</thi", ""],
];

function textsOf(blocks: readonly Block[]): readonly string[] {
  return ["reasoning", "text"].map((kind) =>
    blocks.filter((block) => block.kind === kind).map(({ text }) => text)
      .join("")
  );
}

function streamed(pieces: readonly string[], context = TAGGED) {
  const decoder = streamDecoder(context);
  const events = pieces.map((content) => ({ delta: { content } })).concat(
    [{ delta: { content: "" } }],
  ).flatMap((choice, n) =>
    decoder.push({
      data: JSON.stringify({
        id: "c",
        choices: [{
          index: 0,
          ...choice,
          finish_reason: n === pieces.length ? "stop" : null,
        }],
      }),
    })
  );
  return textsOf(foldReply([...events, ...decoder.end()]).blocks);
}

for (const [content, reasoning, text] of ROWS) {
  Deno.test(`reasoning in tags is reasoning: ${JSON.stringify(content)}`, () => {
    const body = {
      id: "c",
      choices: [{ index: 0, message: { content }, finish_reason: "stop" }],
    };
    const expected = [reasoning, text];
    assert.deepEqual(
      textsOf(foldReply(decodeReply(body, TAGGED)).blocks),
      expected,
    );
    assert.deepEqual(
      textsOf(foldReply(decodeReply(body, PLAIN_CONTEXT)).blocks),
      ["", content],
    );
    for (let cut = 0; cut <= content.length; cut++) {
      assert.deepEqual(
        streamed([content.slice(0, cut), content.slice(cut)]),
        expected,
      );
    }
    assert.deepEqual(streamed([...content]), expected);
    assert.deepEqual(streamed([...content], PLAIN_CONTEXT), ["", content]);
  });
}
