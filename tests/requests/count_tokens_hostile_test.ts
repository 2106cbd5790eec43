/**
 * Token counts by a vendor that answers badly or not at all: the client gets a count or a
 * well-formed error, without the vendor key.
 */
import assert from "node:assert/strict";
import { errorReply } from "../../routes/reply_schemas.ts";
import { withHostileUpstream } from "../support/tables/hostile_upstream.ts";
import { requestText } from "../support/tables/hostile_bodies.ts";
import { RawClient } from "../support/clients/raw_client.ts";
import type { RawRequest } from "../support/upstreams/raw_upstream.ts";
import { withTimeout } from "../support/with_timeout.ts";
import { head, wholeAnswer } from "../support/upstreams/upstream_bytes.ts";

/** The vendor key in the request that the upstream receives. */
const KEY = /x-api-key: (\S+)/i;

type Row = readonly [
  name: string,
  play: (exchange: RawRequest) => Promise<void> | void,
  status: number,
];

const ROWS: readonly Row[] = [
  [
    "a count",
    ({ socket }) => socket.send(wholeAnswer('{"input_tokens":7}')),
    200,
  ],
  ...["-1", "1.5", "1e999", '"7"', "null", "[]", "1e300"].map((count): Row => [
    `a count of ${count}`,
    ({ socket }) => socket.send(wholeAnswer(`{"input_tokens":${count}}`)),
    502,
  ]),
  ...["", "null", "[]", "{}", "<html>", "7"].map((body): Row => [
    `"${body}"`,
    ({ socket }) => socket.send(wholeAnswer(body)),
    502,
  ]),
  [
    "a redirect",
    ({ socket }) =>
      socket.send(head({ location: "/", "content-length": "0" }, "302 Found")),
    502,
  ],
  ["a closed connection", ({ socket }) => socket.end(), 502],
  ["a reset connection", ({ socket }) => socket.reset(), 502],
  [
    "an error that repeats the whole request head",
    ({ socket, head: received }) =>
      socket.send(wholeAnswer(received, "text/plain", "400 Bad")),
    400,
  ],
  [
    "the key in an error",
    ({ socket, head: received }) =>
      socket.send(
        wholeAnswer(
          JSON.stringify({
            type: "error",
            error: {
              type: "api_error",
              message: `no ${KEY.exec(received)?.[1]} here`,
              code: KEY.exec(received)?.[1],
            },
          }),
          "application/json",
          "500 Oops",
        ),
      ),
    500,
  ],
  ["no answer", () => {}, 504],
  [
    "a byte every 10 ms",
    async ({ socket }) => {
      let closed = false;
      socket.closed.then(() => closed = true);
      await socket.send(head({ "content-type": "application/json" }));
      while (!closed) {
        await socket.send(" ");
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    504,
  ],
];

Deno.test("a vendor's bad answer to a token count is a well-formed error without the vendor key", (t) =>
  withHostileUpstream(async ({ gateway, upstream }) => {
    for (const [name, play, status] of ROWS) {
      await t.step(name, async () => {
        upstream.answer(play);
        const response = await withTimeout(
          gateway.post(
            "/v1/messages/count_tokens",
            requestText("vendora-opus-4-8"),
          ),
          "an answer",
        );
        const text = await response.text();
        assert.equal(response.status, status, text);
        const sentHead = upstream.requests.at(-1)?.head ?? "";
        const key = KEY.exec(sentHead)?.[1];
        assert.ok(key !== undefined);
        assert.ok(!text.includes(key), text);
        if (status !== 200) errorReply.parse(JSON.parse(text));
        assert.equal(gateway.gateway.concurrency.inUse(), 0);
      });
    }
  }, {
    GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS: "0.2",
    GATEWAY_TOTAL_TIMEOUT_SECONDS: "0.5",
  }));

Deno.test("a client that disconnects during a token count closes the vendor's connection, and nothing is logged", () =>
  withHostileUpstream(async ({ gateway, upstream }) => {
    const asked = upstream.next();
    using caller = await RawClient.connect(gateway);
    await caller.post(
      "/v1/messages/count_tokens",
      requestText("vendora-opus-4-8"),
    );
    const { socket } = await withTimeout(asked, "the count");
    caller.close();
    await withTimeout(socket.closed, "the close of the vendor's connection");
    upstream.answer(({ socket }) =>
      socket.send(wholeAnswer('{"input_tokens":7}'))
    );
    const next = await gateway.post(
      "/v1/messages/count_tokens",
      requestText("vendora-opus-4-8"),
    );
    assert.deepEqual(await next.json(), {
      input_tokens: 7,
      context_management: null,
    });
    assert.deepEqual(gateway.logged, []);
    assert.equal(gateway.gateway.concurrency.inUse(), 0);
  }));
