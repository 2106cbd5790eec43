/** Callers that hang up, in every phase of a call: the upstream hears of it, the books are right, and nothing stays taken. */
import assert from "node:assert/strict";
import { RawCaller } from "./raw_caller.ts";
import {
  type RawExchange,
  type RawUpstream,
  startRawUpstream,
} from "./raw_upstream.ts";
import { soon } from "./soon.ts";
import { ask, entryOf, type Pair, PAIRS } from "./test_billing.ts";
import { startTestGateway, type TestGateway } from "./test_gateway.ts";
import {
  chunk,
  framesOf,
  head,
  LAST_CHUNK,
  STREAM_HEAD,
  wholeHead,
  wholeOf,
} from "./upstream_bytes.ts";

interface Bench {
  readonly gateway: TestGateway;
  readonly upstream: RawUpstream;
}

type Leave = (caller: RawCaller) => void;

/** An orderly end and a reset, as a closed program and a pulled plug look. */
const LEAVES: readonly (readonly [string, Leave])[] = [
  ["closes", (caller) => caller.close()],
  ["ends its side", (caller) => caller.socket.end()],
  ["resets", (caller) => caller.socket.reset()],
];

/** What the ledger must say. */
interface Bill {
  readonly ended: "caller_left" | "complete";
  /** Whether anything is charged. */
  readonly pays: boolean;
  readonly estimated: boolean;
}

const NOTHING: Bill = { ended: "caller_left", pays: false, estimated: false };

/** A moment to leave at. `until` plays the upstream up to it. */
interface Phase {
  readonly name: string;
  readonly stream: boolean;
  readonly bill: (upstream: Pair["upstream"]) => Bill;
  readonly until: (
    exchange: RawExchange,
    caller: RawCaller,
    pair: Pair,
  ) => Promise<void>;
}

/** Some text and no figures at the end; generate content tells its figures in every frame. */
const some = (upstream: Pair["upstream"]): Bill => ({
  ended: "caller_left",
  pays: true,
  estimated: upstream !== "gemini",
});

const PHASES: readonly Phase[] = [
  ...[true, false].map((stream): Phase => ({
    name: `before the upstream answers, ${stream ? "streamed" : "whole"}`,
    stream,
    bill: () => NOTHING,
    until: () => Promise.resolve(),
  })),
  {
    name: "inside the answer's head",
    stream: false,
    bill: () => NOTHING,
    until: ({ socket }) => socket.send("HTTP/1.1 200 OK\r\ncontent-"),
  },
  {
    name: "after the head of a stream",
    stream: true,
    bill: () => NOTHING,
    until: ({ socket }) => socket.send(STREAM_HEAD),
  },
  {
    name: "in the middle of a whole answer",
    stream: false,
    // Nothing of it has reached the caller, and nothing would have.
    bill: () => NOTHING,
    async until({ socket }, _caller, { upstream }) {
      const body = wholeOf("text", upstream);
      await socket.send(wholeHead(body.length) + body.slice(0, -20));
    },
  },
  {
    name: "in the middle of an error's body",
    stream: true,
    bill: () => NOTHING,
    until: ({ socket }) =>
      socket.send(wholeHead(100, "429 Too Many Requests") + '{"error":'),
  },
  {
    name: "in the middle of a stream",
    stream: true,
    bill: some,
    async until({ socket }, caller, { upstream }) {
      const frames = framesOf("text", upstream);
      const most = upstream === "gemini" ? 1 : 6;
      await socket.send(
        STREAM_HEAD + frames.slice(0, most).map(chunk).join(""),
      );
      await caller.until(/ The/);
    },
  },
  {
    name: "in the middle of a frame",
    stream: true,
    bill: some,
    async until({ socket }, caller, { upstream }) {
      const frames = framesOf("text", upstream);
      const most = upstream === "gemini" ? 1 : 6;
      await socket.send(
        STREAM_HEAD + frames.slice(0, most).map(chunk).join("") +
          chunk((frames[most] ?? "").slice(0, 30)),
      );
      await caller.until(/ The/);
    },
  },
  {
    name: "before the last frame",
    stream: true,
    bill: () => ({ ended: "caller_left", pays: true, estimated: false }),
    async until({ socket }, caller, { path, upstream }) {
      const frames = framesOf("text", upstream).slice(0, -1);
      await socket.send(STREAM_HEAD + frames.map(chunk).join(""));
      // A translated stop is held back until the end; bytes of the caller's own dialect pass.
      await caller.until(
        upstream === "gemini"
          ? / over the/
          : path === "/v1/messages" && upstream === "messages"
          ? /"end_turn"/
          : path === "/v1/chat/completions" && upstream === "chat"
          ? /"stop"/
          : / dog/,
      );
    },
  },
];

async function withBench(run: (bench: Bench) => Promise<void>): Promise<void> {
  const upstream = await startRawUpstream();
  const gateway = await startTestGateway({
    env: { GATEWAY_MAX_ATTEMPTS: "1" },
    access: upstream.vendors,
  });
  try {
    await run({ gateway, upstream });
    await nothingIsTaken(gateway);
    assert.deepEqual(await gateway.books.admin.audit(), []);
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

async function nothingIsTaken({ gateway, books }: TestGateway): Promise<void> {
  assert.equal(gateway.slots.taken(), 0);
  assert.equal(gateway.running.size, 0);
  await books.flush();
  const account = await books.admin.accounts.get("default");
  assert.deepEqual([account.reservedMicroUsd, account.openRequests], [0, 0]);
}

/** Makes a call, brings it to the phase, leaves, and compares the books. */
async function leaveAt(
  { gateway, upstream }: Bench,
  pair: Pair,
  phase: Phase,
  leave: Leave,
): Promise<void> {
  const before = gateway.logged.length;
  const asked = upstream.next();
  using caller = await RawCaller.connect(gateway);
  await caller.post(pair.path, ask(pair, "Hi", phase.stream));
  const exchange = await soon(asked, "the upstream's request");
  await phase.until(exchange, caller, pair);
  leave(caller);
  await soon(exchange.socket.closed, "the close of the upstream's connection");
  const { request_id } = await soon(
    gateway.logEntry((entry) => gateway.logged.indexOf(entry) >= before),
    "the line in the log",
  );
  const entry = await entryOf(gateway, request_id);
  const bill = phase.bill(pair.upstream);
  assert.equal(entry.ended, bill.ended);
  assert.equal(entry.microUsd < 0, bill.pays, `${entry.microUsd}`);
  assert.equal(entry.estimated, bill.estimated);
  await nothingIsTaken(gateway);
}

for (const phase of PHASES) {
  Deno.test(`a caller leaves ${phase.name}`, (t) =>
    withBench(async (bench) => {
      for (const pair of PAIRS) {
        for (const [how, leave] of LEAVES) {
          await t.step(
            `${how}: ${pair.path} from ${pair.upstream}`,
            () => leaveAt(bench, pair, phase, leave),
          );
        }
      }
    }));
}

Deno.test("a caller that leaves with the last byte has a complete answer, though the upstream never ends", (t) =>
  withBench(async ({ gateway, upstream }) => {
    // Generate content has no last frame: there the end of the body is the end.
    for (const pair of PAIRS.filter((one) => one.upstream !== "gemini")) {
      await t.step(`${pair.path} from ${pair.upstream}`, async () => {
        const before = gateway.logged.length;
        const asked = upstream.next();
        using caller = await RawCaller.connect(gateway);
        await caller.post(pair.path, ask(pair, "Hi", true));
        const { socket } = await soon(asked, "the upstream's request");
        await socket.send(
          STREAM_HEAD + framesOf("text", pair.upstream).map(chunk).join(""),
        );
        await caller.until(/event: message_stop\n.*\n\n|\[DONE\]\n\n/);
        caller.close();
        const { request_id } = await soon(
          gateway.logEntry((entry) => gateway.logged.indexOf(entry) >= before),
          "the line in the log",
        );
        const entry = await entryOf(gateway, request_id);
        assert.equal(entry.ended, "complete");
        assert.equal(entry.outputTokens, 12);
        assert.equal(entry.estimated, false);
        // It has a second to end by itself.
        await soon(socket.closed, "the close of the upstream's connection");
      });
    }
  }));

Deno.test("a caller that has its answer and leaves costs the upstream no connection", (t) =>
  withBench(async ({ gateway, upstream }) => {
    for (const [n, pair] of PAIRS.entries()) {
      await t.step(`${pair.path} from ${pair.upstream}`, async () => {
        upstream.answer(({ socket }) =>
          socket.send(
            STREAM_HEAD + framesOf("text", pair.upstream).map(chunk).join("") +
              LAST_CHUNK,
          )
        );
        using caller = await RawCaller.connect(gateway);
        await caller.post(pair.path, ask(pair, "Hi", true));
        assert.equal((await caller.answer())?.status, 200);
        caller.close();
        assert.equal(upstream.exchanges[n]?.connection, 1);
      });
    }
  }));

Deno.test("a caller that stops reading an endless answer and then leaves lets the upstream go", (t) =>
  withBench(async ({ gateway, upstream }) => {
    for (const pair of PAIRS) {
      await t.step(`${pair.path} from ${pair.upstream}`, async () => {
        const before = gateway.logged.length;
        const asked = upstream.next();
        using caller = await RawCaller.connect(gateway);
        await caller.post(pair.path, ask(pair, "Hi", true));
        const { socket } = await soon(asked, "the upstream's request");
        const frames = framesOf("text", pair.upstream);
        const at = pair.upstream === "gemini" ? 0 : 3;
        await socket.send(
          STREAM_HEAD + frames.slice(0, at + 1).map(chunk).join(""),
        );
        await caller.until(/Hello/);
        caller.socket.pause();
        const more = chunk((frames[at] ?? "").repeat(1000));
        const gone = socket.closed.then(() => true);
        let sent = 0;
        // Until every buffer on the way is full: then a write does not settle any more.
        for (;;) {
          const taken = await Promise.race([
            socket.send(more).then(() => true),
            new Promise<false>((resolve) =>
              setTimeout(() => resolve(false), 300)
            ),
          ]);
          if (!taken) break;
          sent += more.length;
          assert.ok(sent < 100_000_000, "somebody takes in everything");
        }
        caller.socket.reset();
        assert.ok(await soon(gone, "the close of the upstream's connection"));
        const { request_id } = await soon(
          gateway.logEntry((entry) => gateway.logged.indexOf(entry) >= before),
          "the line in the log",
        );
        assert.equal(
          (await entryOf(gateway, request_id)).ended,
          "caller_left",
        );
      });
    }
  }));

Deno.test("a caller that leaves inside its request is in no ledger and takes no place", (t) =>
  withBench(async ({ gateway, upstream }) => {
    const body = JSON.stringify(
      ask({ path: "/v1/messages", model: "vendorb-5.5" }, "Hi", true),
    );
    const pieces = [
      "POST",
      "POST /v1/messages HTTP/1.1\r\nhost: a\r\nx-api",
      `POST /v1/messages HTTP/1.1\r\nhost: a\r\nx-api-key: sk-test-0123456789abcdef\r\ncontent-length: ${body.length}\r\n\r\n`,
      `POST /v1/messages HTTP/1.1\r\nhost: a\r\nx-api-key: sk-test-0123456789abcdef\r\ncontent-length: ${body.length}\r\n\r\n${
        body.slice(0, -1)
      }`,
    ];
    for (const piece of pieces) {
      for (const [how, leave] of LEAVES) {
        await t.step(`${how} after ${piece.length} bytes`, async () => {
          using caller = await RawCaller.connect(gateway);
          await caller.send(piece);
          leave(caller);
        });
      }
    }
    upstream.answer(({ socket }) =>
      socket.send(head({ "content-length": "0" }, "400 No"))
    );
    using next = await RawCaller.connect(gateway);
    await next.post("/v1/messages", body);
    assert.equal((await next.answer())?.status, 400);
    assert.equal(upstream.exchanges.length, 1);
  }));
