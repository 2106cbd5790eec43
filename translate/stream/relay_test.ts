import assert from "node:assert/strict";
import { chatCompletions } from "../formats/chat_completions/mod.ts";
import { type Dialect, type EncodeContext, PLAIN_CONTEXT } from "../dialect.ts";
import { generateContent } from "../formats/generate_content/mod.ts";
import { messages } from "../formats/messages/mod.ts";
import { responses } from "../formats/responses/mod.ts";
import { ApiError } from "../model/error.ts";
import { DEFAULT_CAPABILITIES } from "../model/capabilities.ts";
import { topLevelOf } from "../bytes/json_splice.ts";
import { streamRelay, wholeOfStream, wholeReply } from "./relay.ts";
import { upstreamRequest } from "../upstream_request.ts";
import { ENCODE_CONTEXT } from "../testing/encode_context.ts";
import { toolUse } from "../testing/request_samples.ts";
import { atOnce } from "../steps.ts";

const ENCODE: EncodeContext = { ...ENCODE_CONTEXT, model: "asked/for" };

function passed(dialect: Dialect, body: string): string {
  const bytes = new TextEncoder().encode(body);
  const reply = atOnce(
    wholeReply(dialect, dialect, PLAIN_CONTEXT, ENCODE, bytes),
  );
  return new TextDecoder().decode(reply.body);
}

Deno.test("wholeReply() adds a stop reason to a reply without one and keeps everything else", async (t) => {
  const chat = (reason: string, message = "") =>
    `{"id":"1","model":"asked/for","odd":12345678901234567890,"choices":[{"index":1,"message":{"content":"n"},"finish_reason":"length"},{"index":0,"message":{"content":"x","annotations":[1]${message}},"logprobs":{"content":[]}${reason}}],"service_tier":"x"}`;
  const call =
    `,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]`;
  const rows: readonly (readonly [Dialect, string, string])[] = [
    [chatCompletions, chat(""), chat(`,"finish_reason":"stop"`)],
    [
      chatCompletions,
      chat(`,"finish_reason":""`, call),
      chat(`,"finish_reason":"tool_calls"`, call),
    ],
  ];
  for (const [dialect, body, expected] of rows) {
    await t.step(body, () => {
      assert.deepEqual(
        JSON.parse(passed(dialect, body)),
        JSON.parse(expected),
      );
      if (body.includes('"odd"')) {
        assert.ok(passed(dialect, body).includes("12345678901234567890"));
      }
    });
  }
});

Deno.test("wholeReply() does not change the bytes of a reply with a stop reason", () => {
  for (const word of ['"stop"', '"never_heard_of"']) {
    const body =
      `{ "model":"asked/for", "choices":[{"index":0,"message":{"content":"x"},"delta":{},"finish_reason":${word}}], "n":1.0 }`;
    assert.equal(passed(chatCompletions, body), body);
  }
});

Deno.test("upstreamRequest() names fields of a passed-through request that are removed because the model refuses them", () => {
  const text =
    `{"model":"m","temperature":1.0,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","reasoning_content":"r"}]}`;
  const bytes = new TextEncoder().encode(text);
  const body = JSON.parse(text);
  const sent = (takesReasoning: boolean) => {
    const { bytes: out, dropped } = upstreamRequest(
      {
        dialect: chatCompletions,
        bytes,
        body,
        top: topLevelOf(bytes),
        request: atOnce(chatCompletions.decodeRequest(body)),
      },
      chatCompletions,
      "m",
      { ...DEFAULT_CAPABILITIES.chat_completions, takesReasoning },
    );
    return [new TextDecoder().decode(out), dropped];
  };
  assert.deepEqual(sent(true), [text, []]);
  assert.deepEqual(sent(false), [
    text.replace(`,"reasoning_content":"r"`, ""),
    ["messages[].reasoning_content"],
  ]);
});

Deno.test("streamRelay() reports chunks that complete a frame, and none of comments or parts", () => {
  const chunks: readonly (readonly [string, boolean])[] = [
    [": waiting\n\n", false],
    [delta("a"), true],
    [": waiting\n\n: waiting\n\n", false],
    [delta("b").slice(0, 20), false],
    [delta("b").slice(20), true],
    [delta("c") + delta("d"), true],
    [": waiting\n\n" + delta("e"), true],
  ];
  for (const client of [chatCompletions, messages]) {
    let reports = 0;
    const relay = streamRelay(
      client,
      chatCompletions,
      PLAIN_CONTEXT,
      ENCODE,
      () => reports++,
    );
    for (const [chunk, hasFrame] of chunks) {
      reports = 0;
      relay.push(new TextEncoder().encode(chunk));
      assert.equal(reports, hasFrame ? 1 : 0, `${client.name}: ${chunk}`);
    }
  }
});

Deno.test("streamRelay() sends no half of a character that an upstream cut, and loses none", () => {
  const [first, second] = ["\ud83d", "\ude00"];
  const stream = [
    ...[`a${first}`, `${second}b`, first, "", `${second}${first}`].map(delta),
    `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`,
  ].join("");
  for (const client of [messages, responses, generateContent]) {
    const relay = streamRelay(client, chatCompletions, PLAIN_CONTEXT, ENCODE);
    const out = [relay.push(new TextEncoder().encode(stream)), relay.end()]
      .map((bytes) => new TextDecoder().decode(bytes)).join("");
    const deltas = [...out.matchAll(/"(?:text|delta)":("[^"]+")/g)].map(
      ([, text = ""]) => String(JSON.parse(text)),
    );
    assert.deepEqual(
      deltas.slice(0, 4),
      ["a", "😀b", "😀", first],
      client.name,
    );
  }
});

Deno.test("a frame is one line also for clients that take U+2028 and U+2029 for line ends", () => {
  const words = "a\u2028b\u2029c";
  const chunks = new TextEncoder().encode(
    delta(words) +
      `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`,
  );
  for (const client of [messages, responses, generateContent]) {
    const relay = streamRelay(client, chatCompletions, PLAIN_CONTEXT, ENCODE);
    const out = [relay.push(chunks), relay.end()]
      .map((bytes) => new TextDecoder().decode(bytes)).join("");
    assert.doesNotMatch(out, /[\u2028\u2029]/, client.name);
    const [, text = ""] = /"(?:text|delta)":("a[^"]+")/.exec(out) ?? [];
    assert.equal(JSON.parse(text), words, client.name);
  }
});

Deno.test("the answer of the tool that replaces a schema is the only text, whole and streamed", async (t) => {
  const text = (words: string) => ({ type: "text", text: words });
  const called = (name: string) => toolUse(name, name, { a: 1 });
  const rows: readonly (readonly [string, readonly object[], string])[] = [
    [
      "text around it",
      [text("Sure:"), called("out"), text("Done.")],
      '{"a":1}',
    ],
    ["a call of another tool", [text("First"), called("f")], "First"],
    ["no call", [text("I cannot.")], "I cannot."],
  ];
  for (const [name, content, expected] of rows) {
    await t.step(name, () => {
      const usage = { input_tokens: 1, output_tokens: 1 };
      const body = { id: "m", type: "message", role: "assistant", usage };
      const frames = [
        { type: "message_start", message: { ...body, content: [] } },
        ...content.flatMap((content_block, index) => [
          { type: "content_block_start", index, content_block },
          { type: "content_block_stop", index },
        ]),
        { type: "message_delta", delta: { stop_reason: "tool_use" }, usage },
        { type: "message_stop" },
      ];
      const bytes = (text: string) => new TextEncoder().encode(text);
      const context = { ...PLAIN_CONTEXT, formatTool: "out" };
      const whole = atOnce(wholeReply(
        chatCompletions,
        messages,
        context,
        ENCODE,
        bytes(JSON.stringify({ ...body, content, stop_reason: "tool_use" })),
      ));
      const relay = streamRelay(chatCompletions, messages, context, ENCODE);
      const stream = frames.map((data) => `data: ${JSON.stringify(data)}\n\n`);
      const out = [relay.push(bytes(stream.join(""))), relay.end()]
        .map((data) => new TextDecoder().decode(data)).join("");
      const found = [new TextDecoder().decode(whole.body), out].map((reply) =>
        [...reply.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)].map(
          ([, text = ""]) => String(JSON.parse(text)),
        ).join("")
      );
      assert.deepEqual(found, [expected, expected]);
    });
  }
});

function delta(content: string): string {
  const choice = { index: 0, delta: { content }, finish_reason: null };
  return `data: ${JSON.stringify({ id: "c", choices: [choice] })}\n\n`;
}

Deno.test("a reply of more blocks than are kept is an error, whole and streamed", () => {
  const calls = Array.from({ length: 32_769 }, (_, index) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function: { name: "f", arguments: "{}" },
  }));
  const reply = (part: string): Uint8Array =>
    new TextEncoder().encode(
      `{"id":"1","model":"m","choices":[{"index":0,"${part}":{"role":"assistant","tool_calls":${
        JSON.stringify(calls)
      }},"finish_reason":"tool_calls"}]}`,
    );
  for (const client of [chatCompletions, messages]) {
    assert.throws(
      () =>
        atOnce(wholeReply(
          client,
          chatCompletions,
          PLAIN_CONTEXT,
          ENCODE,
          reply("message"),
        )),
      /too many blocks/,
    );
    const relay = streamRelay(client, chatCompletions, PLAIN_CONTEXT, ENCODE);
    relay.push(new TextEncoder().encode("data: "));
    relay.push(reply("delta"));
    relay.push(new TextEncoder().encode("\n\n"));
    assert.match(relay.progress().error?.message ?? "", /too many blocks/);
    assert.ok(relay.done());
  }
});

Deno.test("wholeOfStream() reads a few frames in a step, and the same as at once", () => {
  const bytes = new TextEncoder().encode(
    "data: {}\n\n".repeat(100_000) +
      'data: {"id":"1","created":1,"choices":[{"index":0,"delta":{"content":"é"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  );
  const given = [
    messages,
    chatCompletions,
    PLAIN_CONTEXT,
    ENCODE,
    bytes,
  ] as const;
  const steps = wholeOfStream(...given);
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count++;
  assert.ok(count >= 50, `${count} steps`);
  assert.deepEqual(step.value, atOnce(wholeOfStream(...given)));
});

Deno.test("streamRelay() reads a frame of very many events, also where a tool's call would be the answer", () => {
  const parts = Array.from({ length: 200_000 }, () => ({ text: "a" }));
  const frame = (candidate: unknown): Uint8Array =>
    new TextEncoder().encode(
      `data: ${JSON.stringify({ candidates: [candidate] })}\n\n`,
    );
  for (const formatTool of [undefined, "json"]) {
    const relay = streamRelay(
      messages,
      generateContent,
      { ...PLAIN_CONTEXT, ...(formatTool === undefined ? {} : { formatTool }) },
      ENCODE,
    );
    relay.push(frame({ content: { role: "model", parts } }));
    relay.push(frame({ content: { parts: [] }, finishReason: "STOP" }));
    relay.end();
    assert.equal(relay.progress().error, undefined);
    assert.ok(relay.progress().ended);
  }
});

/** A whole reply's body, and in how many steps it was made. */
function inSteps(
  ...given: Parameters<typeof wholeReply>
): { readonly text: string; readonly count: number } {
  const steps = wholeReply(...given);
  let count = 1;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count++;
  return { text: new TextDecoder().decode(step.value.body), count };
}

Deno.test("wholeReply() reads and writes a long reply in steps, with every character and number", () => {
  const content = 'é\u{1f600}"\\ '.repeat(200_000);
  const body = JSON.stringify({
    id: "1",
    model: "m",
    created: 1,
    choices: [{ index: 0, message: { content }, finish_reason: "stop" }],
    extra: [0],
  }).replace("[0]", "[12345678901234567890]");
  const bytes = new TextEncoder().encode(body);
  const given = [PLAIN_CONTEXT, ENCODE, bytes] as const;
  const passed = inSteps(chatCompletions, chatCompletions, ...given);
  assert.equal(passed.text, body.replace('"m"', `"${ENCODE.model}"`));
  assert.ok(passed.count > 20, `${passed.count} steps`);
  const translated = inSteps(messages, chatCompletions, ...given);
  assert.equal(JSON.parse(translated.text).content[0].text, content);
  assert.ok(translated.count > 30, `${translated.count} steps`);
});

Deno.test("wholeReply() reads long replies that only JSON.parse can judge as short ones", async (t) => {
  const reply = (extra: string): string =>
    `{"id":"1","created":1,"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}],"extra":${extra}}`;
  const long = "x".repeat(1_100_000);
  const made = (text: string, mark = ""): string =>
    inSteps(
      messages,
      chatCompletions,
      PLAIN_CONTEXT,
      ENCODE,
      new TextEncoder().encode(mark + text),
    ).text;
  const short = made(reply("0"));
  const read: readonly (readonly [string, string])[] = [
    ["a long key", reply(`{"${long}":1}`)],
    ["long blanks", reply(`0${" ".repeat(1_100_000)}`)],
    ["a long number", reply(`0.${"1".repeat(1_100_000)}`)],
    ["a key twice", reply(`{"a":1,"a":"${long}"}`)],
  ];
  for (const [name, text] of read) {
    await t.step(name, () => assert.equal(made(text), short));
  }
  const refused: readonly (readonly [string, string])[] = [
    ["no end", reply(`"${long}`)],
    ["something behind it", `${reply(`"${long}"`)}x`],
    ["a list", `["${long}"]`],
    ["too many values", reply(`[${"{},".repeat(1_000_001)}0]`)],
  ];
  for (const [name, text] of refused) {
    await t.step(name, () => assert.throws(() => made(text), ApiError));
  }
});

Deno.test("stop strings that the upstream lacks end the reply, for each client, whole and streamed", async (t) => {
  const rows: readonly (readonly [Dialect, object, RegExp])[] = [
    [
      messages,
      { max_tokens: 99, stop_sequences: ["END"] },
      /"stop_reason":"stop_sequence","stop_sequence":"END"/,
    ],
    [chatCompletions, { stop: "END" }, /"finish_reason":"stop"/],
    [
      generateContent,
      { generationConfig: { stopSequences: ["END"] } },
      /"finishReason":"STOP"/,
    ],
  ];
  for (const [client, settings, stopped] of rows) {
    await t.step(client.name, () => {
      const body = {
        ...(client === generateContent
          ? { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }
          : { model: "m", messages: [{ role: "user", content: "Hi" }] }),
        ...settings,
      };
      const bytes = new TextEncoder().encode(JSON.stringify(body));
      const { context, dropped } = upstreamRequest(
        {
          dialect: client,
          bytes,
          body,
          top: topLevelOf(bytes),
          request: atOnce(client.decodeRequest(body)),
        },
        responses,
        "m",
        DEFAULT_CAPABILITIES.responses,
      );
      assert.deepEqual(dropped, []);
      const item = {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{
          type: "output_text",
          text: "one END two",
          annotations: [],
        }],
      };
      const reply = {
        id: "resp_1",
        object: "response",
        status: "completed",
        output: [item],
        usage: { input_tokens: 3, output_tokens: 9, total_tokens: 12 },
      };
      const json = (value: unknown) =>
        new TextEncoder().encode(JSON.stringify(value));
      const whole = atOnce(
        wholeReply(client, responses, context, ENCODE, json(reply)),
      );
      const relay = streamRelay(client, responses, context, ENCODE);
      const frame = (type: string, rest: object) =>
        `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
      const frames = [
        frame("response.created", { response: { id: "resp_1" } }),
        frame("response.output_item.added", {
          output_index: 0,
          item: { ...item, content: [] },
        }),
        ...["one", " E", "ND t", "wo"].map((delta) =>
          frame("response.output_text.delta", {
            output_index: 0,
            content_index: 0,
            item_id: "msg_1",
            delta,
          })
        ),
        frame("response.output_item.done", { output_index: 0, item }),
        frame("response.completed", { response: reply }),
      ].map((text) => relay.push(new TextEncoder().encode(text)));
      for (
        const [text, progress] of [
          [[whole.body], whole.progress],
          [[...frames, relay.end()], relay.progress()],
        ] as const
      ) {
        const sent = text.map((part) => new TextDecoder().decode(part)).join(
          "",
        );
        assert.match(sent.replaceAll(/: (?=["{[])/g, ":"), stopped);
        assert.match(sent, /one/);
        assert.doesNotMatch(sent, /two|ND t| E"/);
        assert.equal(progress.generatedChars, "one END two".length);
        assert.equal(progress.usage.output, 9);
        assert.ok(progress.ended);
      }
    });
  }
});
