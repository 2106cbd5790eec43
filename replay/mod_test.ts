import { bodyFor, chat, test } from "./testing/with_replay.ts";
import assert from "node:assert/strict";
import { RawClient } from "./server/raw_client.ts";

const PATHS = [
  "/v1/messages",
  "/v1/chat/completions",
  "/v1beta/models/m:streamGenerateContent?alt=sse",
];

/** Payloads of the chunks in a chunked body. */
function chunksOf(reply: string): string[] {
  const body = reply.slice(reply.indexOf("\r\n\r\n") + 4);
  const chunks: string[] = [];
  for (let at = 0; at < body.length;) {
    const lineEnd = body.indexOf("\r\n", at);
    const size = parseInt(body.slice(at, lineEnd), 16);
    if (size === 0) break;
    chunks.push(body.slice(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return chunks;
}

test(
  "startReplay() answers many requests on one connection",
  async (server, caller) => {
    for (let turn = 0; turn < 3; turn++) {
      await caller.post("/v1/chat/completions", chat("text", false));
      await caller.readUntil('"system_fingerprint":"fp_replay"}');
    }
    assert.deepEqual(
      server.requestLog.entries.map((entry) => [entry.id, entry.connection]),
      [[1, 1], [2, 1], [3, 1]],
    );
  },
);

test(
  "startReplay() answers pipelined requests",
  async (server, caller) => {
    await Promise.all([
      caller.post("/a/v1/messages", chat("text", false)),
      caller.post("/b/v1/messages", chat("tool", false)),
    ]);
    await server.requestLog.waitFor((entry) => entry.id === 2);
    const seen = await caller.readUntil('"tool_use"');
    assert.equal(seen.match(/HTTP\/1\.1 200 OK/g)?.length, 2);
  },
);

test(
  "startReplay() reads chunked bodies in any pieces",
  async (server, caller) => {
    const body = JSON.stringify(chat("tool", false));
    const half = Math.floor(body.length / 2);
    const chunk = (text: string): string =>
      `${text.length.toString(16)}\r\n${text}\r\n`;
    await caller.send(
      "POST /v1/chat/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    for (
      const piece of [
        chunk(body.slice(0, half)),
        chunk(body.slice(half)),
        "0\r",
        "\n\r\n",
      ]
    ) await caller.send(piece);
    await caller.readUntil("get_weather");
    const entry = await server.requestLog.next();
    assert.equal(entry.request.body, body);
    assert.equal(entry.marker?.name, "tool");
  },
);

test(
  "startReplay() sends 100 Continue to a client that expects it",
  async (_, caller) => {
    const body = JSON.stringify(chat("text", false));
    await caller.send(
      `POST /v1/chat/completions HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    await caller.readUntil("HTTP/1.1 100 Continue\r\n\r\n");
    await caller.send(body);
    await caller.readUntil("HTTP/1.1 200 OK");
  },
);

for (
  const [what, garbage, status] of [
    ["a malformed request line", "hello there\r\n\r\n", 400],
    ["a header without a colon", "GET / HTTP/1.1\r\nnonsense\r\n\r\n", 400],
    [
      "a length that is not a number",
      "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
      400,
    ],
    [
      "both content-length and transfer-encoding",
      "POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
      400,
    ],
    [
      "a chunk size that is not a number",
      "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
      400,
    ],
    [
      "a body beyond the limit",
      "POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
      413,
    ],
    ["bytes that are not text", "\u0000\u0001\u0002\r\n\r\n", 400],
  ] as const
) {
  test(`startReplay() refuses ${what} and closes`, async (server, caller) => {
    await caller.send(garbage);
    const { reads, closing } = await caller.readToEnd();
    assert.match(reads.join(""), new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.equal(closing, "fin");
    using next = await RawClient.connect(server.port);
    await next.post("/v1/messages", chat("text", false));
    await next.readUntil("HTTP/1.1 200 OK");
  });
}

test(
  "startReplay() survives a client that disconnects in the middle of a request",
  async (server, caller) => {
    await caller.send(
      "POST /v1/messages HTTP/1.1\r\ncontent-length: 100\r\n\r\nhalf",
    );
    caller.close();
    using next = await RawClient.connect(server.port);
    await next.post("/v1/messages", chat("text", false));
    await next.readUntil("HTTP/1.1 200 OK");
  },
);

test("startReplay() answers an unknown path and an unknown fixture with the dialect's error", async (server) => {
  const unknown = await fetch(`${server.url}/v1/nothing`);
  assert.equal(unknown.status, 404);
  assert.ok("error" in await unknown.json());
  const fixture = await fetch(`${server.url}/v1/messages`, {
    method: "POST",
    body: JSON.stringify(chat("nonesuch")),
  });
  assert.equal(fixture.status, 400);
  assert.match(
    (await fixture.json()).error.message,
    /No fixture is named "nonesuch"/,
  );
});

for (const path of PATHS) {
  test(`each frame is a chunk of its own on ${path}`, async (_, caller) => {
    await caller.post(path, bodyFor(path, "[[fx:text?end=fin]]"));
    const { reads } = await caller.readToEnd();
    const chunks = chunksOf(reads.join(""));
    assert.ok(chunks.length > 1);
    assert.ok(
      chunks.every((chunk) =>
        /\r?\n\r?\n$/.test(chunk) &&
        chunk.trim().split(/\r?\n\r?\n/).length === 1
      ),
    );
  });

  test(
    `split=3 sends segments of three bytes on ${path}`,
    async (_, caller) => {
      await caller.post(
        path,
        bodyFor(path, "[[fx:text?split=3&frames=1&end=fin]]"),
      );
      const { reads } = await caller.readToEnd();
      const chunks = chunksOf(reads.join(""));
      const last = chunks.pop() ?? "";
      assert.ok(chunks.length > 20 && last.length <= 3);
      assert.ok(chunks.every((chunk) => chunk.length === 3));
      const carrying = reads.filter((read) =>
        /^3\r\n...\r\n$/s.test(read)
      ).length;
      assert.ok(
        carrying > chunks.length * 0.9,
        `${carrying} of ${chunks.length} bytes were read alone`,
      );
    },
  );

  test(
    `each frame waits for its gate on ${path}`,
    async (server, caller) => {
      await caller.post(path, bodyFor(path, "[[fx:text?gates=g]]"));
      const head = await caller.readUntil("\r\n\r\n");
      assert.ok(head.endsWith("\r\n\r\n"), "no frame before the first gate");
      const entry = await server.requestLog.next();
      for (let frame = 0; frame < 3; frame++) {
        await server.gateReached(`g:${frame}`);
        assert.equal(entry.segmentsSent, frame);
        server.openGate(`g:${frame}`);
        if (frame < 2) await caller.read();
      }
    },
  );

  for (
    const fixture of [
      "hold",
      "hold-head",
      "hold-mid",
      "text?gate=shut",
      "text?gate=shut&at=head",
      "slow?ms=600000",
    ]
  ) {
    test(
      `a hang-up during ${fixture} is logged on ${path}`,
      async (server, caller) => {
        await caller.post(path, bodyFor(path, `[[fx:${fixture}#n1]]`));
        const entry = await server.requestLog.waitForNonce("n1");
        if (fixture === "hold-mid") await caller.readUntil("data: ");
        assert.equal(entry.ending, undefined);
        caller.close();
        await server.requestLog.waitForHangUp(entry.id);
        assert.equal(entry.ending, "caller-hung-up");
      },
    );
  }

  for (
    const [fixture, closing, hasEnd, ended] of [
      ["cut", "fin", true, "complete"],
      ["cut-chunk", "fin", false, "cut"],
      ["reset", "reset", false, "reset"],
    ] as const
  ) {
    test(
      `${fixture} closes by ${closing} after its frames on ${path}`,
      async (server, caller) => {
        await caller.post(path, bodyFor(path, `[[fx:${fixture}?frames=1]]`));
        const { reads, ...end } = await caller.readToEnd();
        const reply = reads.join("");
        assert.equal(end.closing, closing);
        assert.equal(chunksOf(reply).length, 1);
        assert.equal(reply.endsWith("\r\n0\r\n\r\n"), hasEnd);
        assert.equal(await (await server.requestLog.next()).ended, ended);
      },
    );
  }
}

test(
  "drop resets, or closes, without a status line",
  async (server, caller) => {
    await caller.post("/v1/messages", chat("drop"));
    assert.deepEqual(await caller.readToEnd(), { reads: [], closing: "reset" });
    using other = await RawClient.connect(server.port);
    await other.post("/v1/messages", chat("drop?how=fin"));
    assert.deepEqual(await other.readToEnd(), { reads: [], closing: "fin" });
  },
);

test(
  "a whole reply that is cut declares its full length and sends half",
  async (_, caller) => {
    await caller.post("/v1/messages", chat("cut", false));
    const { reads } = await caller.readToEnd();
    const [head = "", body = ""] = reads.join("").split("\r\n\r\n");
    const declared = Number(/content-length: (\d+)/.exec(head)?.[1]);
    assert.ok(body.length > 0 && declared > body.length);
  },
);

for (
  const [fixture, off] of [["long-length", 10], ["short-length", -10]] as const
) {
  test(`${fixture} declares a wrong length`, async (_, caller) => {
    await caller.post("/v1/messages", chat(fixture, false));
    const { reads } = await caller.readToEnd();
    const [head = "", body = ""] = reads.join("").split("\r\n\r\n");
    assert.equal(
      Number(/content-length: (\d+)/.exec(head)?.[1]) - body.length,
      off,
    );
  });
}

test(
  "close-delimited declares no length and ends with the connection",
  async (_, caller) => {
    await caller.post("/v1/messages", chat("close-delimited"));
    const { reads, closing } = await caller.readToEnd();
    assert.equal(closing, "fin");
    assert.ok(
      !/content-length|transfer-encoding/.test(
        reads.join("").split("\r\n\r\n")[0] ?? "",
      ),
    );
    assert.ok(reads.join("").endsWith("\n\n"));
  },
);

test("gzip is decoded to the same text by fetch", async (server) => {
  const fetchText = async (marker: string): Promise<string> => {
    const reply = await fetch(`${server.url}/v1/messages`, {
      method: "POST",
      body: JSON.stringify(chat(marker)),
    });
    return await reply.text();
  };
  assert.equal(await fetchText("gzip"), await fetchText("text"));
});

test("an HTTP/1.0 client receives no chunks", async (_, caller) => {
  const body = JSON.stringify(chat("text"));
  await caller.send(
    `POST /v1/messages HTTP/1.0\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  const { reads, closing } = await caller.readToEnd();
  assert.equal(closing, "fin");
  assert.ok(!reads.join("").includes("transfer-encoding"));
});
