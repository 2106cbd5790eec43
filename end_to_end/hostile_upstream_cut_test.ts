/** Answers cut after any byte, streamed and whole, in every pair of dialects: half an answer never looks whole. */
import assert from "node:assert/strict";
import { chatCompletions } from "../translate/chat_completions/mod.ts";
import {
  type Dialect,
  type EncodeContext,
  PLAIN_CONTEXT,
  type UpstreamDialect,
} from "../translate/dialect.ts";
import { ApiError } from "../translate/error.ts";
import { generateContent } from "../translate/generate_content/mod.ts";
import { messages } from "../translate/messages/mod.ts";
import {
  streamOfWhole,
  streamRelay,
  wholeOfStream,
  wholeReply,
} from "../translate/relay.ts";
import {
  bodyOf,
  CUT,
  ends,
  type HostileRow,
  runRows,
  typeOf,
} from "./hostile_bench.ts";
import { type Asked, type Outcome, outcomeOf } from "./outcome.ts";
import { bytesOf } from "./raw_socket.ts";
import { CALLERS, MODELS, type UpstreamFormat } from "./reply_script.ts";
import { chunk, framesOf, head, wholeOf } from "./upstream_bytes.ts";

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

/** What came and what was asked for; a gateway must cope with either for either. */
type Form = "stream" | "whole";

/** What a caller gets for a body, as HTTP would carry it. */
function answered(
  body: Uint8Array,
  came: Form,
  { caller, upstream, stream }: Asked,
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
  asked: Asked,
): Promise<Outcome> {
  return await outcomeOf(answered(body, came, asked), asked);
}

/** How often to cut: after every byte of what is short, after every few of what is long. */
function strideOf(length: number): number {
  return Math.max(1, Math.floor(length / 300));
}

for (const came of ["stream", "whole"] as const) {
  for (const stream of [true, false]) {
    const name = `a ${came} that is cut, for a caller that wants ${
      stream ? "a stream" : "a whole reply"
    }, is an error or says all`;
    Deno.test(name, async (t) => {
      for (const fixture of FIXTURES) {
        for (const upstream of UPSTREAMS) {
          for (const caller of CALLERS) {
            const asked: Asked = { caller, upstream, stream };
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
                  assert.equal(part.said, all.said, `${at}`);
                } else {
                  assert.ok(all.said.startsWith(part.said), `${at}`);
                }
              }
            });
          }
        }
      }
    });
  }
}

/** Cuts on the wire: few, for the reader of bodies cares for framing and not for content. */
const CUTS: readonly number[] = [0, 1, 60, 200, 300, 411];

Deno.test("a body cut on the wire is no whole answer, however its length was told", (t) =>
  runRows(
    t,
    CUTS.flatMap((at): readonly HostileRow[] => [
      {
        name: `a length, cut after ${at}`,
        play: ends((asked) =>
          head({
            "content-type": typeOf(asked),
            "content-length": String(bytesOf(bodyOf(asked)).length),
          }) + bodyOf(asked).slice(0, at)
        ),
        expect: CUT,
      },
      {
        name: `chunks, cut after ${at}`,
        play: ends((asked) =>
          head({
            "content-type": typeOf(asked),
            "transfer-encoding": "chunked",
          }) + (at === 0 ? "" : chunk(bodyOf(asked).slice(0, at)))
        ),
        expect: CUT,
      },
      {
        name: `chunks, cut inside one after ${at}`,
        play: ends((asked) =>
          head({
            "content-type": typeOf(asked),
            "transfer-encoding": "chunked",
          }) + `fff\r\n${bodyOf(asked).slice(0, at)}`
        ),
        expect: CUT,
      },
      {
        name: `chunks that end properly after ${at}`,
        play: ends((asked) =>
          head({
            "content-type": typeOf(asked),
            "transfer-encoding": "chunked",
          }) + (at === 0 ? "" : chunk(bodyOf(asked).slice(0, at))) + chunk("")
        ),
        expect: CUT,
      },
      {
        name: `until the end of the connection, after ${at}`,
        play: ends((asked) =>
          head({ "content-type": typeOf(asked) }) + bodyOf(asked).slice(0, at)
        ),
        expect: CUT,
      },
    ]),
  ));
