/**
 * Upstreams with unexpected content types, encodings and statuses: the client gets a whole reply or
 * a well-formed error, and the next call succeeds.
 */
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
} from "../support/tables/hostile_upstream.ts";
import { bytesOf } from "../support/clients/raw_socket.ts";
import {
  head,
  streamAnswer,
  wholeAnswer,
} from "../support/upstreams/upstream_bytes.ts";

/** Sends a body in a content encoding, with its correct length. */
function sendEncoded(
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
      name: "an HTML page with status 200",
      play: sends(() => wholeAnswer(PAGE, "text/html")),
      expect: REFUSED,
    },
    {
      name: "an HTML page with status 502",
      play: sends(() => wholeAnswer(PAGE, "text/html", "502 Bad Gateway")),
      expect: REFUSED,
    },
    {
      name: "an empty body as JSON",
      play: sends(() => wholeAnswer("")),
      expect: REFUSED,
    },
    {
      name: "an empty stream",
      play: sends(() => streamAnswer([])),
      expect: REFUSED,
    },
    {
      name: "an empty body without a content type",
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
      play: sends(() => wholeAnswer("hello from the upstream", "text/plain")),
      expect: REFUSED,
    },
    ...["text/plain", "application/octet-stream", "", ";;;", 'a/b; c="d'].map((
      type,
    ): Row => ({
      name: `a well-formed body as "${type}"`,
      play: sends((asked) => wholeAnswer(bodyOf(asked), type)),
      expect: COMPLETE,
    })),
    {
      name: "a well-formed body without a content type",
      play: sends((asked) =>
        head({ "content-length": String(bytesOf(bodyOf(asked)).length) }) +
        bodyOf(asked)
      ),
      expect: COMPLETE,
    },
    {
      name: "JSON in place of a stream, and the reverse",
      play: sends((asked) => goodAnswer({ ...asked, stream: !asked.stream })),
      expect: COMPLETE,
    },
    {
      name: "a well-formed body as HTML",
      play: sends((asked) => wholeAnswer(bodyOf(asked), "text/html")),
      expect: ({ stream }) => stream ? REFUSED : COMPLETE,
    },
  ]));

Deno.test("content encodings: valid, broken and unknown", (t) =>
  run(t, [
    { name: "gzip", play: sendEncoded("gzip", gzipSync), expect: COMPLETE },
    {
      name: "deflate",
      play: sendEncoded("deflate", deflateSync),
      expect: COMPLETE,
    },
    {
      name: "plain text declared as gzip",
      play: sendEncoded("gzip", (bytes) => bytes),
      expect: REFUSED,
    },
    {
      name: "truncated gzip",
      play: sendEncoded("gzip", (bytes) => {
        const packed = gzipSync(bytes);
        return packed.subarray(0, packed.length / 2);
      }),
      expect: CUT,
    },
    {
      name: "gzip with corrupt bytes in the middle",
      play: sendEncoded("gzip", (bytes) => {
        const packed = gzipSync(bytes);
        packed.fill(0xff, packed.length / 3, packed.length / 2);
        return packed;
      }),
      expect: CUT,
    },
    {
      name: "br",
      play: sendEncoded("br", brotliCompressSync),
      expect: REFUSED,
    },
    {
      name: "an unknown encoding",
      play: sendEncoded("zstd", gzipSync),
      expect: CUT,
    },
    {
      name: "gzip twice",
      play: sendEncoded("gzip, gzip", (bytes) => gzipSync(gzipSync(bytes))),
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
      // Even a part that looks whole: it is a part of something.
      ...[100, undefined].map((end): Row => ({
        name: `206, the first ${end ?? "and last"} bytes of the body`,
        play: ends((asked) =>
          wholeAnswer(
            bodyOf(asked).slice(0, end),
            typeOf(asked),
            "206 Partial Content",
          )
        ),
        expect: REFUSED,
      })),
      ...["201 Created", "202 Accepted", "203 Transformed"].map((
        status,
      ): Row => ({
        name: `${status}, with a whole reply`,
        play: ends((asked) =>
          wholeAnswer(bodyOf(asked), typeOf(asked), status)
        ),
        expect: COMPLETE,
      })),
      {
        name: "202 with a promise",
        play: ends(() =>
          wholeAnswer(
            '{"id":"job_1","status":"queued"}',
            "application/json",
            "202 Accepted",
          )
        ),
        expect: REFUSED,
      },
      {
        name: "a protocol switch",
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
