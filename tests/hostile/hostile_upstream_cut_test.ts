/**
 * Upstream answers cut after any byte, streamed and whole, in every pair of formats: a partial
 * answer never looks complete.
 */
import assert from "node:assert/strict";
import { chatCompletions } from "../../translate/formats/chat_completions/mod.ts";
import {
  type Dialect,
  type EncodeContext,
  PLAIN_CONTEXT,
  type UpstreamDialect,
} from "../../translate/dialect.ts";
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
const FIXTURES: readonly string[] = ["text", "tool", "thinking-tool"];

function encodeFor(upstream: UpstreamFormat): EncodeContext {
  return {
    model: MODELS[upstream],
    created: 1780000000,
    idSeed: "seed0123456789abcdefghij",
    wantUsage: true,
    legacyFunctions: false,
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
      const pieces = [relay.push(body), relay.end()].map((piece) =>
        piece.slice()
      );
      return new Response(new Blob(pieces), { headers });
    }
    const make = came === "stream"
      ? wholeOfStream
      : stream
      ? streamOfWhole
      : wholeReply;
    const reply = make(to, from, PLAIN_CONTEXT, encode, body);
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

/** Distance between cuts: every byte of a short body, about 300 places of a long one. */
function strideOf(length: number): number {
  return Math.max(1, Math.floor(length / 300));
}

for (const came of ["stream", "whole"] as const) {
  for (const stream of [true, false]) {
    const name = `a ${came} answer that is cut, for a client that requests ${
      stream ? "a stream" : "a whole reply"
    }, becomes an error or is complete`;
    Deno.test(name, async (t) => {
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
              const stride = strideOf(body.length);
              for (let at = 0; at < body.length; at += stride) {
                const part = await read(body.subarray(0, at), came, asked);
                if (came === "whole") {
                  assert.equal(part.kind, "refused", `${at}`);
                } else if (part.kind === "complete") {
                  assert.equal(part.text, all.text, `${at}`);
                } else {
                  assert.ok(all.text.startsWith(part.text), `${at}`);
                }
              }
            });
          }
        }
      }
    });
  }
}

/**
 * Positions of cuts on the wire; few suffice because the HTTP client checks framing, not content.
 */
const CUTS: readonly number[] = [0, 1, 60, 200, 300, 411];

Deno.test("a body cut on the wire is not a complete answer, however it is framed", (t) =>
  runRows(
    t,
    CUTS.flatMap((at): readonly HostileRow[] => [
      {
        name: `content-length, cut after ${at}`,
        play: ends((asked) =>
          head({
            "content-type": typeOf(asked),
            "content-length": String(bytesOf(bodyOf(asked)).length),
          }) + bodyOf(asked).slice(0, at)
        ),
        expect: CUT,
      },
      {
        name: `chunks, cut between chunks after ${at}`,
        play: ends((asked) =>
          head({
            "content-type": typeOf(asked),
            "transfer-encoding": "chunked",
          }) + (at === 0 ? "" : chunk(bodyOf(asked).slice(0, at)))
        ),
        expect: CUT,
      },
      {
        name: `chunks, cut inside a chunk after ${at}`,
        play: ends((asked) =>
          head({
            "content-type": typeOf(asked),
            "transfer-encoding": "chunked",
          }) + `fff\r\n${bodyOf(asked).slice(0, at)}`
        ),
        expect: CUT,
      },
      {
        name: `chunks, ended properly after ${at}`,
        play: ends((asked) =>
          head({
            "content-type": typeOf(asked),
            "transfer-encoding": "chunked",
          }) + (at === 0 ? "" : chunk(bodyOf(asked).slice(0, at))) + chunk("")
        ),
        expect: CUT,
      },
      {
        name: `no length, connection closed after ${at}`,
        play: ends((asked) =>
          head({ "content-type": typeOf(asked) }) + bodyOf(asked).slice(0, at)
        ),
        expect: CUT,
      },
    ]),
  ));
