/** Upstreams that answer what no upstream should: every caller gets a whole reply or a well-formed error, and the next call works. */
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import {
  bodyOf,
  COMPLETE,
  CUT,
  ends,
  goodAnswer,
  type HostileRow as Row,
  type Play,
  REFUSED,
  runRows as run,
  sends,
  typeOf,
} from "./hostile_bench.ts";
import { bytesOf } from "./raw_socket.ts";
import { head, streamAnswer, wholeAnswer } from "./upstream_bytes.ts";

/** Sends a body in some encoding with its true length. */
function encoded(
  encoding: string,
  encode: (bytes: Uint8Array) => Uint8Array,
): Play {
  return async ({ socket }, asked) => {
    const body = encode(bytesOf(bodyOf(asked)));
    await socket.send(head({
      "content-type": typeOf(asked),
      "content-encoding": encoding,
      "content-length": String(body.length),
    }));
    await socket.send(body);
  };
}

const PAGE = "<!doctype html><html><title>Welcome</title><p>Log in</html>";

Deno.test("pages, empty bodies and wrong content types", (t) =>
  run(t, [
    {
      name: "a page under 200",
      play: sends(() => wholeAnswer(PAGE, "text/html")),
      expect: REFUSED,
    },
    {
      name: "a page under 502",
      play: sends(() => wholeAnswer(PAGE, "text/html", "502 Bad Gateway")),
      expect: REFUSED,
    },
    {
      name: "nothing as JSON",
      play: sends(() => wholeAnswer("")),
      expect: REFUSED,
    },
    {
      name: "nothing as a stream",
      play: sends(() => streamAnswer([])),
      expect: REFUSED,
    },
    {
      name: "nothing without a type",
      play: sends(() => head({ "content-length": "0" })),
      expect: REFUSED,
    },
    ...["null", "true", "0", '""', "[]", "{}", "[[[]]]", "Infinity"].map((
      body,
    ): Row => ({
      name: `${body} as JSON`,
      play: sends(() => wholeAnswer(body)),
      expect: REFUSED,
    })),
    ...["null", "[]", "{}", "0"].map((data): Row => ({
      name: `a stream of ${data}`,
      play: sends(() => streamAnswer([`data: ${data}\n\n`])),
      expect: CUT,
    })),
    {
      name: "plain text",
      play: sends(() => wholeAnswer("upstream says hi", "text/plain")),
      expect: REFUSED,
    },
    ...["text/plain", "application/octet-stream", "", ";;;", 'a/b; c="d'].map((
      type,
    ): Row => ({
      name: `the right body as "${type}"`,
      play: sends((asked) => wholeAnswer(bodyOf(asked), type)),
      expect: COMPLETE,
    })),
    {
      name: "the right body without a type",
      play: sends((asked) =>
        head({ "content-length": String(bytesOf(bodyOf(asked)).length) }) +
        bodyOf(asked)
      ),
      expect: COMPLETE,
    },
    {
      name: "JSON where a stream was asked and the reverse",
      play: sends((asked) => goodAnswer({ ...asked, stream: !asked.stream })),
      expect: COMPLETE,
    },
    {
      name: "the right body as HTML",
      play: sends((asked) => wholeAnswer(bodyOf(asked), "text/html")),
      expect: ({ stream }) => stream ? REFUSED : COMPLETE,
    },
  ]));

Deno.test("content encodings, right, broken and unheard of", (t) =>
  run(t, [
    { name: "gzip", play: encoded("gzip", gzipSync), expect: COMPLETE },
    {
      name: "deflate",
      play: encoded("deflate", deflateSync),
      expect: COMPLETE,
    },
    { name: "br", play: encoded("br", brotliCompressSync), expect: COMPLETE },
    {
      name: "no gzip under its name",
      play: encoded("gzip", (bytes) => bytes),
      expect: REFUSED,
    },
    {
      name: "gzip cut in the middle",
      play: encoded("gzip", (bytes) => {
        const packed = gzipSync(bytes);
        return packed.subarray(0, packed.length / 2);
      }),
      expect: CUT,
    },
    {
      name: "gzip with a spoiled middle",
      play: encoded("gzip", (bytes) => {
        const packed = gzipSync(bytes);
        packed.fill(0xff, packed.length / 3, packed.length / 2);
        return packed;
      }),
      expect: CUT,
    },
    {
      name: "an encoding nobody knows",
      play: encoded("zstd", gzipSync),
      expect: CUT,
    },
    {
      name: "gzip twice",
      play: encoded("gzip, gzip", (bytes) => gzipSync(gzipSync(bytes))),
      expect: CUT,
    },
  ]));

Deno.test("statuses that no reply has", (t) =>
  run(
    t,
    [
      ...["301", "302", "303", "307", "308"].map((status): Row => ({
        name: `a redirect, ${status}`,
        play: sends(() =>
          head({
            location: "http://127.0.0.1:1/",
            "content-length": "0",
          }, `${status} Elsewhere`)
        ),
        expect: REFUSED,
      })),
      ...["204 No Content", "304 Not Modified"].map((
        status,
      ): Row => ({
        name: status,
        play: sends(() => head({}, status)),
        expect: REFUSED,
      })),
      {
        name: "206 of a part",
        play: ends((asked) => {
          const body = bodyOf(asked).slice(0, 100);
          return wholeAnswer(body, typeOf(asked), "206 Partial Content");
        }),
        expect: CUT,
      },
      {
        name: "a change of protocols",
        play: sends(() =>
          head({ upgrade: "websocket", connection: "upgrade" }, "101 Switching")
        ),
        expect: REFUSED,
      },
      ...["99 Low", "999 High", "abc No", "20 Short", "-1 Below", "2000 Long"]
        .map((status): Row => ({
          name: `status ${status}`,
          play: ends((asked) =>
            wholeAnswer(bodyOf(asked), typeOf(asked), status)
          ),
          expect: { kind: "refused" },
        })),
      ...["407", "418", "451", "505", "599"].map((status): Row => ({
        name: `status ${status}`,
        play: sends(() => wholeAnswer("", "text/plain", `${status} So`)),
        expect: { kind: "refused", status: "any" },
      })),
    ],
  ));
