/** Truncated streams: a cut after any byte never makes a partial reply look complete. */
import assert from "node:assert/strict";
import { WRITTEN } from "../../replay/fixtures/mod.ts";
import { chatCompletions } from "../../translate/formats/chat_completions/mod.ts";
import {
  type Dialect,
  type EncodeContext,
  PLAIN_CONTEXT,
  type UpstreamDialect,
} from "../../translate/dialect.ts";
import { generateContent } from "../../translate/formats/generate_content/mod.ts";
import { messages } from "../../translate/formats/messages/mod.ts";
import { streamRelay } from "../../translate/stream/relay.ts";
import {
  readChatStream,
  readMessageStream,
  type ReadReply,
} from "../support/replies/reply_grammar.ts";
import { MODELS } from "../support/tables/reply_script.ts";
import { ENCODE_CONTEXT } from "../../translate/testing/encode_context.ts";

const NAMES: readonly string[] = ["text", "tool-parallel", "thinking-tool"];
const UPSTREAMS: readonly UpstreamDialect[] = [
  messages,
  chatCompletions,
  generateContent,
];
const ENCODE: EncodeContext = {
  ...ENCODE_CONTEXT,
  model: MODELS.chat,
  wantUsage: true,
  inputEstimate: 5,
};

function bytesOf(name: string, upstream: UpstreamDialect): Uint8Array {
  const fixture = WRITTEN.get(name);
  assert.ok(fixture !== undefined, name);
  assert.ok(
    upstream.name !== "responses" && upstream.name !== "converse",
    "no fixture is written in it",
  );
  const text = fixture.replies[upstream.name].stream.join("")
    .replaceAll("{{model}}", "m").replaceAll(/\{\{[^}]*\}\}/g, "");
  return new TextEncoder().encode(text);
}

function relayed(
  caller: Dialect,
  upstream: UpstreamDialect,
  body: Uint8Array,
): string {
  const relay = streamRelay(caller, upstream, PLAIN_CONTEXT, ENCODE);
  const decoder = new TextDecoder();
  return decoder.decode(relay.push(body), { stream: true }) +
    decoder.decode(relay.end());
}

function read(caller: Dialect, text: string): ReadReply {
  return caller === messages
    ? readMessageStream(text, ENCODE.model)
    : readChatStream(text, ENCODE.model, true);
}

/** Whether the parts of one reply are a prefix of the other's. */
function begins(part: ReadReply, all: ReadReply): boolean {
  return all.parts.join("\n").startsWith(part.parts.join("\n"));
}

Deno.test("a stream cut after any byte is a prefix that ends in an error, or is complete", async (t) => {
  for (const name of NAMES) {
    for (const upstream of UPSTREAMS) {
      for (const caller of [messages, chatCompletions]) {
        if (caller.name === upstream.name) continue;
        await t.step(`${name}: ${caller.name} from ${upstream.name}`, () => {
          const body = bytesOf(name, upstream);
          const all = read(caller, relayed(caller, upstream, body));
          assert.notEqual(all.stop, undefined);
          for (let length = 0; length < body.length; length++) {
            const text = relayed(caller, upstream, body.subarray(0, length));
            const part = read(caller, text);
            assert.ok(begins(part, all), `${length}: ${part.parts}`);
            if (part.error === undefined) {
              assert.deepEqual(part.parts, all.parts);
              assert.equal(part.stop, all.stop);
            } else assert.equal(part.stop, undefined);
          }
        });
      }
    }
  }
});

Deno.test("a stream that passes through and is cut after any byte ends in an error, or is complete", async (t) => {
  for (const name of NAMES) {
    for (const caller of [messages, chatCompletions]) {
      await t.step(`${name}: ${caller.name}`, () => {
        const body = bytesOf(name, caller);
        const mark = caller === messages
          ? /event: message_stop\ndata: \{[^\n]*\}\s*$/
          : /data: \[DONE\]\n\n+$/;
        for (let length = 0; length < body.length; length++) {
          const text = relayed(caller, caller, body.subarray(0, length));
          const last = text.trimEnd().split("\n\n").at(-1) ?? "";
          const failed = /"error":\{/.test(last);
          const whole = mark.test(text);
          assert.ok(failed !== whole, `${length}: ${text.slice(-300)}`);
        }
      });
    }
  }
});

Deno.test("a stream split into pieces of any size gives the same output as in one piece", async (t) => {
  for (const name of NAMES) {
    for (const upstream of UPSTREAMS) {
      for (const caller of [messages, chatCompletions]) {
        await t.step(`${name}: ${caller.name} from ${upstream.name}`, () => {
          const body = bytesOf(name, upstream);
          const wanted = relayed(caller, upstream, body);
          for (const size of [1, 2, 3, 7, 64]) {
            const relay = streamRelay(caller, upstream, PLAIN_CONTEXT, ENCODE);
            const decoder = new TextDecoder();
            let text = "";
            for (let at = 0; at < body.length; at += size) {
              const out = relay.push(body.subarray(at, at + size));
              text += decoder.decode(out, { stream: true });
            }
            text += decoder.decode(relay.end());
            assert.equal(text, wanted, `pieces of ${size}`);
          }
        });
      }
    }
  }
});
