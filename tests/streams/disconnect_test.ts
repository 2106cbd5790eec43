/**
 * Clients that disconnect in every phase of a call: the upstream is notified, the ledger is right,
 * and nothing stays reserved.
 */
import assert from "node:assert/strict";
import { RawClient } from "../support/clients/raw_client.ts";
import type { RawRequest } from "../support/upstreams/raw_upstream.ts";
import { withTimeout } from "../support/with_timeout.ts";
import type { LedgerEntry } from "../../gateway/accounts/mod.ts";
import {
  billedUsage,
  FORMAT_PAIRS,
  type FormatPair,
  ledgerEntryOf,
  requestBody,
  type TokenCounts,
} from "../support/tables/billing.ts";
import {
  type HostileSetup,
  withHostileUpstream,
} from "../support/tables/hostile_upstream.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import {
  chunk,
  framesOf,
  head,
  LAST_CHUNK,
  STREAM_HEAD,
  wholeHead,
  wholeOf,
} from "../support/upstreams/upstream_bytes.ts";

type Leave = (caller: RawClient) => void;

/** An orderly close, a half-close and a reset, as different clients end their connections. */
const LEAVES: readonly (readonly [string, Leave])[] = [
  ["closes", (caller) => caller.close()],
  ["ends its side", (caller) => caller.socket.end()],
  ["resets", (caller) => caller.socket.reset()],
];

interface Bill {
  readonly ended: "caller_left" | "complete";
  /** The tokens that are charged, as far as they are certain; absent: the call costs nothing. */
  readonly figures?: Partial<TokenCounts>;
  readonly estimated: boolean;
}

const NOTHING: Bill = { ended: "caller_left", estimated: false };
/** The upstream has the request. */
const PROMPT: Bill = { ended: "caller_left", figures: {}, estimated: true };

/** A moment to disconnect at; `until` brings the call to it. */
interface Phase {
  readonly name: string;
  readonly stream: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly bill: (upstream: FormatPair["upstream"]) => Bill;
  readonly until: (
    exchange: RawRequest,
    caller: RawClient,
    pair: FormatPair,
  ) => Promise<void>;
}

/**
 * Charges for the frames up to " The", whose ten characters are estimated as three tokens. The
 * formats report usage at different times: the prompt at the start (messages), all of it at the end
 * (chat), or all of it in every frame (generate content).
 */
const some = (upstream: FormatPair["upstream"]): Bill => ({
  ended: "caller_left",
  figures: upstream === "chat" ? { output: 3 } : { input: 25, output: 3 },
  estimated: upstream !== "gemini",
});

/** Number of frames of the text fixture up to " The". */
const SOME_FRAMES = { messages: 6, chat: 4, gemini: 1 } as const;

function someFrames(upstream: FormatPair["upstream"]): string {
  const frames = framesOf("text", upstream).slice(0, SOME_FRAMES[upstream]);
  return STREAM_HEAD + frames.map(chunk).join("");
}

const PHASES: readonly Phase[] = [
  ...[true, false].map((stream): Phase => ({
    name: `before the upstream answers, ${stream ? "streamed" : "whole"}`,
    stream,
    bill: () => PROMPT,
    until: () => Promise.resolve(),
  })),
  {
    name: "inside the answer's head",
    stream: false,
    bill: () => PROMPT,
    until: ({ socket }) => socket.send("HTTP/1.1 200 OK\r\ncontent-"),
  },
  {
    name: "after the head of a stream",
    stream: true,
    bill: () => PROMPT,
    until: ({ socket }) => socket.send(STREAM_HEAD),
  },
  {
    name: "after a ping",
    stream: true,
    env: { GATEWAY_PING_SECONDS: "0.02" },
    bill: () => PROMPT,
    async until({ socket }, caller) {
      await socket.send(STREAM_HEAD);
      await caller.until(/: keep-alive/);
    },
  },
  {
    name: "in the middle of a whole answer",
    stream: false,
    bill: () => PROMPT,
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
      await socket.send(someFrames(upstream));
      await caller.until(/ The/);
    },
  },
  {
    name: "in the middle of a frame",
    stream: true,
    bill: some,
    async until({ socket }, caller, { upstream }) {
      const next = framesOf("text", upstream)[SOME_FRAMES[upstream]] ?? "";
      await socket.send(someFrames(upstream) + chunk(next.slice(0, 30)));
      await caller.until(/ The/);
    },
  },
  {
    name: "before the last frame",
    stream: true,
    // In generate content the last frame holds the last words.
    bill: (upstream) => ({
      ended: "caller_left",
      figures: { input: 25, output: upstream === "gemini" ? 9 : 12 },
      estimated: false,
    }),
    async until({ socket }, caller, { path, upstream }) {
      const frames = framesOf("text", upstream).slice(0, -1);
      await socket.send(STREAM_HEAD + frames.map(chunk).join(""));
      // A translated stop reason is held back until the end; in the client's own format bytes pass
      // through.
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

async function withBench(
  run: (bench: HostileSetup) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await withHostileUpstream(async (bench) => {
    await run(bench);
    await nothingIsTaken(bench.gateway);
    // What an upstream that is read on reports has a test of its own.
  }, { GATEWAY_LEFT_CLIENT_SECONDS: "0", ...env });
}

async function nothingIsTaken(
  { gateway, accounts: books }: TestGateway,
): Promise<void> {
  assert.equal(gateway.concurrency.inUse(), 0);
  assert.equal(gateway.activeCalls.size, 0);
  await books.flush();
  const account = await books.admin.accounts.get("default");
  assert.deepEqual([account.reservedMicroUsd, account.openRequests], [0, 0]);
}

/** Makes a call, which `leave` ends; resolves with its line of the ledger. */
async function callAndLeave(
  { gateway, upstream }: HostileSetup,
  pair: FormatPair,
  stream: boolean,
  leave: (exchange: RawRequest, caller: RawClient) => Promise<void>,
): Promise<LedgerEntry> {
  const before = gateway.logged.length;
  const asked = upstream.next();
  using caller = await RawClient.connect(gateway);
  await caller.post(pair.path, requestBody(pair, "Hi", stream));
  const exchange = await withTimeout(asked, "the upstream's request");
  await leave(exchange, caller);
  const { request_id } = await withTimeout(
    gateway.logEntry((entry) => gateway.logged.indexOf(entry) >= before),
    "the line in the log",
  );
  const entry = await ledgerEntryOf(gateway, request_id);
  // The gateway gives an upstream that has sent all a second to end its body.
  await withTimeout(
    exchange.socket.closed,
    "the close of the upstream's connection",
  );
  return entry;
}

async function leaveAt(
  bench: HostileSetup,
  pair: FormatPair,
  phase: Phase,
  leave: Leave,
): Promise<void> {
  const entry = await callAndLeave(
    bench,
    pair,
    phase.stream,
    async (exchange, caller) => {
      await phase.until(exchange, caller, pair);
      leave(caller);
    },
  );
  const { ended, figures, estimated } = phase.bill(pair.upstream);
  assert.equal(entry.ended, ended);
  assert.equal(entry.estimated, estimated);
  if (figures === undefined) assert.equal(entry.microUsd, 0);
  else {
    const usage = billedUsage(entry);
    assert.deepEqual({ ...usage, ...figures }, usage);
    assert.ok(entry.inputTokens > 0 && entry.microUsd < 0);
  }
  await nothingIsTaken(bench.gateway);
}

for (const phase of PHASES) {
  Deno.test(`a client disconnects ${phase.name}`, (t) =>
    withBench(async (bench) => {
      for (const pair of FORMAT_PAIRS) {
        for (const [how, leave] of LEAVES) {
          await t.step(
            `${how}: ${pair.path} from ${pair.upstream}`,
            () => leaveAt(bench, pair, phase, leave),
          );
        }
      }
    }, phase.env));
}

Deno.test("a client that disconnects with the last byte has a complete answer, even if the upstream never ends its body", (t) =>
  withBench(async (bench) => {
    // In generate content the end of the body is the only end.
    for (
      const pair of FORMAT_PAIRS.filter((one) => one.upstream !== "gemini")
    ) {
      await t.step(`${pair.path} from ${pair.upstream}`, async () => {
        const entry = await callAndLeave(
          bench,
          pair,
          true,
          async ({ socket }, caller) => {
            const frames = framesOf("text", pair.upstream).map(chunk);
            await socket.send(STREAM_HEAD + frames.join(""));
            await caller.until(/event: message_stop\n.*\n\n|\[DONE\]\n\n/);
            caller.close();
          },
        );
        assert.equal(entry.ended, "complete");
        assert.equal(entry.outputTokens, 12);
        assert.equal(entry.estimated, false);
      });
    }
  }));

Deno.test("a client that disconnects after its answer leaves the upstream's connection usable", (t) =>
  withBench(async ({ gateway, upstream }) => {
    for (const [n, pair] of FORMAT_PAIRS.entries()) {
      await t.step(`${pair.path} from ${pair.upstream}`, async () => {
        upstream.answer(({ socket }) =>
          socket.send(
            STREAM_HEAD + framesOf("text", pair.upstream).map(chunk).join("") +
              LAST_CHUNK,
          )
        );
        using caller = await RawClient.connect(gateway);
        await caller.post(pair.path, requestBody(pair, "Hi", true));
        assert.equal((await caller.answer())?.status, 200);
        caller.close();
        assert.equal(upstream.requests[n]?.connection, 1);
      });
    }
  }));

Deno.test("a client that stops reading an endless answer and then disconnects closes the upstream's connection", (t) =>
  withBench(async (bench) => {
    for (const pair of FORMAT_PAIRS) {
      await t.step(`${pair.path} from ${pair.upstream}`, async () => {
        const entry = await callAndLeave(
          bench,
          pair,
          true,
          async ({ socket }, caller) => {
            const frames = framesOf("text", pair.upstream);
            const at = pair.upstream === "gemini" ? 0 : 3;
            await socket.send(
              STREAM_HEAD + frames.slice(0, at + 1).map(chunk).join(""),
            );
            await caller.until(/Hello/);
            caller.socket.pause();
            const more = chunk((frames[at] ?? "").repeat(1000));
            let sent = 0;
            // Until every buffer on the way is full: then a write does not settle.
            for (;;) {
              const taken = await Promise.race([
                socket.send(more).then(() => true),
                new Promise<false>((resolve) =>
                  setTimeout(() => resolve(false), 300)
                ),
              ]);
              if (!taken) break;
              sent += more.length;
              assert.ok(sent < 100_000_000, "the gateway buffers everything");
            }
            caller.socket.reset();
          },
        );
        assert.equal(entry.ended, "caller_left");
      });
    }
  }));

Deno.test("a client that disconnects inside its request is not in the ledger and holds no concurrency slot", (t) =>
  withBench(async ({ gateway, upstream }) => {
    const body = JSON.stringify(
      requestBody({ path: "/v1/messages", model: "vendorb-5.5" }, "Hi", true),
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
          using caller = await RawClient.connect(gateway);
          await caller.send(piece);
          leave(caller);
        });
      }
    }
    upstream.answer(({ socket }) =>
      socket.send(head({ "content-length": "0" }, "400 No"))
    );
    using next = await RawClient.connect(gateway);
    await next.post("/v1/messages", body);
    assert.equal((await next.answer())?.status, 400);
    assert.equal(upstream.requests.length, 1);
  }));
