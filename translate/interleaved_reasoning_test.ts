/**
 * Signed reasoning between text and calls: from a messages upstream to a chat client, and back in
 * the client's next request. It returns in its original order or is dropped.
 */
import assert from "node:assert/strict";
import { DEFAULT_CAPABILITIES } from "./model/capabilities.ts";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import { type EncodeContext, PLAIN_CONTEXT } from "./dialect.ts";
import {
  arrayOr,
  isObject,
  type JsonDraft,
  type JsonObject,
  objectOr,
} from "./bytes/json.ts";
import { topLevelOf } from "./bytes/json_splice.ts";
import { messages } from "./formats/messages/mod.ts";
import { streamRelay, wholeReply } from "./stream/relay.ts";
import { upstreamRequest } from "./upstream_request.ts";
import { ENCODE_CONTEXT } from "./testing/encode_context.ts";
import {
  assistant,
  text,
  toolMessage,
  toolUse,
  user,
} from "./testing/request_samples.ts";
import { atOnce } from "./steps.ts";

const ENCODE: EncodeContext = ENCODE_CONTEXT;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (data: Uint8Array): string => new TextDecoder().decode(data);

const thought = (words: string) => ({
  type: "thinking",
  thinking: words,
  signature: `S-${words}`,
});
const hidden = (data: string) => ({ type: "redacted_thinking", data });
const call = (id: string) => toolUse(id, "f", { n: id });

/** Replies named by their blocks, in order. */
const REPLIES: readonly (readonly JsonObject[])[] = [
  [thought("a"), text("one"), call("1")],
  [thought("a"), hidden("E"), text("one"), call("1"), call("2")],
  [thought("a"), text("one"), thought("b"), call("1")],
  [text("one"), thought("a"), call("1")],
  [text("ünï😀"), hidden("E"), text("two"), thought("b"), call("1")],
  [thought("a"), call("1"), thought("b"), call("2"), hidden("E"), call("3")],
  [
    thought("a"),
    thought("b"),
    text("one"),
    thought(""),
    text("two"),
    call("1"),
    thought("c"),
    call("2"),
    call("3"),
  ],
];

function frames(content: readonly JsonObject[]): string {
  const events: JsonObject[] = [{
    type: "message_start",
    message: { id: "msg_1", role: "assistant", content: [], usage: {} },
  }];
  content.forEach((block, index) => {
    const { thinking, signature, input, text, ...rest } = block;
    const start = { type: "content_block_start", index };
    const delta = (fields: JsonObject): void =>
      void events.push({ type: "content_block_delta", index, delta: fields });
    if (thinking !== undefined) {
      events.push({
        ...start,
        content_block: { ...rest, thinking: "", signature: "" },
      });
      for (const piece of String(thinking)) {
        delta({ type: "thinking_delta", thinking: piece });
      }
      delta({ type: "signature_delta", signature });
    } else if (text !== undefined) {
      events.push({ ...start, content_block: { ...rest, text: "" } });
      for (const piece of String(text)) {
        delta({ type: "text_delta", text: piece });
      }
    } else if (input !== undefined) {
      events.push({ ...start, content_block: { ...rest, input: {} } });
      delta({ type: "input_json_delta", partial_json: JSON.stringify(input) });
    } else events.push({ ...start, content_block: block });
    events.push({ type: "content_block_stop", index });
  });
  events.push(
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: {} },
    { type: "message_stop" },
  );
  return events.map((event) =>
    `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`
  ).join("");
}

/**
 * The assistant message that a client assembles from the chunks of a stream. Of a field that it
 * does not know, the official library keeps the last value.
 */
function gathered(stream: string, keepsLast: boolean): JsonObject {
  const message: JsonDraft = assistant("");
  const calls: JsonDraft[] = [];
  const details: unknown[] = [];
  for (const [, data = ""] of stream.matchAll(/^data: (\{.*)$/gm)) {
    const chunk: unknown = JSON.parse(data);
    const choice = objectOr(arrayOr(objectOr(chunk)["choices"])[0]);
    const delta = objectOr(choice["delta"]);
    if (typeof delta["content"] === "string") {
      message["content"] = `${message["content"]}${delta["content"]}`;
    }
    const more = arrayOr(delta["reasoning_details"]);
    if (keepsLast && more.length > 0) details.length = 0;
    details.push(...more);
    if (delta["extra_content"] !== undefined) {
      message["extra_content"] = delta["extra_content"];
    }
    for (const piece of arrayOr(delta["tool_calls"]).filter(isObject)) {
      const index = Number(piece["index"]);
      const known = objectOr(calls[index]?.["function"]);
      const more = objectOr(piece["function"]);
      calls[index] = {
        ...calls[index],
        ...piece,
        function: {
          ...known,
          ...more,
          arguments: `${known["arguments"] ?? ""}${more["arguments"] ?? ""}`,
        },
      };
    }
  }
  return {
    ...message,
    reasoning_details: details,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function streamed(
  content: readonly JsonObject[],
  keepsLast = false,
): JsonObject {
  const relay = streamRelay(chatCompletions, messages, PLAIN_CONTEXT, ENCODE);
  const out = textOf(relay.push(bytes(frames(content)))) + textOf(relay.end());
  return gathered(out, keepsLast);
}

function whole(content: readonly JsonObject[]): JsonObject {
  const reply = { type: "message", content, stop_reason: "tool_use" };
  const { body } = atOnce(wholeReply(
    chatCompletions,
    messages,
    PLAIN_CONTEXT,
    ENCODE,
    bytes(JSON.stringify(reply)),
  ));
  const choice = objectOr(arrayOr(JSON.parse(textOf(body)).choices)[0]);
  return objectOr(choice["message"]);
}

/** The assistant's turn that the vendor receives, and the dropped fields. */
function returned(
  message: JsonObject,
): { readonly content: unknown; readonly dropped: readonly string[] } {
  const ids = arrayOr(message["tool_calls"]).map((call) =>
    objectOr(call)["id"]
  );
  const body = {
    model: "m",
    max_tokens: 4_000,
    reasoning_effort: "low",
    messages: [
      user("hi"),
      message,
      ...ids.map((id) => toolMessage(id, "1")),
    ],
  };
  const json = bytes(JSON.stringify(body));
  const upstream = upstreamRequest(
    {
      dialect: chatCompletions,
      bytes: json,
      body,
      top: topLevelOf(json),
      request: atOnce(chatCompletions.decodeRequest(body)),
    },
    messages,
    "u",
    { ...DEFAULT_CAPABILITIES.messages, reasoning: "adaptive" },
  );
  const sent = JSON.parse(textOf(upstream.bytes));
  return { content: sent.messages[1].content, dropped: upstream.dropped };
}

/** The message with its `reasoning_details` changed. */
function withDetails(
  message: JsonObject,
  change: (entry: JsonObject) => JsonObject,
): JsonObject {
  return {
    ...message,
    reasoning_details: arrayOr(message["reasoning_details"]).map((entry) =>
      change(objectOr(entry))
    ),
  };
}

function kinds(content: readonly JsonObject[]): string {
  return content.map((block) => block["type"]).join(", ");
}

Deno.test("signed reasoning returns to the vendor in its original order", async (t) => {
  for (const content of REPLIES) {
    await t.step(`${kinds(content)}: as a stream`, () => {
      assert.deepEqual(returned(streamed(content)), { content, dropped: [] });
    });
    await t.step(`${kinds(content)}: as the library joins a stream`, () => {
      const message = streamed(content, true);
      assert.deepEqual(returned(message), { content, dropped: [] });
    });
    await t.step(`${kinds(content)}: whole`, () => {
      assert.deepEqual(returned(whole(content)), { content, dropped: [] });
    });
  }
});

Deno.test("signed reasoning whose position a client lost is dropped and named", async (t) => {
  for (const content of REPLIES.slice(2)) {
    const message = whole(content);
    const wanted = content.filter(({ type }) =>
      type === "text" || type === "tool_use"
    ).map(({ type }) => type);
    const rows: readonly (readonly [string, JsonObject])[] = [
      [
        "a client that keeps known fields only",
        withDetails(message, ({ position: _, ...entry }) => entry),
      ],
      [
        "a client that cut the text and the calls",
        { ...message, content: null, tool_calls: [] },
      ],
    ];
    for (const [name, changed] of rows) {
      await t.step(`${kinds(content)}: ${name}`, () => {
        if (name.includes("cut")) {
          const request = atOnce(chatCompletions.decodeRequest({
            model: "m",
            messages: [user("hi"), changed],
          }));
          assert.deepEqual(request.turns[1]?.parts, []);
          assert.ok(
            request.unknownFields.includes("messages[].reasoning_details"),
          );
          return;
        }
        const { content: sent, dropped } = returned(changed);
        const types = arrayOr(sent).map((block) => objectOr(block)["type"]);
        // Neighbouring texts are merged.
        assert.deepEqual(types, joined(wanted));
        assert.ok(dropped.includes("messages[].reasoning_details"));
      });
    }
  }
});

function joined(types: readonly unknown[]): readonly unknown[] {
  return types.filter((type, at) =>
    type !== "text" || types[at - 1] !== "text"
  );
}

Deno.test("reasoning that came first needs no position: entries of other gateways return in their order", () => {
  const content = [thought("a"), hidden("E"), text("one"), call("1")];
  const bare = withDetails(
    whole(content),
    ({ index: _, position: __, ...entry }) => entry,
  );
  assert.deepEqual(returned(bare), { content, dropped: [] });
});
