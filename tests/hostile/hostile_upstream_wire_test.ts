/**
 * Upstreams with broken HTTP: answers that are cut, reset, of a false length or sent twice. No
 * partial answer looks complete, and no call receives another call's answer.
 */
import assert from "node:assert/strict";
import {
  bodyOf,
  COMPLETE,
  CUT,
  ends,
  goodAnswer,
  type HostileRow as Row,
  type Play,
  playOnce,
  REFUSED,
  resets,
  runRows as run,
  sends,
  TEXT,
  typeOf,
  VARIANTS,
  withHostileUpstream,
} from "../support/tables/hostile_upstream.ts";
import type { CallVariant } from "../support/replies/check_reply.ts";
import { bytesOf } from "../support/clients/raw_socket.ts";
import { withTimeout } from "../support/with_timeout.ts";
import {
  chunk,
  framesOf,
  head,
  LAST_CHUNK,
  STREAM_HEAD,
  wholeAnswer,
} from "../support/upstreams/upstream_bytes.ts";

function declared(asked: CallVariant, length: number | string): string {
  return head({
    "content-type": typeOf(asked),
    "content-length": String(length),
  });
}

function chunkedHead(asked: CallVariant, more: object = {}): string {
  return head({
    "content-type": typeOf(asked),
    "transfer-encoding": "chunked",
    ...more,
  });
}

/** A well-formed body under a head that the test builds. */
const under = (
  make: (asked: CallVariant, length: number) => string,
): (asked: CallVariant) => string =>
(asked) => make(asked, bytesOf(bodyOf(asked)).length) + bodyOf(asked);

/** A well-formed body in one chunk, under a head that the test builds. */
const chunkedUnder =
  (make: (asked: CallVariant) => string) => (asked: CallVariant) =>
    make(asked) + chunk(bodyOf(asked)) + LAST_CHUNK;

/** Sends a whole answer and, in the same write, further bytes. */
const followedBy = (more: (asked: CallVariant) => string): Play =>
  sends((asked) => goodAnswer(asked) + more(asked));

/** A 502 or a complete reply. */
const EITHER: Row["expect"] = { kind: ["complete", "refused"], text: TEXT };

Deno.test("connections that close, are reset or do not use HTTP", (t) =>
  run(t, [
    { name: "a close before any byte", play: ends(() => ""), expect: REFUSED },
    {
      name: "a reset before any byte",
      play: resets(() => ""),
      expect: REFUSED,
    },
    {
      name: "a close inside the head",
      play: ends(() => "HTTP/1.1 200 OK\r\ncontent-ty"),
      expect: REFUSED,
    },
    {
      name: "a reset inside the head",
      play: resets(() => "HTTP/1.1 200 OK\r\ncontent-ty"),
      expect: REFUSED,
    },
    {
      name: "a reset after half the body",
      play: resets((asked) => goodAnswer(asked).slice(0, -200)),
      expect: CUT,
    },
    {
      name: "a close after half the body",
      play: ends((asked) => goodAnswer(asked).slice(0, -200)),
      expect: CUT,
    },
    {
      name: "TLS",
      play: ends(() => "\x16\x03\x01\x02\x00\x01\x00"),
      expect: REFUSED,
    },
    { name: "HTTP/0.9", play: ends(bodyOf), expect: REFUSED },
    {
      name: "HTTP/2's preface",
      play: ends(() => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      expect: REFUSED,
    },
    {
      name: "a request in place of an answer",
      play: ends(() => "POST / HTTP/1.1\r\nhost: a\r\n\r\n"),
      expect: REFUSED,
    },
    {
      name: "a thousand informational answers first",
      play: sends((asked) =>
        "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(1000) +
        goodAnswer(asked)
      ),
      expect: COMPLETE,
    },
    ...["100 Continue", "102 Processing"].map((status): Row => ({
      name: `${status} first, twice`,
      play: sends((asked) =>
        `HTTP/1.1 ${status}\r\n\r\nHTTP/1.1 ${status}\r\na: b\r\n\r\n` +
        goodAnswer(asked)
      ),
      expect: COMPLETE,
    })),
    {
      name: "100 Continue alone",
      play: ends(() => "HTTP/1.1 100 Continue\r\n\r\n"),
      expect: REFUSED,
    },
    {
      name: "101 Switching Protocols",
      play: ends(() =>
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: a\r\n\r\n"
      ),
      expect: REFUSED,
    },
  ]));

Deno.test("heads that are huge, numerous or malformed", (t) =>
  run(t, [
    {
      name: "a header of 1 MiB",
      play: sends((asked) =>
        head({ "x-long": "a".repeat(1024 * 1024) }) + bodyOf(asked)
      ),
      expect: REFUSED,
    },
    {
      name: "ten thousand headers",
      play: sends((asked) =>
        "HTTP/1.1 200 OK\r\n" +
        Array.from({ length: 10_000 }, (_, i) => `x-${i}: a\r\n`).join("") +
        `content-type: ${typeOf(asked)}\r\ncontent-length: ${
          bytesOf(bodyOf(asked)).length
        }\r\n\r\n${bodyOf(asked)}`
      ),
      expect: EITHER,
    },
    ...[
      ["a header without a colon", "x-odd\r\n"],
      ["a folded header", "x-odd: a\r\n b\r\n"],
      ["a zero byte", "x-odd: a\0b\r\n"],
      ["a space in a name", "x odd: a\r\n"],
      ["an empty name", ": a\r\n"],
      ["bytes beyond ASCII", "x-odd: \u00fc\u4e2d\r\n"],
      ["a bare line feed", "x-odd: a\nx-more: b\r\n"],
      ["a bare carriage return", "x-odd: a\rx-more: b\r\n"],
      ["a second content type", "content-type: text/html\r\n"],
      ["cookies", "set-cookie: a=b\r\n".repeat(50)],
    ].map(([name = "", line = ""]): Row => ({
      name,
      play: sends(under((asked, length) =>
        `HTTP/1.1 200 OK\r\ncontent-type: ${
          typeOf(asked)
        }\r\n${line}content-length: ${length}\r\n\r\n`
      )),
      expect: { kind: ["complete", "refused"], text: TEXT },
    })),
  ]));

Deno.test("false lengths", (t) =>
  run(t, [
    {
      name: "too long, then a close",
      play: ends(under((asked, length) => declared(asked, length + 1))),
      // A stream that has sent its end is complete, whatever its declared length.
      expect: ({ stream, upstream }) =>
        stream && upstream !== "gemini" ? COMPLETE : CUT,
    },
    {
      name: "too short by a byte",
      play: sends(under((asked, length) => declared(asked, length - 1))),
      expect: ({ stream }) =>
        stream ? { ...COMPLETE, kind: ["complete", "broken"] } : REFUSED,
    },
    {
      name: "too short by half",
      play: sends(
        under((asked, length) => declared(asked, Math.floor(length / 2))),
      ),
      expect: CUT,
    },
    ...["-1", "1e3", "0x10", "18446744073709551616", "abc", "5, 6", ""].map((
      length,
    ): Row => ({
      name: `a length of "${length}"`,
      play: ends(under((asked) => declared(asked, length))),
      expect: { kind: ["refused", "broken", "complete"], text: TEXT },
    })),
    {
      name: "two lengths that differ",
      play: ends(under((asked, length) =>
        head({ "content-type": typeOf(asked), "content-length": "5" }).slice(
          0,
          -2,
        ) + `content-length: ${length}\r\n\r\n`
      )),
      expect: REFUSED,
    },
    {
      name: "a content length and chunks",
      play: ends(chunkedUnder((asked) =>
        chunkedHead(asked, { "content-length": "5" })
      )),
      expect: { kind: ["complete", "refused", "broken"], text: TEXT },
    },
    ...["zz", "-5", "ffffffffffffffffff", " ", "5;a=\r\n"].map((
      size,
    ): Row => ({
      name: `a chunk of size "${size}"`,
      play: ends((asked) =>
        chunkedHead(asked) + `${size}\r\n${bodyOf(asked)}`
      ),
      expect: CUT,
    })),
    {
      name: "a chunk that is longer than declared",
      play: ends((asked) =>
        chunkedHead(asked) + `5\r\n${bodyOf(asked)}\r\n0\r\n\r\n`
      ),
      expect: CUT,
    },
    {
      name: "chunks with extensions and trailers",
      play: sends((asked) =>
        chunkedHead(asked, { trailer: "x-sum" }) +
        chunk(bodyOf(asked)).replace("\r\n", ";ext=1\r\n") +
        "0\r\nx-sum: 1\r\nx-api-key: theirs\r\n\r\n"
      ),
      expect: COMPLETE,
    },
    {
      name: "chunks without the last one",
      play: ends((asked) => chunkedHead(asked) + chunk(bodyOf(asked))),
      expect: ({ stream, upstream }) =>
        stream && upstream !== "gemini" ? COMPLETE : CUT,
    },
    {
      name: "a body that ends with the connection, HTTP/1.1",
      play: ends(under((asked) => head({ "content-type": typeOf(asked) }))),
      expect: COMPLETE,
    },
    {
      name: "a body that ends with the connection, HTTP/1.0",
      play: ends(under((asked) =>
        head({ "content-type": typeOf(asked) }).replace("1.1", "1.0")
      )),
      expect: COMPLETE,
    },
    {
      name: "half a body, ended by the connection, HTTP/1.0",
      play: ends((asked) =>
        head({ "content-type": typeOf(asked) }).replace("1.1", "1.0") +
        bodyOf(asked).slice(0, -200)
      ),
      expect: CUT,
    },
  ]));

Deno.test("an unrequested answer reaches no client", (t) =>
  run(
    t,
    [
      {
        name: "a second answer",
        play: followedBy(({ stream }) =>
          stream ? stolen("text/event-stream") : stolen("application/json")
        ),
        expect: COMPLETE,
      },
      {
        name: "an incomplete second answer",
        play: followedBy(() => stolen("application/json").slice(0, 30)),
        expect: COMPLETE,
      },
      {
        name: "an informational answer afterwards",
        play: followedBy(() => "HTTP/1.1 100 Continue\r\n\r\n"),
        expect: COMPLETE,
      },
      {
        name: "garbage",
        play: followedBy(() => "\0garbage\r\n\r\n"),
        expect: COMPLETE,
      },
      {
        name: "a body after 204",
        play: sends(() => head({}, "204 No Content") + stolen("text/plain")),
        expect: REFUSED,
      },
      {
        name: "a second answer after an error",
        play: sends(() =>
          wholeAnswer("{}", "application/json", "500 Oops") +
          stolen("application/json")
        ),
        expect: { kind: "refused", status: "any" },
      },
    ],
  ));

/** An answer that no client may receive. */
function stolen(type: string): string {
  return wholeAnswer('{"stolen":true}', type);
}

Deno.test("a second answer on an idle connection does not reach the next call", (t) =>
  withHostileUpstream(async (bench) => {
    for (const asked of VARIANTS) {
      const { caller, upstream, stream } = asked;
      await t.step(`${caller} from ${upstream}, ${stream}`, async () => {
        const first = await playOnce(
          bench,
          asked,
          ({ socket }) => socket.send(goodAnswer(asked)),
        );
        assert.equal(first.kind, "complete");
        const before = bench.upstream.requests.at(-1);
        assert.ok(before !== undefined);
        await before.socket.send(stolen(typeOf(asked)));
        await withTimeout(
          before.socket.closed,
          "the close of a spoiled connection",
        );
        const next = await playOnce(
          bench,
          asked,
          ({ socket }) => socket.send(goodAnswer(asked)),
        );
        assert.deepEqual([next.kind, next.text], ["complete", TEXT]);
      });
    }
  }));

Deno.test("an answer that arrives byte by byte is complete", (t) =>
  run(t, [{
    name: "one byte per write",
    async play({ socket }, asked) {
      // The head and the first frames go byte by byte, the rest at once.
      const text = goodAnswer(asked);
      for (const byte of bytesOf(text.slice(0, 1500))) {
        await socket.send(Uint8Array.of(byte));
      }
      await socket.send(text.slice(1500));
    },
    expect: COMPLETE,
  }]));

/** Fewer variants for slow rows: pass-through, translation, and a whole reply. */
const FEW: readonly CallVariant[] = [
  { caller: "messages", upstream: "messages", stream: true },
  { caller: "chat", upstream: "messages", stream: true },
  { caller: "messages", upstream: "gemini", stream: true },
  { caller: "messages", upstream: "chat", stream: false },
];

Deno.test("endless informational answers are limited by the first-byte timeout", (t) =>
  run(
    t,
    [{
      name: "endless 1xx answers",
      async play({ socket }) {
        let closed = false;
        socket.closed.then(() => closed = true);
        while (!closed) {
          await socket.send("HTTP/1.1 102 Processing\r\n\r\n");
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      },
      expect: { kind: "refused", status: 504 },
      variants: FEW,
    }],
    { GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS: "0.15" },
  ));

Deno.test("a connection that stops answering is closed at its timeout, in every phase", (t) =>
  run(
    t,
    [
      {
        name: "no answer",
        play: () => {},
        expect: { kind: "refused", status: 504 },
        variants: FEW,
      },
      {
        name: "half a head",
        play: sends(() => "HTTP/1.1 200 OK\r\nx: "),
        expect: { kind: "refused", status: 504 },
        variants: FEW,
      },
      {
        name: "half a body",
        play: sends((asked) => goodAnswer(asked).slice(0, -300)),
        expect: ({ stream }) => stream ? CUT : { kind: "refused", status: 504 },
        variants: FEW,
      },
      {
        // The error's message never arrives completely; the status suffices.
        name: "half an error",
        play: sends(() =>
          head({ "content-length": "100" }, "500 Oops") + '{"error":'
        ),
        expect: { kind: "refused", status: 500 },
        variants: FEW,
      },
    ],
    {
      GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS: "0.15",
      GATEWAY_IDLE_TIMEOUT_SECONDS: "0.15",
    },
  ));

Deno.test("an endless answer is limited by the total timeout", (t) =>
  run(
    t,
    [{
      name: "endless frames",
      async play({ socket }, { upstream, stream }) {
        let closed = false;
        socket.closed.then(() => closed = true);
        const frames = framesOf("text", upstream);
        const at = upstream === "gemini" ? 0 : 3;
        await socket.send(
          STREAM_HEAD + frames.slice(0, at).map(chunk).join(""),
        );
        while (!closed) {
          await socket.send(chunk(frames[at] ?? ""));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        assert.ok(stream || closed);
      },
      expect: ({ stream }) =>
        stream ? { kind: "broken" } : { kind: "refused", status: 504 },
      variants: FEW,
    }],
    { GATEWAY_TOTAL_TIMEOUT_SECONDS: "0.3" },
  ));
