import assert from "node:assert/strict";
import {
  type HeaderRecord,
  ProtocolError,
  ResponseParser,
} from "./response_parser.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

interface Parsed {
  readonly status: number | undefined;
  readonly headers: HeaderRecord;
  readonly body: string;
  /** Bytes after the response. */
  readonly rest: number;
  readonly isComplete: boolean;
  readonly isReusable: boolean;
  readonly idleSeconds: number | undefined;
}

/** Parses a response that arrives in parts of `size` bytes. */
function parsed(
  text: string,
  { size = Infinity, ends = false }: { size?: number; ends?: boolean } = {},
): Parsed {
  let status: number | undefined;
  let headers: HeaderRecord = {};
  const body: Uint8Array[] = [];
  const parser = new ResponseParser({
    onHead(code, fields) {
      assert.equal(status, undefined, "one head");
      status = code;
      headers = fields;
    },
    onBody(part) {
      assert.notEqual(status, undefined, "the head comes first");
      assert.notEqual(part.length, 0);
      body.push(part);
    },
  });
  const all = bytes(text);
  let at = 0;
  while (at < all.length && !parser.isComplete) {
    at += parser.push(all.slice(at, at + size));
  }
  if (ends) parser.end();
  const { isComplete, isReusable, idleSeconds } = parser;
  return {
    status,
    headers: { ...headers },
    body: new TextDecoder().decode(
      Uint8Array.from(body.flatMap((part) => [...part])),
    ),
    rest: all.length - at,
    isComplete,
    isReusable,
    idleSeconds,
  };
}

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

Deno.test("push() gives the same response however its bytes are cut", async (t) => {
  for (
    const [name, text, body, rest] of [
      [
        "a length",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx: 1\r\n\r\nhello",
        "hello",
        0,
      ],
      [
        "a length and further bytes",
        "HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nhello",
        "he",
        3,
      ],
      ["no body", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nx", "", 1],
      ["204", "HTTP/1.1 204 No Content\r\n\r\nx", "", 1],
      [
        "chunks",
        `${CHUNKED}5\r\nhello\r\n1\r\n \r\nB\r\nlarge world\r\n0\r\n\r\n`,
        "hello large world",
        0,
      ],
      [
        "chunks with extensions and trailers",
        `${CHUNKED}3;a=b;c\r\nabc\r\n000\r\nx: 1\r\ny: 2\r\n\r\nHTTP`,
        "abc",
        4,
      ],
      [
        "informational responses first",
        `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: a\r\n\r\n${CHUNKED}1\r\na\r\n0\r\n\r\n`,
        "a",
        0,
      ],
    ] as const
  ) {
    await t.step(name, () => {
      const whole = parsed(text);
      assert.equal(whole.body, body);
      assert.equal(whole.rest, rest);
      assert.equal(whole.isComplete, true);
      for (let size = 1; size < text.length; size++) {
        const { rest: _, ...cut } = parsed(text, { size });
        const { rest: __, ...expected } = whole;
        assert.deepEqual(cut, expected, `${size} bytes at a time`);
      }
    });
  }
});

Deno.test("push() collects fields by lower-case name, repeated ones in a list", () => {
  const { status, headers } = parsed(
    "HTTP/1.1 429 Too Many\r\nRetry-After:  3 \t\r\nSet-Cookie: a\r\nset-cookie: b\r\nset-cookie: c\r\nempty:\r\n__proto__: x\r\ncontent-length: 0\r\n\r\n",
  );
  assert.equal(status, 429);
  assert.deepEqual(Object.entries(headers), [
    ["retry-after", "3"],
    ["set-cookie", ["a", "b", "c"]],
    ["empty", ""],
    ["__proto__", "x"],
    ["content-length", "0"],
  ]);
});

Deno.test("a body without a length ends with the connection", () => {
  const text = "HTTP/1.1 200 OK\r\n\r\nall of it";
  const open = parsed(text);
  assert.deepEqual([open.isComplete, open.isReusable], [false, false]);
  const closed = parsed(text, { ends: true });
  assert.deepEqual([closed.isComplete, closed.body], [true, "all of it"]);
});

Deno.test("isReusable is true only where the upstream keeps the connection", () => {
  const of = (first: string, more = ""): Parsed =>
    parsed(`${first}\r\ncontent-length: 0\r\n${more}\r\n`);
  assert.equal(of("HTTP/1.1 200 OK").isReusable, true);
  assert.equal(of("HTTP/1.0 200 OK").isReusable, false);
  assert.equal(
    of("HTTP/1.1 200 OK", "Connection: Close\r\n").isReusable,
    false,
  );
  assert.equal(
    of("HTTP/1.1 200 OK", "connection: x, close\r\n").isReusable,
    false,
  );
  assert.equal(
    of("HTTP/1.1 200 OK", "keep-alive: timeout=5, max=9\r\n").idleSeconds,
    5,
  );
});

Deno.test("push() refuses what is not HTTP/1.1", async (t) => {
  const head = (field: string): string => `HTTP/1.1 200 OK\r\n${field}\r\n\r\n`;
  for (
    const text of [
      "HTTP/2 200 OK\r\n\r\n",
      "HTTP/1.1 099 OK\r\n\r\n",
      "HTTP/1.1 101 Switching\r\n\r\n",
      " HTTP/1.1 200 OK\r\n\r\n",
      head("no colon"),
      head("a b: c"),
      head(": c"),
      head(" folded: c"),
      head("x: a\r\n b"),
      head("x: a\nb: c"),
      head("x: a\rb: c"),
      head("x: a\0b"),
      head("content-length: -1"),
      head("content-length: 1e3"),
      head("content-length: 5, 5"),
      head("content-length:"),
      head("content-length: 5\r\ncontent-length: 5"),
      head("content-length: 9999999999999999"),
      head("content-length: 5\r\ntransfer-encoding: chunked"),
      head("transfer-encoding: gzip, chunked"),
      head("transfer-encoding: chunked\r\ntransfer-encoding: chunked"),
      head(`x: ${"a".repeat(16 * 1024)}`),
      `HTTP/1.1 200 OK\r\nx: ${"a".repeat(17 * 1024)}`,
      ...[
        "zz\r\n",
        "-5\r\n",
        "\r\n",
        " 5\r\n",
        "5 \r\n",
        "5\n",
        "5\r;a\r\n",
        "5;a\0\r\n",
        "ffffffffffffffffff\r\n",
        `5;${"a".repeat(2000)}`,
        "1\r\nab\r\n",
        "1\r\na\rb",
        "0\r\nx",
      ].map((chunk) => `${CHUNKED}${chunk}`),
    ]
  ) {
    await t.step(JSON.stringify(text.slice(0, 80)), () => {
      const isTrailer = text.endsWith("0\r\nx");
      assert.throws(
        () => parsed(text, { ends: isTrailer }),
        (error) => error instanceof ProtocolError,
      );
      assert.throws(() => parsed(text, { size: 1, ends: isTrailer }));
    });
  }
});

Deno.test("end() refuses a response that is incomplete", async (t) => {
  for (
    const text of [
      "",
      "HTTP/1.1 200 OK\r\nx",
      "HTTP/1.1 100 Continue\r\n\r\n",
      "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfour",
      `${CHUNKED}5\r\nfour`,
      `${CHUNKED}4\r\nfour\r\n`,
      `${CHUNKED}4\r\nfour\r\n0\r\n`,
    ]
  ) {
    await t.step(JSON.stringify(text), () => {
      assert.throws(() => parsed(text, { ends: true }), ProtocolError);
    });
  }
});

Deno.test("push() passes on the data that precedes an error", () => {
  let body = "";
  const parser = new ResponseParser({
    onHead: () => {},
    onBody: (part) => {
      body += new TextDecoder().decode(part);
    },
  });
  assert.throws(() =>
    parser.push(bytes(`${CHUNKED}2\r\nab\r\n2\r\ncd\r\nzz\r\n`))
  );
  assert.equal(body, "abcd");
});
