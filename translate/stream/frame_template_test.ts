import assert from "node:assert/strict";
import fc from "fast-check";
import type { Edit } from "../bytes/apply_edits.ts";
import { modelSpan } from "../bytes/model_splice.ts";
import { frameTemplate, type VariableKeys } from "./frame_template.ts";

const VARYING: VariableKeys = {
  texts: new Set(["text", "content"]),
  padding: new Set(["obfuscation"]),
};
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array): string => new TextDecoder().decode(data);

const renaming = (
  frame: Uint8Array,
  model: string,
  key?: string,
): readonly Edit[] => {
  const span = modelSpan(frame, key);
  return span === undefined ? [] : [{ ...span, bytes: bytes(model) }];
};

const messages = (delta: string, blanks = "", index = 0): string =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":${delta}}${blanks}}\n\n`;
const chat = (delta: string, padding: string, more = ""): string =>
  `data: {"id":"1","model":"up-1","choices":[{"index":0,"delta":{"content":${delta}},"finish_reason":null}]${more},"obfuscation":"${padding}"}\r\n\r\n`;

Deno.test("matchEnd() matches a frame that differs in its text, at any position in a chunk", () => {
  const like = frameTemplate(bytes(messages('"Hi"')), "Hi", VARYING);
  assert.ok(like !== undefined);
  const other = messages('" there, \\"you\\" \\u00e9é😀"', "       ");
  const chunk = bytes(`xx${other}${messages('""')}`);
  const end = like.matchEnd(chunk, 2);
  assert.equal(text(chunk.subarray(2, end)), other);
  assert.equal(like.text(), ' there, "you" éé😀');
  assert.equal(like.matchEnd(chunk, end), chunk.length);
  assert.equal(like.text(), "");
});

Deno.test("matchEnd() matches a frame with other padding, and gives its head with the model replaced", () => {
  const like = frameTemplate(
    bytes(chat('"Hi"', "abc")),
    "Hi",
    VARYING,
    renaming(bytes(chat('"Hi"', "abc")), '"asked/for"'),
  );
  assert.ok(like !== undefined);
  const frame = bytes(chat('"yes"', "12345678"));
  assert.equal(like.matchEnd(frame, 0), frame.length);
  assert.equal(like.text(), "yes");
  assert.equal(
    text(like.head ?? bytes("")) + text(frame.subarray(like.headEnd())),
    chat('"yes"', "12345678").replace("up-1", "asked/for"),
  );
});

Deno.test("matchEnd() matches no frame that differs in anything else, is incomplete or is not JSON", async (t) => {
  const like = frameTemplate(bytes(chat('"Hi"', "abc")), "Hi", VARYING);
  assert.ok(like !== undefined);
  const good = chat('"yes"', "x");
  for (
    const [name, frame] of [
      ["another index", good.replace('"index":0', '"index":1')],
      ["a finish reason", good.replace("null", '"stop"')],
      ["one more field", chat('"yes"', "x", ',"usage":{}')],
      ["an event line", `event: message\n${good}`],
      ["a text that is null", chat("null", "x")],
      ["a raw line end in the text", chat('"a\nb"', "x")],
      ["an escape that JSON does not have", chat('"a\\x"', "x")],
      ["half an escape", chat('"a\\u12"', "x")],
      ["an object behind the text", chat('"a","role":"user"', "x")],
      ["other line ends", good.replaceAll("\r\n", "\n")],
      ["a cut", good.slice(0, -1)],
      ["nothing", ""],
    ] as const
  ) {
    await t.step(name, () => assert.equal(like.matchEnd(bytes(frame), 0), -1));
  }
});

Deno.test("frameTemplate() learns from no frame in which the text is ambiguous", async (t) => {
  for (
    const [name, frame] of [
      ["the text twice", `data: {"text":"Hi","content":"Hi"}\n\n`],
      ["no such text", `data: {"text":"Ho"}\n\n`],
      ["the text under another key", `data: {"words":"Hi"}\n\n`],
      ["a comment before it", `: {"text":"Hi"\ndata: {"text":"Hi"}\n\n`],
      ["two data lines", `data: {"text":"Hi",\ndata: "a":1}\n\n`],
      ["no blank line", `data: {"text":"Hi"}`],
      [
        "a model between values that differ",
        `data: {"obfuscation":"x","model":"up-1","delta":{"text":"Hi"}}\n\n`,
      ],
    ] as const
  ) {
    await t.step(
      name,
      () =>
        assert.equal(
          frameTemplate(
            bytes(frame),
            "Hi",
            VARYING,
            renaming(bytes(frame), '"m"'),
          ),
          undefined,
        ),
    );
  }
});

const COUNTING: VariableKeys = { ...VARYING, counts: new Set(["sum", "part"]) };
const counted = (delta: string, sum: string, part = "7"): string =>
  `data: {"parts":[{"text":${delta}}],"n":1,"usage":{"part": ${part},"sum":${sum}},"id":"a"}\r\n\r\n`;

Deno.test("matchEnd() matches a frame with other counts, and gives them", () => {
  const like = frameTemplate(bytes(counted('"Hi"', "12")), "Hi", COUNTING);
  assert.ok(like !== undefined);
  const frame = bytes(counted('"yes"', "123456789012345", "0"));
  assert.equal(like.matchEnd(frame, 0), frame.length);
  assert.equal(like.text(), "yes");
  const counts: [string, number][] = [];
  like.eachCount((key, count) => counts.push([key, count]));
  assert.deepEqual(counts, [["part", 0], ["sum", 123456789012345]]);
  assert.equal(like.count("sum"), 123456789012345);
  assert.equal(like.count("n"), undefined);
});

Deno.test("text() decodes texts of every length, plain, escaped and beyond ASCII", () => {
  const like = frameTemplate(bytes(messages('"Hi"')), "Hi", VARYING);
  assert.ok(like !== undefined);
  for (let length = 0; length < 100; length++) {
    for (const end of ["", "é", "😀", "\\", "\n", "\u0001"]) {
      const expected = "abcdefghij".repeat(10).slice(0, length) + end;
      const frame = bytes(messages(JSON.stringify(expected)));
      assert.equal(like.matchEnd(frame, 0), frame.length);
      assert.equal(like.text(), expected);
    }
  }
});

Deno.test("matchEnd() matches no frame with an invalid count", async (t) => {
  const like = frameTemplate(bytes(counted('"Hi"', "12")), "Hi", COUNTING);
  assert.ok(like !== undefined);
  for (
    const count of [
      "",
      "-1",
      "1.5",
      "1e3",
      "012",
      '"12"',
      "null",
      "1234567890123456",
      "12 ",
    ]
  ) {
    await t.step(count, () => {
      assert.equal(like.matchEnd(bytes(counted('"a"', count)), 0), -1);
    });
  }
  const frame = counted('"a"', "13");
  for (let cut = 0; cut < frame.length; cut++) {
    assert.equal(like.matchEnd(bytes(frame.slice(0, cut)), 0), -1);
  }
});

Deno.test("frameTemplate() treats fractions as fixed bytes, and learns nothing from a duplicate count", () => {
  const half = frameTemplate(bytes(counted('"Hi"', "1.5")), "Hi", COUNTING);
  assert.ok(half !== undefined);
  const same = bytes(counted('"yes"', "1.5", "8"));
  assert.equal(half.matchEnd(same, 0), same.length);
  assert.equal(half.matchEnd(bytes(counted('"yes"', "2.5")), 0), -1);
  for (const other of ["1", "1.5", "null"]) {
    const twice = counted('"Hi"', "12").replace('"n":1', `"sum":${other}`);
    assert.equal(frameTemplate(bytes(twice), "Hi", COUNTING), undefined);
  }
});

Deno.test("text() keeps a text that begins with a byte order mark", () => {
  const like = frameTemplate(bytes(messages('"Hi"')), "Hi", VARYING);
  assert.ok(like !== undefined);
  const frame = bytes(messages('"\ufeff a"'));
  assert.equal(like.matchEnd(frame, 0), frame.length);
  assert.equal(like.text(), "\ufeff a");
});

Deno.test("text() equals the result of a JSON parser for any text", () => {
  const like = frameTemplate(bytes(messages('"Hi"')), "Hi", VARYING);
  assert.ok(like !== undefined);
  fc.assert(fc.property(
    fc.string({ unit: "binary" }).map((any) => any.toWellFormed()),
    fc.nat({ max: 9 }),
    (delta, blanks) => {
      const frame = bytes(
        messages(JSON.stringify(delta), " ".repeat(blanks)),
      );
      assert.equal(like.matchEnd(frame, 0), frame.length);
      assert.equal(like.text(), delta);
    },
  ));
});

Deno.test("a model behind the values that differ is replaced in the frame's foot", () => {
  const frame = (said: string): Uint8Array =>
    bytes(
      `data: {"delta":{"text":"${said}"},"modelVersion":"up-1","id":"1"}\n\n`,
    );
  const hi = frame("Hi");
  const edits = renaming(hi, '"m"', "modelVersion");
  const like = frameTemplate(hi, "Hi", VARYING, edits);
  assert.ok(like?.foot !== undefined);
  assert.equal(like.head, undefined);
  const chunk = frame("there");
  assert.equal(like.matchEnd(chunk, 0), chunk.length);
  assert.equal(
    text(chunk.subarray(0, like.footStart())) + text(like.foot),
    'data: {"delta":{"text":"there"},"modelVersion":"m","id":"1"}\n\n',
  );
});
