import assert from "node:assert/strict";
import { DEFAULT_CAPABILITIES } from "./model/capabilities.ts";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import type { Dialect, EncodeContext } from "./dialect.ts";
import type { JsonObject } from "./bytes/json.ts";
import { generateContent } from "./formats/generate_content/mod.ts";
import { messages } from "./formats/messages/mod.ts";
import type { ReplyEvent } from "./model/reply.ts";
import type { Signature } from "./model/request.ts";
import { responses } from "./formats/responses/mod.ts";
import { isTagged, taggedValue, untag } from "./turns/signature_tags.ts";
import { sseParser } from "./stream/sse.ts";
import { ENCODE_CONTEXT } from "./testing/encode_context.ts";
import { KEEPING_CLIENTS } from "./testing/kept_history.ts";
import { blockOf } from "./testing/reply_events.ts";
import { atOnce } from "./steps.ts";

const CONTEXT: EncodeContext = {
  ...ENCODE_CONTEXT,
  wantUsage: true,
  inputEstimate: 1,
};

const reply = (text: string, signature: Signature): ReplyEvent[] => [
  { type: "start" },
  { type: "open", kind: "reasoning" },
  ...(text === "" ? [] : [{ type: "delta", text } as const]),
  { type: "sign", signature },
  { type: "close" },
  ...blockOf("text", "hi"),
  { type: "stop", reason: "end", raw: "end" },
  { type: "end" },
];

const DIALECTS: readonly Dialect[] = [
  messages,
  chatCompletions,
  responses,
  generateContent,
];

/** The client of a format, as it sends a reply back. */
const clientOf = ({ name }: Dialect) =>
  KEEPING_CLIENTS[name as keyof typeof KEEPING_CLIENTS];

function signatures(dialect: Dialect, request: JsonObject): Signature[] {
  return atOnce(dialect.decodeRequest(request)).turns.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === "reasoning" && part.signature !== undefined
        ? [part.signature]
        : []
    )
  );
}

Deno.test("a signature returns through every client format to the format that made it", () => {
  for (const dialect of DIALECTS) {
    const client = clientOf(dialect);
    for (const from of ["messages", "responses"] as const) {
      for (const text of ["thoughts", ""]) {
        const signature: Signature = {
          from,
          value: "pr/oo+f==",
          ...(text === "" ? { redacted: true } : {}),
        };
        const where = `${dialect.name} ${from} ${text}`;
        const body = client.request(
          client.kept(dialect.encodeReply(reply(text, signature), CONTEXT)),
        );
        const [back, ...more] = signatures(dialect, body);
        assert.equal(back?.from, from, where);
        assert.equal(back.value, signature.value, where);
        assert.deepEqual(more, [], where);
        // Upstreams of the client's format must not receive another format's signature.
        const can = DEFAULT_CAPABILITIES[dialect.name];
        const clean = dialect.cleanRequest(body, can);
        const cleaned = { ...body, ...clean?.fields };
        if (from === dialect.name) continue;
        assert.ok(
          !JSON.stringify(cleaned).includes(signature.value),
          where,
        );
      }
    }
  }
});

/** A reply whose reasoning stands between text and calls. */
const INTERLEAVED: readonly ReplyEvent[] = [
  { type: "start" },
  ...["A", "B", "C"].flatMap((name): readonly ReplyEvent[] => [
    { type: "open", kind: "reasoning" },
    ...(name === "B" ? [] : [{ type: "delta", text: `why ${name}` } as const]),
    {
      type: "sign",
      signature: {
        from: "responses",
        value: name,
        ...(name === "B" ? { redacted: true } : {}),
      },
    },
    { type: "close" },
    name === "B"
      ? { type: "open", kind: "text" }
      : { type: "open", kind: "tool", id: `call_${name}`, name: "f" },
    { type: "delta", text: name === "B" ? "text" : "{}" },
    { type: "close" },
  ]),
  { type: "stop", reason: "tool_use", raw: "completed" },
  { type: "end" },
];

Deno.test("signed reasoning between text and calls returns in its order through every client's format", () => {
  const order = (dialect: Dialect, body: JsonObject): string[] =>
    atOnce(dialect.decodeRequest(body)).turns.flatMap(({ parts }) =>
      parts.map((part) =>
        part.type === "reasoning" ? part.signature?.value ?? "" : part.type
      )
    );
  const expected = ["A", "tool_call", "B", "text", "C", "tool_call"];
  for (const dialect of DIALECTS) {
    const client = clientOf(dialect);
    const whole = client.kept(dialect.encodeReply(INTERLEAVED, CONTEXT));
    assert.deepEqual(
      order(dialect, client.request(whole)),
      expected,
      dialect.name,
    );
  }
  const encoder = chatCompletions.streamEncoder(CONTEXT);
  const stream = INTERLEAVED.map((event) => encoder.push(event)).join("");
  const frames = sseParser().push(new TextEncoder().encode(stream))
    .flatMap(({ data }) => data.startsWith("{") ? [JSON.parse(data)] : []);
  const chat = KEEPING_CLIENTS.chat_completions;
  assert.deepEqual(
    order(chatCompletions, chat.request(chat.keptFrames(frames))),
    expected,
  );
});

Deno.test("untagged() reads only values from taggedValue()", () => {
  const signature: Signature = {
    from: "messages",
    value: "a:b",
    redacted: true,
  };
  assert.deepEqual(untag(taggedValue(signature)), signature);
  for (const value of ["gw1:embeddings:x", "gw1:", "gw1:x", "plain"]) {
    assert.equal(untag(value), undefined);
  }
  assert.ok(isTagged("gw1:later:x") && !isTagged("gAAAA") && !isTagged(3));
});
