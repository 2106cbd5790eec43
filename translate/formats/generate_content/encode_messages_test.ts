import assert from "node:assert/strict";
import { compact } from "../../bytes/compact.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import type { JsonObject } from "../../bytes/json.ts";
import type { Part, ToolCallPart, Turn } from "../../model/request.ts";
import { CONTINUATION, encodeMessages } from "./encode_messages.ts";
import {
  imagePart,
  sampleRequest,
  turn,
} from "../../testing/sample_request.ts";
import { NEWER, OLDER } from "./sample_models.ts";
import type { WireContent } from "./wire.ts";
import {
  contentBy,
  functionCall,
  functionResponse,
  imageAt,
  text,
} from "../../testing/request_samples.ts";
import { refusalOf } from "../../testing/refusal_of.ts";
import { atOnce } from "../../steps.ts";
const call = (
  id: string,
  name: string,
  args = "{}",
  more: Partial<ToolCallPart> = {},
): Part => ({ type: "tool_call", id, name, arguments: args, ...more });
const result = (id: string, output: string, failed?: boolean): Part => ({
  type: "tool_result",
  id,
  content: output === "" ? [] : [text(output)],
  ...compact({ failed }),
});

function contents(
  turns: readonly Turn[],
  can: Capabilities = OLDER,
): readonly WireContent[] {
  return atOnce(encodeMessages(sampleRequest({ turns }), can, () => {}));
}

function parts(part: Part, can: Capabilities = OLDER): readonly JsonObject[] {
  return contents([turn("user", part)], can)[0]?.parts ?? [];
}

Deno.test("encodeMessages() adds a turn to continue only for a model without prefill", () => {
  const turns = [turn("user", text("a")), turn("assistant", text("b"))];
  assert.equal(contents(turns, NEWER).length, 2);
  assert.deepEqual(
    contents(turns, { ...NEWER, prefill: false }).at(-1),
    contentBy("user", { text: CONTINUATION }),
  );
  // The upstream refuses a call without its result; a text in the result's place would not repair
  // it.
  const called = [turn("user", text("a")), turn("assistant", call("1", "f"))];
  assert.equal(contents(called, { ...NEWER, prefill: false }).length, 2);
});

Deno.test("encodeMessages() resolves the name of a result several turns after its call", () => {
  assert.deepEqual(
    contents([
      turn("user", text("go")),
      turn("assistant", call("1", "f")),
      turn("user", text("wait")),
      turn("assistant", call("2", "g")),
      turn("user", result("1", "late"), result("2", "two")),
    ]).at(-1)?.parts,
    [
      functionResponse("g", { output: "two" }),
      functionResponse("f", { output: "late" }),
    ],
  );
});

Deno.test("encodeMessages() names a result without a call by its id, after the other results", () => {
  assert.deepEqual(
    contents([
      turn("user", text("go")),
      turn("assistant", call("1", "f")),
      turn("user", result("call_9", "lost"), result("1", "one")),
    ]).at(-1)?.parts,
    [
      functionResponse("f", { output: "one" }),
      functionResponse("call_9", { output: "lost" }),
    ],
  );
});

Deno.test("encodeMessages() numbers repeated ids, and their results alike", () => {
  const written = contents([
    turn("user", text("go")),
    turn("assistant", call("c1", "f"), call("c1", "g")),
    turn("user", result("c1", "1"), result("c1", "2")),
    turn("assistant", call("c1", "f")),
    turn("user", result("c1", "3")),
  ], { ...NEWER, reasoning: "none" });
  assert.deepEqual(
    [...JSON.stringify(written).matchAll(/"id":"(\w+)","name":"(.)"/g)]
      .map(([, id, name]) => `${id} ${name}`),
    ["c1 f", "c1_1 g", "c1 f", "c1_1 g", "c1_2 f", "c1_2 f"],
  );
});

Deno.test("encodeMessages() changes a refused name in call and result alike", () => {
  const [, model, user] = contents([
    turn("user", text("go")),
    turn("assistant", call("1", "1 f")),
    turn("user", result("1", "ok")),
  ]);
  const written = JSON.stringify([model, user]).match(/_1_f_[0-9a-f]{8}/g);
  assert.equal(written?.length, 2);
  assert.equal(written[0], written[1]);
});

Deno.test("encodeMessages() encodes arguments as an object, whatever the model wrote", async (t) => {
  const cases: readonly (readonly [string, JsonObject])[] = [
    ["", {}],
    [" \n", {}],
    ["{}", {}],
    ['{"a":[1]}', { a: [1] }],
    ['{"a":', { __raw_arguments: '{"a":' }],
    ["[1]", { __raw_arguments: "[1]" }],
    ['"x"', { __raw_arguments: '"x"' }],
    ["null", { __raw_arguments: "null" }],
  ];
  for (const [given, expected] of cases) {
    await t.step(JSON.stringify(given), () => {
      const [, model] = contents([
        turn("user", text("go")),
        turn("assistant", call("1", "f", given)),
      ]);
      assert.deepEqual(model?.parts, [functionCall("f", expected)]);
    });
  }
  await t.step("100,000 levels", () => {
    const deep = '{"a":'.repeat(100_000) + "1" + "}".repeat(100_000);
    const [, model] = contents([
      turn("user", text("go")),
      turn("assistant", call("1", "f", deep)),
    ]);
    assert.deepEqual(model?.parts, [
      functionCall("f", { __raw_arguments: deep }),
    ]);
  });
});

Deno.test("encodeMessages() encodes a result as an object", async (t) => {
  const response = (output: string, failed?: boolean): unknown =>
    contents([
      turn("user", text("go")),
      turn("assistant", call("1", "f")),
      turn("user", result("1", output, failed)),
    ]).at(-1)?.parts;
  const cases: readonly (readonly [string, boolean | undefined, unknown])[] = [
    ["plain", undefined, { output: "plain" }],
    ["plain", false, { output: "plain" }],
    ["", undefined, { output: "" }],
    ["broke", true, { error: "broke" }],
    ['{"a":1}', undefined, { a: 1 }],
    ['{"a":1}', true, { error: '{"a":1}' }],
    ["[1]", undefined, { output: "[1]" }],
    ['{"a":', undefined, { output: '{"a":' }],
    [
      '{"id":12345678901234567890}',
      undefined,
      { output: '{"id":12345678901234567890}' },
    ],
  ];
  await t.step("100,000 levels", () => {
    const deep = '{"a":'.repeat(100_000) + "1" + "}".repeat(100_000);
    assert.deepEqual(response(deep), [functionResponse("f", { output: deep })]);
  });
  for (const [output, failed, expected] of cases) {
    await t.step(`${JSON.stringify(output)} failed ${failed}`, () => {
      assert.deepEqual(response(output, failed), [
        functionResponse("f", expected),
      ]);
    });
  }
});

Deno.test("encodeMessages() joins the texts of a result by lines, text documents included", () => {
  assert.deepEqual(
    contents([
      turn("user", text("go")),
      turn("assistant", call("1", "f")),
      turn("user", {
        type: "tool_result",
        id: "1",
        content: [text("a"), {
          type: "document",
          title: "T",
          source: text("b"),
        }],
      }),
    ]).at(-1)?.parts,
    [functionResponse("f", { output: "a\nT\nb" })],
  );
});

Deno.test("encodeMessages() puts media of a result into it where the model supports that, else into the next content", () => {
  const turns = [
    turn("user", text("go")),
    turn("assistant", call("1", "f"), call("2", "g")),
    turn(
      "user",
      {
        type: "tool_result",
        id: "1",
        content: [
          text("see"),
          imagePart("image/png", "AA"),
          imageAt("https://x.example/a.png"),
          { type: "audio", format: "wav", data: "BB" },
        ],
      },
      result("2", "two"),
      text("and?"),
    ),
  ];
  const image = { inlineData: { mimeType: "image/png", data: "AA" } };
  const rest = [
    {
      fileData: { mimeType: "image/png", fileUri: "https://x.example/a.png" },
    },
    { inlineData: { mimeType: "audio/wav", data: "BB" } },
    { text: "and?" },
  ];
  assert.deepEqual(
    contents(turns, { ...OLDER, imagesInToolResult: true }).slice(2),
    [
      contentBy("user", {
        functionResponse: {
          name: "f",
          response: { output: "see" },
          parts: [image],
        },
      }, functionResponse("g", { output: "two" })),
      contentBy("user", { text: "Attached to the result of f (1):" }, ...rest),
    ],
  );
  assert.deepEqual(contents(turns, OLDER).slice(2), [
    contentBy(
      "user",
      functionResponse("f", { output: "see" }),
      functionResponse("g", { output: "two" }),
    ),
    contentBy(
      "user",
      { text: "Attached to the result of f (1):" },
      image,
      ...rest,
    ),
  ]);
});

Deno.test("encodeMessages() returns this dialect's signatures and no others", () => {
  const own = { from: "generate_content", value: "SIG" } as const;
  const foreign = { from: "messages", value: "NO" } as const;
  const [, model] = contents([
    turn("user", text("go")),
    turn(
      "assistant",
      { type: "reasoning", text: "t0" },
      { type: "reasoning", text: "t1", signature: foreign },
      { type: "reasoning", text: "t2", signature: own },
      call("1", "f", "{}", { signature: own }),
      call("2", "g", "{}", { signature: foreign }),
    ),
  ], OLDER);
  assert.deepEqual(model?.parts, [
    { text: "t2", thought: true, thoughtSignature: "SIG" },
    { functionCall: { name: "f", args: {} }, thoughtSignature: "SIG" },
    functionCall("g", {}),
  ]);
});

Deno.test("encodeMessages() gives the first call of each foreign turn the documented placeholder signature on models with levels", () => {
  const turns = [
    turn("user", text("go")),
    turn("assistant", text("t"), call("1", "f"), call("2", "g")),
    turn("user", result("1", ""), result("2", "")),
    turn(
      "assistant",
      call("3", "f", "{}", {
        signature: { from: "generate_content", value: "SIG" },
      }),
      call("4", "g"),
    ),
  ];
  const signatures = (can: Capabilities): unknown =>
    contents(turns, can).filter((content) => content.role === "model").map(
      (content) => content.parts.map((part) => part["thoughtSignature"]),
    );
  assert.deepEqual(signatures(NEWER), [
    [undefined, "skip_thought_signature_validator", undefined],
    ["SIG", undefined],
  ]);
  assert.deepEqual(signatures(OLDER), [
    [undefined, undefined, undefined],
    ["SIG", undefined],
  ]);
});

Deno.test("encodeMessages() encodes images, documents and sounds", async (t) => {
  const cases: readonly (readonly [string, Part, readonly JsonObject[]])[] = [
    [
      "a picture in place",
      imagePart("image/gif", "AA"),
      [{ inlineData: { mimeType: "image/gif", data: "AA" } }],
    ],
    [
      "a sound",
      { type: "audio", format: "mp3", data: "BB" },
      [{ inlineData: { mimeType: "audio/mp3", data: "BB" } }],
    ],
    [
      "a PDF with its title and context",
      {
        type: "document",
        title: "Bill",
        context: "of May",
        source: { type: "base64", mediaType: "application/pdf", data: "CC" },
      },
      [{ text: "Bill\nof May" }, {
        inlineData: { mimeType: "application/pdf", data: "CC" },
      }],
    ],
    [
      "a text document",
      { type: "document", source: text("words") },
      [{ text: "words" }],
    ],
    [
      "a URL of a known type",
      {
        type: "document",
        source: {
          type: "url",
          url: "gs://b/o",
          mediaType: "application/pdf",
        },
      },
      [{ fileData: { mimeType: "application/pdf", fileUri: "gs://b/o" } }],
    ],
    [
      "an address with an extension before its query",
      imageAt("https://x.example/a.b/C.JPG?w=1.png#f"),
      [{
        fileData: {
          mimeType: "image/jpeg",
          fileUri: "https://x.example/a.b/C.JPG?w=1.png#f",
        },
      }],
    ],
  ];
  for (const [name, part, expected] of cases) {
    await t.step(name, () => assert.deepEqual(parts(part), expected));
  }
});

Deno.test("encodeMessages() refuses a URL of unknown type, and any URL where the model supports none", () => {
  const unknown: Part = {
    type: "image",
    source: { type: "url", url: "https://x.example/pic?id=3" },
    at: "messages[0].content[2]",
  };
  const error = refusalOf(() => parts(unknown));
  assert.equal(error.kind, "invalid_request");
  assert.equal(error.details.param, "messages[0].content[2]");
  assert.match(
    error.message,
    /^messages\[0\]\.content\[2\]: IMAGE .*its media type cannot be known/,
  );
  const known: Part = imageAt("https://x.example/a.png");
  const none = refusalOf(() => parts(known, { ...OLDER, mediaUrls: false }));
  assert.equal(none.details.param, "MESSAGES");
});

Deno.test("encodeMessages() drops other dialects' parts and refuses the essential ones, in results too", () => {
  const opaque = (essential: boolean, from: "messages" | "generate_content") =>
    ({
      type: "opaque",
      from,
      kind: "thing",
      path: "messages[0].content[1]",
      value: { executableCode: { code: "1" } },
      essential,
    }) as const;
  const lost: string[] = [];
  const written = atOnce(encodeMessages(
    sampleRequest({
      turns: [
        turn(
          "user",
          text("a"),
          opaque(false, "messages"),
          opaque(false, "generate_content"),
          {
            type: "tool_result",
            id: "1",
            content: [opaque(false, "messages")],
          },
        ),
      ],
    }),
    OLDER,
    (path) => lost.push(path),
  ));
  assert.deepEqual(lost, ["messages[0].content[1]", "messages[0].content[1]"]);
  assert.deepEqual(written.at(-1)?.parts, [
    { text: "a" },
    { executableCode: { code: "1" } },
  ]);
  const error = refusalOf(() => parts(opaque(true, "messages")));
  assert.equal(error.details.param, "messages[0].content[1]");
  assert.match(error.message, /"thing"/);
});
