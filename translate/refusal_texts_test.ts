/** Why a model of the messages format refused (`stop_details`), for the other formats. */
import { atOnce } from "./steps.ts";
import assert from "node:assert/strict";
import { arrayOr, isObject, type JsonObject, objectOr } from "./bytes/json.ts";
import { type EncodeContext, PLAIN_CONTEXT } from "./dialect.ts";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import { messages } from "./formats/messages/mod.ts";
import { responses } from "./formats/responses/mod.ts";
import { streamRelay, wholeReply } from "./stream/relay.ts";
import { sseParser } from "./stream/sse.ts";
import { ENCODE_CONTEXT } from "./testing/encode_context.ts";

const ENCODE: EncodeContext = ENCODE_CONTEXT;
const WHY = "This asks for the synthesis of a pathogen.";
const STOP = {
  stop_reason: "refusal",
  stop_sequence: null,
  stop_details: { type: "refusal", category: "bio", explanation: WHY },
};
const USAGE = { input_tokens: 3, output_tokens: 4 };
const REPLY = { id: "msg_1", type: "message", role: "assistant", model: "u" };

function whole(text: string, to: typeof responses | typeof chatCompletions) {
  const content = text === "" ? [] : [{ type: "text", text }];
  const { body } = atOnce(wholeReply(
    to,
    messages,
    PLAIN_CONTEXT,
    ENCODE,
    new TextEncoder().encode(
      JSON.stringify({ ...REPLY, content, ...STOP, usage: USAGE }),
    ),
  ));
  return JSON.parse(new TextDecoder().decode(body));
}

function streamed(
  text: string,
  to: typeof responses | typeof chatCompletions,
): readonly JsonObject[] {
  const relay = streamRelay(to, messages, PLAIN_CONTEXT, ENCODE);
  const block = { type: "text", text: "" };
  const events: JsonObject[] = [
    { type: "message_start", message: { ...REPLY, content: [], usage: USAGE } },
    ...(text === "" ? [] : [
      { type: "content_block_start", index: 0, content_block: block },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "text_delta", text },
      },
      { type: "content_block_stop", index: 0 },
    ]),
    { type: "message_delta", delta: STOP, usage: USAGE },
    { type: "message_stop" },
  ];
  const parser = sseParser();
  return [
    ...events.map((event) =>
      relay.push(
        new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`),
      )
    ),
    relay.end(),
  ].flatMap((bytes) => parser.push(bytes)).flatMap(({ data }) => {
    const frame: unknown = data.startsWith("{") ? JSON.parse(data) : undefined;
    return isObject(frame) ? [frame] : [];
  });
}

Deno.test("chat clients receive why a model refused", () => {
  for (const text of ["", "Here is"]) {
    const [choice] = whole(text, chatCompletions)["choices"];
    assert.equal(choice.message.refusal, WHY);
    assert.equal(choice.message.content, text === "" ? null : text);
    assert.equal(choice.finish_reason, "content_filter");
    const choices = streamed(text, chatCompletions).flatMap((frame) =>
      arrayOr(frame["choices"]).map(objectOr)
    );
    const joined = (field: string): string =>
      choices.map(({ delta }) => objectOr(delta)[field] ?? "").join("");
    assert.equal(joined("refusal"), WHY);
    assert.equal(joined("content"), text);
    assert.equal(choices.at(-1)?.["finish_reason"], "content_filter");
  }
});

Deno.test("clients of the Responses format receive why a model refused", () => {
  const refused = [{ type: "refusal", refusal: WHY }];
  for (const text of ["", "Here is"]) {
    const reply = whole(text, responses);
    assert.deepEqual(reply.output.at(-1).content, refused);
    const events = streamed(text, responses);
    assert.equal(
      events.find(({ type }) => type === "response.refusal.done")?.["refusal"],
      WHY,
    );
    const last = events.at(-1)?.["response"];
    assert.ok(isObject(last));
    for (const { status, incomplete_details } of [reply, last]) {
      // A text that was cut short never looks complete.
      assert.deepEqual(
        [status, incomplete_details],
        text === ""
          ? ["completed", null]
          : ["incomplete", { reason: "content_filter" }],
      );
    }
  }
});
