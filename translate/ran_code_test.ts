/**
 * Code that Gemini ran is no text of the answer: it reaches clients in their format's own blocks, or
 * is named, and does not return to upstreams that know nothing of it.
 */
import assert from "node:assert/strict";
import { type JsonObject, objectOr } from "./bytes/json.ts";
import { PLAIN_CONTEXT } from "./dialect.ts";
import { generateContent } from "./formats/generate_content/mod.ts";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import { messages } from "./formats/messages/mod.ts";
import { responses } from "./formats/responses/mod.ts";
import { readResponseStream } from "./formats/responses/stream_grammar.ts";
import { type ClientFormat, translateRequest } from "./mod.ts";
import { streamRelay } from "./stream/relay.ts";
import { ENCODE_CONTEXT } from "./testing/encode_context.ts";
import { KEEPING_CLIENTS } from "./testing/kept_history.ts";
import { streamed, whole } from "./testing/relayed.ts";

const PARTS: readonly JsonObject[] = [
  { executableCode: { language: "PYTHON", code: "print(1+1)" } },
  { codeExecutionResult: { outcome: "OUTCOME_OK", output: "2\n" } },
  { executableCode: { language: "PYTHON", code: "1/0" } },
  { codeExecutionResult: { outcome: "OUTCOME_FAILED", output: "zero" } },
  { executableCode: { language: "PYTHON", code: "pass" } },
  { text: "It is 2." },
];
const reply = (parts: readonly JsonObject[], more: JsonObject = {}) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
});
const WHOLE = reply(PARTS, { finishReason: "STOP" });
const FRAMES = [
  ...PARTS.map((part) => reply([part])),
  reply([{ text: "" }], { finishReason: "STOP" }),
];

const kept = (format: ClientFormat, body: JsonObject): readonly JsonObject[] =>
  KEEPING_CLIENTS[format].kept(body);
/** What a client keeps of the reply, whole and streamed, without the ids. */
function bothOf(client: typeof messages): readonly (readonly JsonObject[])[] {
  const format = client.name as ClientFormat;
  return [
    kept(format, whole("generate_content", client, WHOLE)),
    KEEPING_CLIENTS[format].keptFrames(
      streamed("generate_content", client, FRAMES),
    ),
  ];
}

/** The request that asks on, for an upstream of a format. */
function sent(
  from: ClientFormat,
  to: ClientFormat,
  history: readonly JsonObject[],
) {
  const client = KEEPING_CLIENTS[from];
  const { bytes, dropped } = translateRequest({
    body: new TextEncoder().encode(
      JSON.stringify(
        client.request([
          ...client.ask("go"),
          ...history,
          ...client.ask("more"),
        ]),
      ),
    ),
    from,
    to,
    model: "up",
  });
  return { text: new TextDecoder().decode(bytes), dropped };
}

Deno.test("a messages client receives code that ran as the vendor's own tool", () => {
  for (const [message] of bothOf(messages)) {
    const content = objectOr(message)["content"] as JsonObject[];
    const uses = content.filter(({ type }) => type === "server_tool_use");
    assert.deepEqual(
      uses.map(({ name, input }) => [name, input]),
      ["print(1+1)", "1/0", "pass"].map((code) => ["code_execution", { code }]),
    );
    const results = content.filter(({ type }) =>
      type === "code_execution_tool_result"
    );
    assert.deepEqual(
      results.map((result) => result["tool_use_id"]),
      uses.map(({ id }) => id),
    );
    assert.deepEqual(
      results.map(({ content }) => {
        const { stdout, stderr, return_code: code } = objectOr(content);
        return [stdout, stderr, code];
      }),
      [["2\n", "", 0], ["", "zero", 1], ["", "", 0]],
    );
    assert.equal(content.length, 7);
    assert.equal(content[6]?.["text"], "It is 2.");
  }
});

Deno.test("a Responses client receives code that ran as the calls of its interpreter", () => {
  for (const items of bothOf(responses)) {
    assert.deepEqual(
      items.map(({ type, code, outputs }) => [type, code, outputs]),
      [
        ["code_interpreter_call", "print(1+1)", [
          { type: "logs", logs: "2\n" },
        ]],
        ["code_interpreter_call", "1/0", [{ type: "logs", logs: "zero" }]],
        ["code_interpreter_call", "pass", null],
        ["message", undefined, undefined],
      ],
    );
  }
  const relay = streamRelay(
    responses,
    generateContent,
    PLAIN_CONTEXT,
    ENCODE_CONTEXT,
  );
  const out = FRAMES.map((frame) =>
    relay.push(new TextEncoder().encode(`data: ${JSON.stringify(frame)}\n\n`))
  );
  readResponseStream(
    [...out, relay.end()].map((bytes) => new TextDecoder().decode(bytes))
      .join(""),
  );
});

Deno.test("a chat client receives the answer alone, and the code is named", () => {
  for (const [message] of bothOf(chatCompletions)) {
    assert.equal(objectOr(message)["content"], "It is 2.");
  }
  for (const parts of [PARTS, PARTS.slice(0, 2)]) {
    const relay = streamRelay(
      chatCompletions,
      generateContent,
      PLAIN_CONTEXT,
      ENCODE_CONTEXT,
    );
    const frame = JSON.stringify(reply(parts, { finishReason: "STOP" }));
    const out = relay.push(new TextEncoder().encode(`data: ${frame}\n\n`));
    const isAnswered = parts === PARTS;
    assert.deepEqual(relay.progress().lost, ["executableCode"]);
    const text = new TextDecoder().decode(out) +
      new TextDecoder().decode(relay.end());
    // Nothing but code is no complete answer.
    assert.equal(text.includes('"finish_reason":"stop"'), isAnswered);
  }
});

Deno.test("code that ran does not return to upstreams, and is not named", () => {
  for (const client of [messages, responses]) {
    const from = client.name as ClientFormat;
    for (const history of bothOf(client)) {
      for (const to of Object.keys(KEEPING_CLIENTS) as ClientFormat[]) {
        const { text, dropped } = sent(from, to, history);
        assert.ok(!text.includes("print(1+1)"), `${from} to ${to}`);
        assert.ok(text.includes("It is 2."), `${from} to ${to}`);
        assert.ok(!dropped.some((path) => /content\[|input\[/.test(path)));
      }
    }
  }
});
