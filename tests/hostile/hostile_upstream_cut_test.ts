/**
 * Upstream answers cut after any byte, streamed and whole, in every pair of formats: a partial
 * answer never looks complete.
 */
import { atOnce } from "../../translate/steps.ts";
import assert from "node:assert/strict";
import { chatCompletions } from "../../translate/formats/chat_completions/mod.ts";
import {
  type Dialect,
  type EncodeContext,
  PLAIN_CONTEXT,
  type UpstreamDialect,
} from "../../translate/dialect.ts";
import { ENCODE_CONTEXT } from "../../translate/testing/encode_context.ts";
import { joinBytes } from "../../replay/join_bytes.ts";
import { ApiError } from "../../translate/model/error.ts";
import { generateContent } from "../../translate/formats/generate_content/mod.ts";
import { messages } from "../../translate/formats/messages/mod.ts";
import {
  streamOfWhole,
  streamRelay,
  wholeOfStream,
  wholeReply,
} from "../../translate/stream/relay.ts";
import {
  bodyOf,
  CUT,
  ends,
  type HostileRow,
  runRows,
  typeOf,
} from "../support/tables/hostile_upstream.ts";
import {
  type CallVariant,
  type CheckedReply,
  checkReply,
} from "../support/replies/check_reply.ts";
import { bytesOf } from "../support/clients/raw_socket.ts";
import {
  CALLERS,
  MODELS,
  type UpstreamFormat,
} from "../support/tables/reply_script.ts";
import {
  chunk,
  framesOf,
  head,
  wholeOf,
} from "../support/upstreams/upstream_bytes.ts";

const CALLER_DIALECTS = { messages, chat: chatCompletions } as const;
const UPSTREAM_DIALECTS: Readonly<Record<UpstreamFormat, UpstreamDialect>> = {
  messages,
  chat: chatCompletions,
  gemini: generateContent,
};
const UPSTREAMS = ["messages", "chat", "gemini"] as const;
const FIXTURES: readonly string[] = ["text", "tool-parallel", "thinking-tool"];

function encodeFor(upstream: UpstreamFormat): EncodeContext {
  return {
    ...ENCODE_CONTEXT,
    model: MODELS[upstream],
    wantUsage: true,
    inputEstimate: 5,
  };
}

/** Form of the upstream's answer; the gateway accepts both, whichever form it requested. */
type Form = "stream" | "whole";

/** The gateway's response for an upstream body, made without sockets. */
function replyTo(
  body: Uint8Array,
  came: Form,
  { caller, upstream, stream }: CallVariant,
): Response {
  const to: Dialect = CALLER_DIALECTS[caller];
  const from = UPSTREAM_DIALECTS[upstream];
  const encode = encodeFor(upstream);
  const headers = {
    "content-type": stream ? "text/event-stream" : "application/json",
    "request-id": "req_1",
    "x-request-id": "req_1",
  };
  try {
    if (came === "stream" && stream) {
      const relay = streamRelay(to, from, PLAIN_CONTEXT, encode);
      const begun = relay.push(body).slice();
      return new Response(joinBytes([begun, relay.end()]), { headers });
    }
    const make = came === "stream"
      ? wholeOfStream
      : stream
      ? streamOfWhole
      : wholeReply;
    const reply = atOnce(make(to, from, PLAIN_CONTEXT, encode, body));
    return new Response(reply.body.slice(), { headers });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, body } = to.encodeError(error, "req_1");
    return new Response(JSON.stringify(body), {
      status,
      headers: { ...headers, "content-type": "application/json" },
    });
  }
}

async function read(
  body: Uint8Array,
  came: Form,
  asked: CallVariant,
): Promise<CheckedReply> {
  return await checkReply(replyTo(body, came, asked), asked);
}

async function assertCut(
  came: Form,
  stream: boolean,
  t: Deno.TestContext,
  cutsOf: (length: number) => number,
): Promise<void> {
  for (const fixture of FIXTURES) {
    for (const upstream of UPSTREAMS) {
      for (const caller of CALLERS) {
        const asked: CallVariant = { caller, upstream, stream };
        await t.step(`${fixture}: ${caller} from ${upstream}`, async () => {
          const body = bytesOf(
            came === "stream"
              ? framesOf(fixture, upstream).join("")
              : wholeOf(fixture, upstream),
          );
          const all = await read(body, came, asked);
          assert.equal(all.kind, "complete");
          const stride = Math.max(
            1,
            Math.floor(body.length / cutsOf(body.length)),
          );
          for (let at = 0; at < body.length; at += stride) {
            const part = await read(body.subarray(0, at), came, asked);
            if (came === "whole") {
              assert.equal(part.kind, "refused", `${at}`);
            } else if (part.kind === "complete") {
              assert.deepEqual(part.parts, all.parts, `${at}`);
              assert.equal(part.stop, all.stop, `${at}`);
            } else {
              const [beginning, whole] = [part, all].map(({ parts }) =>
                parts.join("\n")
              );
              assert.ok(whole?.startsWith(beginning ?? ""), `${at}`);
            }
          }
        });
      }
    }
  }
}

Deno.test("a stream cut after any byte is a prefix that ends in an error, or is complete", (t) =>
  assertCut("stream", true, t, (length) => length));

for (
  const [came, stream] of [
    ["stream", false],
    ["whole", true],
    ["whole", false],
  ] as const
) {
  const name = `a ${came} answer that is cut, for a client that requests ${
    stream ? "a stream" : "a whole reply"
  }, becomes an error or is complete`;
  Deno.test(name, (t) => assertCut(came, stream, t, () => 300));
}

Deno.test("a stream split into pieces of any size gives the same output as in one piece", async (t) => {
  for (const fixture of FIXTURES) {
    for (const upstream of UPSTREAMS) {
      for (const caller of CALLERS) {
        await t.step(`${fixture}: ${caller} from ${upstream}`, () => {
          const body = bytesOf(framesOf(fixture, upstream).join(""));
          const relayed = (size: number): string => {
            const relay = streamRelay(
              CALLER_DIALECTS[caller],
              UPSTREAM_DIALECTS[upstream],
              PLAIN_CONTEXT,
              encodeFor(upstream),
            );
            const decoder = new TextDecoder();
            let text = "";
            for (let at = 0; at < body.length; at += size) {
              const out = relay.push(body.subarray(at, at + size));
              text += decoder.decode(out, { stream: true });
            }
            return text + decoder.decode(relay.end());
          };
          const wanted = relayed(body.length);
          for (const size of [1, 2, 3, 7, 64]) {
            assert.equal(relayed(size), wanted, `pieces of ${size}`);
          }
        });
      }
    }
  }
});

/**
 * Positions of cuts on the wire; few suffice because the HTTP client checks framing, not content.
 */
const CUTS: readonly number[] = [0, 1, 60, 200, 300, 411];

const CHUNKED = { "transfer-encoding": "chunked" };

/** For each way to frame a body: the headers, and the bytes that are sent of the cut body. */
const CUT_FRAMES: Readonly<
  Record<string, (cut: string, whole: string) => readonly [object, string]>
> = {
  "content-length, cut": (cut, whole) => [
    { "content-length": String(bytesOf(whole).length) },
    cut,
  ],
  "chunks, cut between chunks": (cut) => [
    CHUNKED,
    cut === "" ? "" : chunk(cut),
  ],
  "chunks, cut inside a chunk": (cut) => [CHUNKED, `fff\r\n${cut}`],
  "chunks, ended properly": (cut) => [
    CHUNKED,
    (cut === "" ? "" : chunk(cut)) + chunk(""),
  ],
  "no length, connection closed": (cut) => [{}, cut],
};

Deno.test("a body cut on the wire is not a complete answer, however it is framed", (t) =>
  runRows(
    t,
    CUTS.flatMap((at): readonly HostileRow[] =>
      Object.entries(CUT_FRAMES).map(([name, framed]) => ({
        name: `${name} after ${at}`,
        play: ends((asked) => {
          const whole = bodyOf(asked);
          const [framing, body] = framed(whole.slice(0, at), whole);
          return head({ "content-type": typeOf(asked), ...framing }) + body;
        }),
        expect: CUT,
      }))
    ),
  ));
