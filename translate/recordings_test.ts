/**
 * Every recorded reply, from every upstream dialect to every client format: decoding the output
 * gives the input, whole and streamed.
 */
import { atOnce } from "./steps.ts";
import assert from "node:assert/strict";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import type { Dialect, EncodeContext, UpstreamDialect } from "./dialect.ts";
import { generateContent } from "./formats/generate_content/mod.ts";
import { translateRequest } from "./mod.ts";
import { DEFAULT_CAPABILITIES } from "./model/capabilities.ts";
import type { DialectName } from "./model/request.ts";
import { objectOr } from "./bytes/json.ts";
import { messages } from "./formats/messages/mod.ts";
import { type Recording, recordings } from "./testing/recordings.ts";
import { responses } from "./formats/responses/mod.ts";
import { readResponseStream } from "./formats/responses/stream_grammar.ts";
import { streamRelay, wholeReply } from "./stream/relay.ts";
import { foldReply, type Reply, type ReplyEvent } from "./model/reply.ts";
import { sseParser } from "./stream/sse.ts";
import { ENCODE_CONTEXT } from "./testing/encode_context.ts";

const UPSTREAMS: Readonly<Record<string, UpstreamDialect>> = {
  messages,
  chat: chatCompletions,
  gemini: generateContent,
  responses,
};
const CLIENTS: readonly Dialect[] = [
  messages,
  chatCompletions,
  responses,
  generateContent,
];
const DECODE = { toolNames: new Map<string, string>() };
const ENCODE: EncodeContext = {
  ...ENCODE_CONTEXT,
  model: "asked-for",
  wantUsage: true,
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array): string => new TextDecoder().decode(data);

function through(
  client: Dialect,
  upstream: UpstreamDialect,
  chunks: Iterable<Uint8Array>,
): { out: string; failed: boolean } {
  const relay = streamRelay(client, upstream, DECODE, ENCODE);
  let out = "";
  for (const chunk of chunks) out += text(relay.push(chunk));
  out += text(relay.end());
  return { out, failed: relay.progress().error !== undefined };
}

function decodedStream(dialect: UpstreamDialect, stream: string): ReplyEvent[] {
  const reader = sseParser();
  const decoder = dialect.streamDecoder(DECODE);
  const events: ReplyEvent[] = [];
  for (const frame of [...reader.push(bytes(stream)), ...reader.end()]) {
    events.push(...decoder.push(frame));
  }
  events.push(...decoder.end());
  return events;
}

interface Essence {
  readonly text: string;
  readonly tools: readonly unknown[];
  readonly usage: unknown;
}

/** Decoding must give the same facts; unreported usage is decoded as an estimate. */
function assertSame(actual: Essence, source: Essence, where: string): void {
  assert.deepEqual(
    source.usage === undefined ? { ...actual, usage: undefined } : actual,
    source,
    where,
  );
}

/** Facts that are the same for clients of every format. */
function essence(reply: Reply): Essence {
  const { blocks } = reply;
  const joined = (kind: string): string =>
    blocks.filter((block) => block.kind === kind).map((block) => block.text)
      .join("");
  return {
    text: joined("text") + joined("refusal"),
    tools: blocks.flatMap((block) =>
      block.kind === "tool"
        ? [{ name: block.name, arguments: JSON.parse(block.text || "{}") }]
        : []
    ),
    usage: reply.usage.output === undefined ? undefined : {
      // Not every format has a word for the tokens written to a cache.
      input: (reply.usage.input ?? 0) + (reply.usage.cacheWrite ?? 0),
      output: reply.usage.output,
      cacheRead: reply.usage.cacheRead ?? 0,
    },
  };
}

function each(
  wanted: (recording: Recording) => boolean,
  run: (recording: Recording, upstream: UpstreamDialect) => void,
): (t: Deno.TestContext) => Promise<void> {
  return async (t) => {
    for (const recording of recordings() ?? []) {
      const upstream = UPSTREAMS[recording.vendor];
      if (
        upstream === undefined || recording.meta.op !== "generate" ||
        !wanted(recording)
      ) continue;
      await t.step(recording.id, () => run(recording, upstream));
    }
  };
}

const isStream = (recording: Recording): boolean =>
  recording.response.sse !== undefined && recording.response.status === 200;
const isWhole = (recording: Recording): boolean =>
  recording.response.status === 200 && recording.response.sse === undefined &&
  recording.response.body !== undefined;
const failsInside = (recording: Recording): boolean =>
  recording.meta.features.includes("mid_stream_error");

Deno.test(
  "a recorded stream reads back the same from every format",
  each(
    (recording) => isStream(recording) && !failsInside(recording),
    (recording, upstream) => {
      const stream = recording.response.sse ?? "";
      const source = essence(foldReply(decodedStream(upstream, stream)));
      for (const client of CLIENTS) {
        const { out, failed } = through(client, upstream, [bytes(stream)]);
        assert.ok(!failed, client.name);
        assertSame(
          essence(foldReply(decodedStream(client, out))),
          source,
          client.name,
        );
        if (client === responses && upstream !== responses) {
          readResponseStream(out);
        }
      }
    },
  ),
);

Deno.test(
  "a recorded whole reply reads back the same from every format, and as a stream",
  each(isWhole, (recording, upstream) => {
    const events = upstream.decodeReply(recording.response.body, DECODE);
    const source = essence(foldReply(events));
    for (const client of CLIENTS) {
      const whole = atOnce(wholeReply(
        client,
        upstream,
        DECODE,
        ENCODE,
        bytes(JSON.stringify(recording.response.body)),
      ));
      const body = JSON.parse(text(whole.body));
      assert.equal(body[client.modelKey ?? "model"], "asked-for");
      assertSame(
        essence(foldReply(client.decodeReply(body, DECODE))),
        source,
        client.name,
      );
      const encoder = client.streamEncoder(ENCODE);
      const stream = events.map((event) => encoder.push(event)).join("");
      assertSame(
        essence(foldReply(decodedStream(client, stream))),
        source,
        `${client.name}, streamed`,
      );
    }
  }),
);

Deno.test(
  "a recorded stream gives the same output wherever it is cut",
  each(isStream, (recording, upstream) => {
    const stream = bytes(recording.response.sse ?? "");
    for (const client of CLIENTS) {
      const whole = through(client, upstream, [stream]);
      const single = through(
        client,
        upstream,
        Array.from(stream, (byte) => Uint8Array.of(byte)),
      );
      assert.equal(single.out, whole.out, client.name);
      for (let size = 2; size < 200; size = size * 2 + 1) {
        const cut: Uint8Array[] = [];
        for (let at = 0; at < stream.length; at += size) {
          cut.push(stream.subarray(at, at + size));
        }
        assert.equal(
          through(client, upstream, cut).out,
          whole.out,
          `${client.name}, pieces of ${size}`,
        );
      }
    }
  }),
);

Deno.test(
  "a recorded stream cut short ends in an error unless the answer had finished",
  each(isStream, (recording, upstream) => {
    const stream = recording.response.sse ?? "";
    const edges = [...stream.matchAll(/\r?\n\r?\n/g)].map((edge) =>
      edge.index + edge[0].length
    );
    const step = Math.max(1, Math.floor(edges.length / 60));
    for (const client of CLIENTS) {
      for (let i = 0; i < edges.length - 1; i += step) {
        const { out, failed } = through(client, upstream, [
          bytes(stream.slice(0, edges[i])),
        ]);
        const events = decodedStream(upstream, stream.slice(0, edges[i]));
        const finished = events.some((event) => event.type === "stop") &&
          events.at(-1)?.type === "end";
        assert.equal(failed, !finished, `${client.name}, after frame ${i + 1}`);
        const last = decodedStream(client, out).at(-1);
        assert.equal(
          last?.type,
          finished ? "end" : "error",
          `${client.name}, after frame ${i + 1}`,
        );
        if (!finished) {
          assert.ok(!out.includes("message_stop") && !out.includes("[DONE]"));
        }
      }
    }
  }),
);

Deno.test(
  "a recorded error becomes an error in every format",
  each(
    (recording) => recording.response.status >= 400,
    (recording, upstream) => {
      const { status, headers, body } = recording.response;
      const error = upstream.decodeError(
        status,
        new Headers(headers),
        JSON.stringify(body),
      );
      for (const client of CLIENTS) {
        const encoded = client.encodeError(error, "req_1");
        const encodedError = objectOr(encoded.body["error"]);
        const word = client === generateContent ? "status" : "type";
        assert.equal(typeof encodedError[word], "string");
        assert.equal(typeof encodedError["message"], "string");
        assert.ok(encoded.status >= 400 && encoded.status < 600);
        if (status === 404) assert.equal(encoded.status, 404);
      }
    },
  ),
);

Deno.test(
  "a recorded request of the generate-content format reaches every format, or names why not",
  async (t) => {
    for (const { id, vendor, request } of recordings() ?? []) {
      if (vendor !== "gemini" || request === null) continue;
      await t.step(id, () => {
        for (const to of Object.keys(DEFAULT_CAPABILITIES) as DialectName[]) {
          const body = objectOr(request.body);
          const translated = (): unknown =>
            translateRequest({
              body: bytes(JSON.stringify(body)),
              from: "generate_content",
              to,
              model: "up",
              target: { model: "m", stream: false },
            });
          const vendorTools = /"(?:codeExecution|fileSearch|google_search)"/
            .test(JSON.stringify(body["tools"] ?? []));
          if (!vendorTools || to === "generate_content") translated();
          else assert.throws(translated, /^ApiError: tools\[0\]\./, to);
        }
      });
    }
  },
);
