/** Upstreams whose HTTP is broken: cut, reset, falsely measured, doubled. No half answer looks whole and no call gets another's answer. */
import assert from "node:assert/strict";
import {
  bodyOf,
  COMPLETE,
  CUT,
  ends,
  goodAnswer,
  type HostileRow as Row,
  type Play,
  played,
  REFUSED,
  resets,
  runRows as run,
  sends,
  TEXT,
  typeOf,
  WAYS,
  withHostileUpstream,
} from "./hostile_bench.ts";
import type { Asked } from "./outcome.ts";
import { bytesOf } from "./raw_socket.ts";
import { soon } from "./soon.ts";
import {
  chunk,
  framesOf,
  head,
  LAST_CHUNK,
  STREAM_HEAD,
  wholeAnswer,
} from "./upstream_bytes.ts";

/** The right body with a head of a test's own making. */
const under = (
  make: (asked: Asked, length: number) => string,
): (asked: Asked) => string =>
(asked) => make(asked, bytesOf(bodyOf(asked)).length) + bodyOf(asked);

/** The right body in chunks after a head of a test's own making. */
const chunkedUnder = (make: (asked: Asked) => string) => (asked: Asked) =>
  make(asked) + chunk(bodyOf(asked)) + LAST_CHUNK;

/** Sends a whole answer and then, in the same write, something that nobody asked for. */
const followedBy = (more: (asked: Asked) => string): Play =>
  sends((asked) => goodAnswer(asked) + more(asked));

/** Neither may a refusal be anything but a 502, nor a reply anything but whole. */
const EITHER: Row["expect"] = { kind: ["complete", "refused"], said: TEXT };

Deno.test("connections that end, are reset or say something else than HTTP", (t) =>
  run(t, [
    { name: "an end before any byte", play: ends(() => ""), expect: REFUSED },
    {
      name: "a reset before any byte",
      play: resets(() => ""),
      expect: REFUSED,
    },
    {
      name: "an end inside the head",
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
      name: "an end after half the body",
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
      expect: EITHER,
    },
    {
      name: "100 Continue first",
      play: sends((asked) =>
        "HTTP/1.1 100 Continue\r\n\r\n" + goodAnswer(asked)
      ),
      // The HTTP client takes one that it did not ask for as a breach.
      expect: EITHER,
    },
  ]));

Deno.test("heads that are huge, crowded or malformed", (t) =>
  run(t, [
    {
      name: "a header of a mebibyte",
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
      ["a blank in a name", "x odd: a\r\n"],
      ["an empty name", ": a\r\n"],
      ["bytes beyond ASCII", "x-odd: \u00fc\u4e2d\r\n"],
      ["a bare line feed", "x-odd: a\nx-more: b\r\n"],
      ["a bare carriage return", "x-odd: a\rx-more: b\r\n"],
      ["a type told twice", "content-type: text/html\r\n"],
      ["cookies", "set-cookie: a=b\r\n".repeat(50)],
    ].map(([name = "", line = ""]): Row => ({
      name,
      play: sends(under((asked, length) =>
        `HTTP/1.1 200 OK\r\ncontent-type: ${
          typeOf(asked)
        }\r\n${line}content-length: ${length}\r\n\r\n`
      )),
      expect: { kind: ["complete", "refused"], said: TEXT },
    })),
  ]));

Deno.test("lengths that lie", (t) =>
  run(t, [
    {
      name: "too long, then an end",
      play: ends(under((asked, length) =>
        head({
          "content-type": typeOf(asked),
          "content-length": String(length + 1),
        })
      )),
      // A stream that has told its end is whole; what a length says beyond it is nobody's business.
      expect: ({ stream, upstream }) =>
        stream && upstream !== "gemini" ? COMPLETE : CUT,
    },
    {
      name: "too short by a byte",
      play: sends(under((asked, length) =>
        head({
          "content-type": typeOf(asked),
          "content-length": String(length - 1),
        })
      )),
      expect: ({ stream }) =>
        stream ? { ...COMPLETE, kind: ["complete", "broken"] } : REFUSED,
    },
    {
      name: "too short by half",
      play: sends(under((asked, length) =>
        head({
          "content-type": typeOf(asked),
          "content-length": String(Math.floor(length / 2)),
        })
      )),
      expect: CUT,
    },
    ...["-1", "1e3", "0x10", "18446744073709551616", "abc", "5, 6", ""].map((
      length,
    ): Row => ({
      name: `a length of "${length}"`,
      play: ends(under((asked) =>
        head({ "content-type": typeOf(asked), "content-length": length })
      )),
      expect: { kind: ["refused", "broken", "complete"], said: TEXT },
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
      name: "a length beside chunks",
      play: ends(chunkedUnder((asked) =>
        head({
          "content-type": typeOf(asked),
          "content-length": "5",
          "transfer-encoding": "chunked",
        })
      )),
      expect: { kind: ["complete", "refused", "broken"], said: TEXT },
    },
    ...["zz", "-5", "ffffffffffffffffff", " ", "5;a=\r\n"].map((
      size,
    ): Row => ({
      name: `a chunk of size "${size}"`,
      play: ends((asked) =>
        head({
          "content-type": typeOf(asked),
          "transfer-encoding": "chunked",
        }) + `${size}\r\n${bodyOf(asked)}`
      ),
      expect: CUT,
    })),
    {
      name: "a chunk that is longer than it says",
      play: ends((asked) =>
        head({
          "content-type": typeOf(asked),
          "transfer-encoding": "chunked",
        }) + `5\r\n${bodyOf(asked)}\r\n0\r\n\r\n`
      ),
      expect: CUT,
    },
    {
      name: "chunks with extensions and trailers",
      play: sends((asked) =>
        head({
          "content-type": typeOf(asked),
          "transfer-encoding": "chunked",
          trailer: "x-sum",
        }) + chunk(bodyOf(asked)).replace("\r\n", ";ext=1\r\n") +
        "0\r\nx-sum: 1\r\nx-api-key: theirs\r\n\r\n"
      ),
      expect: COMPLETE,
    },
    {
      name: "chunks without the last one",
      play: ends((asked) =>
        head({
          "content-type": typeOf(asked),
          "transfer-encoding": "chunked",
        }) + chunk(bodyOf(asked))
      ),
      expect: ({ stream, upstream }) =>
        stream && upstream !== "gemini" ? COMPLETE : CUT,
    },
    {
      name: "a body that ends with the connection, HTTP/1.1",
      play: ends(under((asked) =>
        head({ "content-type": typeOf(asked) })
      )),
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
      name: "half a body that ends with the connection, HTTP/1.0",
      play: ends((asked) =>
        head({ "content-type": typeOf(asked) }).replace("1.1", "1.0") +
        bodyOf(asked).slice(0, -200)
      ),
      expect: CUT,
    },
  ]));

Deno.test("an answer that nobody asked for reaches nobody", (t) =>
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
        name: "a second answer that is not whole",
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
        name: "a body behind 204",
        play: sends(() => head({}, "204 No Content") + stolen("text/plain")),
        expect: REFUSED,
      },
      {
        name: "a second answer behind a refusal",
        play: sends(() =>
          wholeAnswer("{}", "application/json", "500 Oops") +
          stolen("application/json")
        ),
        expect: { kind: "refused", status: "any" },
      },
    ],
  ));

/** An answer whose words must not be read by anybody. */
function stolen(type: string): string {
  return wholeAnswer('{"stolen":true}', type);
}

Deno.test("a second answer that comes while the connection rests is not the next call's", (t) =>
  withHostileUpstream(async (bench) => {
    for (const asked of WAYS) {
      const { caller, upstream, stream } = asked;
      await t.step(`${caller} from ${upstream}, ${stream}`, async () => {
        const first = await played(
          bench,
          asked,
          ({ socket }) => socket.send(goodAnswer(asked)),
        );
        assert.equal(first.kind, "complete");
        const before = bench.upstream.exchanges.at(-1);
        assert.ok(before !== undefined);
        await before.socket.send(stolen(typeOf(asked)));
        await soon(before.socket.closed, "the close of a spoiled connection");
        const next = await played(
          bench,
          asked,
          ({ socket }) => socket.send(goodAnswer(asked)),
        );
        assert.deepEqual([next.kind, next.said], ["complete", TEXT]);
      });
    }
  }));

Deno.test("an answer that comes a byte at a time is read as well", (t) =>
  run(t, [{
    name: "a byte a write",
    async play({ socket }, asked) {
      // Every byte of the head and of the first frames goes alone.
      const text = goodAnswer(asked);
      for (const byte of bytesOf(text.slice(0, 1500))) {
        await socket.send(Uint8Array.of(byte));
      }
      await socket.send(text.slice(1500));
    },
    expect: COMPLETE,
  }]));

/** Where every row takes its time: a way through the pass-through, one through the translation, and whole replies. */
const FEW: readonly Asked[] = [
  { caller: "messages", upstream: "messages", stream: true },
  { caller: "chat", upstream: "messages", stream: true },
  { caller: "messages", upstream: "gemini", stream: true },
  { caller: "messages", upstream: "chat", stream: false },
];

Deno.test("informational answers without end are bounded by the time for the first byte", (t) =>
  run(
    t,
    [{
      name: "1xx for ever",
      async play({ socket }) {
        let over = false;
        socket.closed.then(() => over = true);
        while (!over) {
          await socket.send("HTTP/1.1 102 Processing\r\n\r\n");
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      },
      expect: { kind: "refused", status: 504 },
      ways: FEW,
    }],
    { GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS: "0.15" },
  ));

Deno.test("a connection that never answers is closed at the limit, in every phase", (t) =>
  run(
    t,
    [
      {
        name: "nothing",
        play: () => {},
        expect: { kind: "refused", status: 504 },
        ways: FEW,
      },
      {
        name: "half a head",
        play: sends(() => "HTTP/1.1 200 OK\r\nx: "),
        expect: { kind: "refused", status: 504 },
        ways: FEW,
      },
      {
        name: "half a body",
        play: sends((asked) => goodAnswer(asked).slice(0, -300)),
        expect: ({ stream }) => stream ? CUT : { kind: "refused", status: 504 },
        ways: FEW,
      },
      {
        name: "half an error",
        play: sends(() =>
          head({ "content-length": "100" }, "500 Oops") + '{"error":'
        ),
        // Its status is known.
        expect: { kind: "refused", status: "any" },
        ways: FEW,
      },
    ],
    {
      GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS: "0.15",
      GATEWAY_IDLE_TIMEOUT_SECONDS: "0.15",
    },
  ));

Deno.test("an endless answer is bounded by the time for the whole call", (t) =>
  run(
    t,
    [{
      name: "frames for ever",
      async play({ socket }, { upstream, stream }) {
        let over = false;
        socket.closed.then(() => over = true);
        const frames = framesOf("text", upstream);
        const at = upstream === "gemini" ? 0 : 3;
        await socket.send(
          STREAM_HEAD + frames.slice(0, at).map(chunk).join(""),
        );
        while (!over) {
          await socket.send(chunk(frames[at] ?? ""));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        assert.ok(stream || over);
      },
      expect: ({ stream }) =>
        stream ? { kind: "broken" } : { kind: "refused", status: 504 },
      ways: FEW,
    }],
    { GATEWAY_TOTAL_TIMEOUT_SECONDS: "0.3" },
  ));
