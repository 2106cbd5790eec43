/**
 * A reply of the Responses format may hold several messages, such as a commentary and the final
 * answer. Clients of every format receive them in order and without added text.
 */
import assert from "node:assert/strict";
import { arrayOr, type JsonObject, objectOr } from "./bytes/json.ts";
import {
  type ClientFormat,
  translateReply,
  translateRequest,
  translateStream,
} from "./mod.ts";
import { DEFAULT_CAPABILITIES } from "./model/capabilities.ts";
import { sseParser } from "./stream/sse.ts";
import { assistant, user } from "./testing/request_samples.ts";

const REQUESTS = {
  messages: {
    model: "m",
    max_tokens: 9,
    messages: [user("go")],
  },
  chat_completions: {
    model: "m",
    messages: [user("go")],
  },
  responses: {
    model: "m",
    input: "go",
    tools: [{
      type: "namespace",
      name: "ns",
      tools: [{ type: "function", name: "f" }],
    }],
  },
} satisfies Partial<Record<ClientFormat, JsonObject>>;

const said = (id: string, phase: string, ...texts: string[]): JsonObject => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  phase,
  content: texts.map((text) => ({
    type: "output_text",
    text,
    annotations: [],
  })),
});
const thought = (id: string, text: string): JsonObject => ({
  type: "reasoning",
  id,
  summary: [{ type: "summary_text", text }],
});

/** The second message has two parts, which continue each other; the last one has no text. */
const OUTPUT: readonly JsonObject[] = [
  thought("rs_1", "plan"),
  said("msg_1", "commentary", "I look."),
  thought("rs_2", "check"),
  said("msg_2", "final_answer", "It is ", "done."),
  said("msg_3", "final_answer"),
];
const REPLY: JsonObject = {
  id: "resp_1",
  object: "response",
  status: "completed",
  output: OUTPUT,
  usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12 },
};

const bytes = (value: JsonObject): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(value));

function optionsFor(to: keyof typeof REQUESTS, isStream: boolean) {
  return {
    from: "responses" as const,
    to,
    request: translateRequest({
      body: bytes({ ...REQUESTS[to], stream: isStream }),
      from: to,
      to: "responses",
      model: "up",
      // Groups of tools become functions, so that nothing passes through.
      capabilities: { ...DEFAULT_CAPABILITIES.responses, toolGroups: false },
    }),
    idSeed: "0123456789abcdefghijABCD",
    created: 1_780_000_000,
  };
}

function whole(to: keyof typeof REQUESTS): JsonObject {
  const reply = translateReply(optionsFor(to, false), bytes(REPLY));
  return objectOr(JSON.parse(new TextDecoder().decode(reply)));
}

/** The data of the frames that a client receives. */
function streamed(to: keyof typeof REQUESTS): readonly JsonObject[] {
  const relay = translateStream(optionsFor(to, true));
  const events: JsonObject[] = [
    { type: "response.created", response: { ...REPLY, output: [] } },
    ...OUTPUT.flatMap((item, output_index) => [
      {
        type: "response.output_item.added",
        output_index,
        item: { ...item, content: [], summary: [] },
      },
      ...arrayOr(item["content"]).map((part, content_index) => ({
        type: "response.output_text.delta",
        output_index,
        content_index,
        delta: objectOr(part)["text"],
      })),
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: REPLY },
  ];
  const out: Uint8Array[] = events.map((event) =>
    relay.push(
      new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`),
    )
  );
  out.push(relay.end());
  const parser = sseParser();
  return [...out.flatMap((part) => parser.push(part)), ...parser.end()]
    .flatMap(({ data }) =>
      data === "" || data === "[DONE]" ? [] : [objectOr(JSON.parse(data))]
    );
}

Deno.test("a Responses client gets the phase of each message, also where the upstream has functions alone", () => {
  const messagesOf = (output: unknown): readonly unknown[] =>
    arrayOr(output).map(objectOr).filter((item) => item["type"] === "message")
      .map((item) => [
        item["phase"],
        arrayOr(item["content"]).map((part) => objectOr(part)["text"]),
      ]);
  const expected = [
    ["commentary", ["I look."]],
    ["final_answer", ["It is "]],
    ["final_answer", ["done."]],
  ];
  assert.deepEqual(messagesOf(whole("responses")["output"]), expected);

  const frames = streamed("responses");
  assert.deepEqual(
    messagesOf(objectOr(frames.at(-1)?.["response"])["output"]),
    expected,
  );
  assert.deepEqual(
    frames.filter(({ type }) => type === "response.output_item.added")
      .flatMap(({ item }) => objectOr(item)["phase"] ?? []),
    ["commentary", "final_answer", "final_answer"],
  );
});

Deno.test("the phase of earlier messages reaches a Responses upstream, and no other", async (t) => {
  const body = {
    ...REQUESTS.responses,
    input: [
      user("go"),
      said("msg_1", "commentary", "I look."),
      said("msg_2", "commentary", "I see."),
      said("msg_3", "final_answer", "It is done."),
      assistant("Indeed."),
      user("on"),
    ],
  };
  const sent = (to: "responses" | "chat_completions" | "messages") => {
    const { bytes: sent, dropped } = translateRequest({
      body: bytes(body),
      from: "responses",
      to,
      model: "up",
      capabilities: { ...DEFAULT_CAPABILITIES[to], toolGroups: false },
    });
    assert.deepEqual(dropped, []);
    return objectOr(JSON.parse(new TextDecoder().decode(sent)));
  };
  await t.step("responses", () =>
    assert.deepEqual(
      arrayOr(sent("responses")["input"]).map(objectOr).slice(1, -1).map((
        item,
      ) => [
        item["phase"],
        arrayOr(item["content"]).map((part) => objectOr(part)["text"]),
      ]),
      [
        ["commentary", ["I look.", "I see."]],
        ["final_answer", ["It is done."]],
        [undefined, ["Indeed."]],
      ],
    ));
  for (const to of ["chat_completions", "messages"] as const) {
    await t.step(
      to,
      () => assert.ok(!JSON.stringify(sent(to)).includes("phase")),
    );
  }
});
