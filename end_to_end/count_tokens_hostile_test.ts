/** Counting at a vendor that answers badly, or not at all: a count or a well-formed error, and no key of ours. */
import assert from "node:assert/strict";
import { errorReply } from "../routes/reply_schemas.ts";
import { withHostileUpstream } from "./hostile_bench.ts";
import { asking } from "./hostile_bodies.ts";
import { RawCaller } from "./raw_caller.ts";
import type { RawExchange } from "./raw_upstream.ts";
import { soon } from "./soon.ts";
import { head, wholeAnswer } from "./upstream_bytes.ts";

/** The key that the upstream gets. */
const KEY = /x-api-key: (\S+)/i;

type Row = readonly [
  name: string,
  play: (exchange: RawExchange) => Promise<void> | void,
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
  ["an end", ({ socket }) => socket.end(), 502],
  ["a reset", ({ socket }) => socket.reset(), 502],
  [
    "all that it was sent, as an error",
    ({ socket, head: told }) =>
      socket.send(wholeAnswer(told, "text/plain", "400 Bad")),
    400,
  ],
  [
    "the key in an error",
    ({ socket, head: told }) =>
      socket.send(
        wholeAnswer(
          JSON.stringify({
            type: "error",
            error: {
              type: "api_error",
              message: `no ${KEY.exec(told)?.[1]} here`,
              code: KEY.exec(told)?.[1],
            },
          }),
          "application/json",
          "500 Oops",
        ),
      ),
    500,
  ],
  ["nothing", () => {}, 504],
  [
    "a byte now and then",
    async ({ socket }) => {
      let over = false;
      socket.closed.then(() => over = true);
      await socket.send(head({ "content-type": "application/json" }));
      while (!over) {
        await socket.send(" ");
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    504,
  ],
];

Deno.test("a vendor's bad answer to a count is a well-formed error without our key", (t) =>
  withHostileUpstream(async ({ gateway, upstream }) => {
    for (const [name, play, status] of ROWS) {
      await t.step(name, async () => {
        upstream.answer(play);
        const response = await soon(
          gateway.post(
            "/v1/messages/count_tokens",
            asking("vendora-opus-4-8"),
          ),
          "an answer",
        );
        const text = await response.text();
        assert.equal(response.status, status, text);
        const told = upstream.exchanges.at(-1)?.head ?? "";
        const key = KEY.exec(told)?.[1];
        assert.ok(key !== undefined);
        assert.ok(!text.includes(key), text);
        if (status !== 200) errorReply.parse(JSON.parse(text));
        assert.equal(gateway.gateway.slots.taken(), 0);
      });
    }
  }, {
    GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS: "0.2",
    GATEWAY_TOTAL_TIMEOUT_SECONDS: "0.5",
  }));

Deno.test("a caller that leaves while tokens are counted lets the vendor go, and is no fault of ours", () =>
  withHostileUpstream(async ({ gateway, upstream }) => {
    const asked = upstream.next();
    using caller = await RawCaller.connect(gateway);
    await caller.post(
      "/v1/messages/count_tokens",
      asking("vendora-opus-4-8"),
    );
    const { socket } = await soon(asked, "the count");
    caller.close();
    await soon(socket.closed, "the close of the vendor's connection");
    upstream.answer(({ socket }) =>
      socket.send(wholeAnswer('{"input_tokens":7}'))
    );
    const next = await gateway.post(
      "/v1/messages/count_tokens",
      asking("vendora-opus-4-8"),
    );
    assert.deepEqual(await next.json(), { input_tokens: 7 });
    assert.deepEqual(gateway.logged, []);
    assert.equal(gateway.gateway.slots.taken(), 0);
  }));
