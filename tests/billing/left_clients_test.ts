/**
 * Clients that leave before the upstream reports its usage: they are charged for what was generated
 * until then, by the upstream's own figure where it arrives soon after, else by an estimate that
 * has the hidden reasoning in it.
 */
import assert from "node:assert/strict";
import type { LedgerEntry } from "../../gateway/accounts/mod.ts";
import { type FakeClock, fakeClock } from "../support/fake_clock.ts";
import { openSocket } from "../support/clients/socket_client.ts";
import { ledgerEntryOf } from "../support/tables/billing.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";
import {
  type RawRequest,
  type RawUpstream,
  startRawUpstream,
} from "../support/upstreams/raw_upstream.ts";
import {
  PROMPT_TOKENS,
  SILENT_FRAMES,
  type SilentFrames,
} from "../support/upstreams/silent_frames.ts";
import {
  chunk,
  LAST_CHUNK,
  STREAM_HEAD,
  wholeAnswer,
  wholeHead,
} from "../support/upstreams/upstream_bytes.ts";
import { until } from "../support/until.ts";
import { withTimeout } from "../support/with_timeout.ts";

const GRACE_MS = 2_000;
const TEXT = "The answer is 42";
const TEXT_TOKENS = 4;

interface Entrance {
  readonly name: string;
  readonly path: string;
  readonly frames: SilentFrames;
  readonly body: Readonly<Record<string, unknown>>;
}

const messages = [{ role: "user", content: "Hi" }];

const RESPONSES: Entrance = {
  name: "Responses",
  path: "/v1/responses",
  frames: SILENT_FRAMES.responses,
  body: { model: "vendorb-5", input: "Hi" },
};

/** Streams of upstreams that end a reply which is cancelled, by client format. */
const ENTRANCES: readonly Entrance[] = [
  {
    name: "messages",
    path: "/v1/messages",
    frames: SILENT_FRAMES.messages,
    body: {
      model: "vendora-opus-4-8",
      max_tokens: 30_000,
      thinking: { type: "adaptive" },
      messages,
    },
  },
  {
    name: "messages from chat completions",
    path: "/v1/messages",
    frames: SILENT_FRAMES.chat,
    body: { model: "vendorb-5", max_tokens: 30_000, messages },
  },
  {
    name: "chat completions",
    path: "/v1/chat/completions",
    frames: SILENT_FRAMES.chat,
    body: { model: "vendorb-5", messages },
  },
  RESPONSES,
  {
    name: "generate content from chat completions",
    path: "/v1beta/models/vendorb-5:streamGenerateContent?alt=sse",
    frames: SILENT_FRAMES.chat,
    body: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
  },
];

/** The reply of every call is read to its end there, because it is billed. */
const BILLING: Entrance = {
  name: "generate content",
  path: "/v1beta/models/vendorc-3-pro:streamGenerateContent?alt=sse",
  frames: SILENT_FRAMES.gemini,
  body: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
};

const EMBEDDING_MODEL = JSON.stringify({
  models: {
    embedder: {
      vendor: "vendorb",
      upstream_model: "m",
      operations: ["embeddings"],
      price: { input: 20_000, output: 0 },
    },
  },
});

const EMBEDDINGS: Entrance = {
  name: "embeddings",
  path: "/v1/embeddings",
  frames: SILENT_FRAMES.chat,
  body: { model: "embedder", input: "Some words." },
};

/** A gateway whose clock the test advances. */
interface Setup {
  readonly gateway: TestGateway;
  readonly upstream: RawUpstream;
  readonly clock: FakeClock;
}

async function withSetup(
  run: (setup: Setup) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
  configFile = "{}",
): Promise<void> {
  const clock = fakeClock();
  await using upstream = await startRawUpstream();
  await using gateway = await startTestGateway({
    now: clock.now,
    timers: clock.timers,
    configFile,
    env: {
      GATEWAY_PING_SECONDS: "3600",
      GATEWAY_TOTAL_TIMEOUT_SECONDS: "86400",
      ...env,
    },
    access: Object.fromEntries(
      Object.entries(upstream.vendors).map((
        [name, { dialects: _, ...access }],
      ) => [name, access]),
    ),
  });
  await run({ gateway, upstream, clock });
  assert.equal(gateway.gateway.concurrency.inUse(), 0);
  assert.equal(gateway.gateway.activeCalls.size, 0);
  await gateway.accounts.flush();
  const account = await gateway.accounts.admin.accounts.get("default");
  assert.deepEqual([account.reservedMicroUsd, account.openRequests], [0, 0]);
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
}

const chunks = (frames: readonly string[]): string =>
  frames.map(chunk).join("");

/** A call under way at its upstream. */
interface RunningCall {
  readonly exchange: RawRequest;
  leave(): void;
  /** Resolves once the client has this text. */
  received(text: string): Promise<void>;
  /** Resolves at the end of the reply. */
  ended(): Promise<void>;
  /** The call's entry of the ledger. */
  entry(): Promise<LedgerEntry>;
}

async function start(
  { gateway, upstream }: Setup,
  { path, body }: Entrance,
  stream = true,
): Promise<RunningCall> {
  const from = gateway.logged.length;
  const leaving = new AbortController();
  const asked = upstream.next();
  const isGemini = path.includes("streamGenerateContent");
  const answer = gateway.post(
    stream
      ? path
      : path.replace(":streamGenerateContent?alt=sse", ":generateContent"),
    isGemini ? body : { ...body, stream },
    {},
    leaving.signal,
  );
  answer.catch(() => {});
  const exchange = await withTimeout(asked, "the upstream's request");
  let reader: ReadableStreamDefaultReader<string> | undefined;
  let text = "";
  const read = async (isEnough: () => boolean): Promise<void> => {
    reader ??= (await answer).body?.pipeThrough(new TextDecoderStream())
      .getReader();
    while (!isEnough()) {
      const { done, value = "" } = await reader?.read() ?? { done: true };
      if (done) return;
      text += value;
    }
  };
  return {
    exchange,
    leave: () => leaving.abort(),
    received: (wanted) =>
      withTimeout(read(() => text.includes(wanted)), "the client's text"),
    ended: () => withTimeout(read(() => false), "the end of the reply"),
    async entry() {
      const { request_id } = await withTimeout(
        gateway.logEntry((entry) => gateway.logged.indexOf(entry) >= from),
        "the line in the log",
      );
      return await ledgerEntryOf(gateway, request_id);
    },
  };
}

/** A stream whose model reasons for some time, until the client has its text. */
async function startText(
  setup: Setup,
  entrance: Entrance,
  silentMs: number,
): Promise<RunningCall> {
  const call = await start(setup, entrance);
  const { socket } = call.exchange;
  await socket.send(STREAM_HEAD + chunks(entrance.frames.start));
  setup.clock.advance(silentMs);
  await socket.send(chunk(entrance.frames.text(TEXT)));
  await call.received(TEXT);
  return call;
}

/** Leaves, and waits until the gateway has noticed. */
async function leave({ gateway }: Setup, call: RunningCall): Promise<void> {
  const { leftCalls } = gateway.gateway;
  const before = leftCalls.count;
  call.leave();
  await withTimeout(
    until(() => leftCalls.count > before),
    "the gateway to read on",
  );
}

/** A reply that its client reads to the end: the gateway learns the model's speed. */
async function measure(
  setup: Setup,
  entrance: Entrance,
  silentMs: number,
  outputTokens: number,
): Promise<void> {
  const call = await startText(setup, entrance, silentMs);
  await call.exchange.socket.send(
    chunks(entrance.frames.end(outputTokens)) + LAST_CHUNK,
  );
  await call.ended();
  const entry = await call.entry();
  assert.deepEqual([entry.ended, entry.outputTokens], [
    "complete",
    outputTokens,
  ]);
}

function assertNear(charged: number, generated: number): void {
  assert.ok(
    Math.abs(charged - generated) <= 0.3 * generated,
    `${charged} charged of ${generated}`,
  );
}

/** Runs a step with a gateway of its own for each entrance. */
async function eachEntrance(
  t: Deno.TestContext,
  run: (setup: Setup, entrance: Entrance) => Promise<void>,
): Promise<void> {
  for (const entrance of ENTRANCES) {
    await t.step(
      entrance.name,
      () => withSetup((setup) => run(setup, entrance)),
    );
  }
}

Deno.test("a client that leaves after the text is charged by the upstream's own figure", (t) =>
  eachEntrance(t, async (setup, entrance) => {
    const { frames } = entrance;
    const call = await startText(setup, entrance, 400);
    await leave(setup, call);
    setup.clock.advance(300);
    await call.exchange.socket.send(chunks(frames.end(20_000)) + LAST_CHUNK);
    const entry = await call.entry();
    assert.equal(entry.ended, "caller_left");
    assert.equal(entry.estimated, false);
    assert.deepEqual([entry.inputTokens, entry.outputTokens], [
      PROMPT_TOKENS,
      20_000,
    ]);
  }));

Deno.test("without a figure, silent reasoning is estimated by the model's measured speed", async (t) => {
  for (const seconds of [1, 10, 60]) {
    for (const rate of [20, 100, 400]) {
      await t.step(
        `${seconds} s at ${rate} tokens a second`,
        (t) =>
          eachEntrance(t, async (setup, entrance) => {
            const silentMs = seconds * 1000;
            const generated = rate * seconds + TEXT_TOKENS;
            await measure(setup, entrance, silentMs, generated);
            const call = await startText(setup, entrance, silentMs);
            await leave(setup, call);
            setup.clock.advance(GRACE_MS);
            const entry = await call.entry();
            assert.equal(entry.ended, "caller_left");
            assert.equal(entry.estimated, true);
            // The upstream went on until it was cancelled.
            const more = rate * GRACE_MS / 1000;
            assertNear(entry.outputTokens, generated + more);
            assert.ok(entry.inputTokens > 0);
            await call.exchange.socket.closed;
          }),
      );
    }
  }
});

Deno.test("a client that stops a long answer is not charged for the rest", (t) =>
  eachEntrance(t, async (setup, entrance) => {
    const { frames } = entrance;
    await measure(setup, entrance, 1_000, 104);
    const call = await startText(setup, entrance, 1_000);
    await leave(setup, call);
    const rest = frames.text(" and so on".repeat(40));
    await call.exchange.socket.send(chunk(rest));
    const entry = await call.entry();
    assert.equal(entry.ended, "caller_left");
    assertNear(entry.outputTokens, 104);
    await call.exchange.socket.closed;
  }));

Deno.test("a client that leaves during the reasoning is charged for it", (t) =>
  eachEntrance(t, async (setup, entrance) => {
    const { frames } = entrance;
    await measure(setup, entrance, 10_000, 1_004);
    const call = await start(setup, entrance);
    await call.exchange.socket.send(STREAM_HEAD + chunks(frames.start));
    setup.clock.advance(10_000);
    await leave(setup, call);
    setup.clock.advance(GRACE_MS);
    const entry = await call.entry();
    assert.equal(entry.ended, "caller_left");
    assertNear(entry.outputTokens, 1_200);
    await call.exchange.socket.closed;
  }));

Deno.test("a whole call whose client leaves is charged by the figure, or by its time", (t) =>
  eachEntrance(t, async (setup, entrance) => {
    const { frames } = entrance;
    const answered = await start(setup, entrance, false);
    setup.clock.advance(3_500);
    await leave(setup, answered);
    setup.clock.advance(500);
    await answered.exchange.socket.send(
      wholeAnswer(JSON.stringify(frames.whole(TEXT, 400))),
    );
    const charged = await answered.entry();
    assert.deepEqual(
      [charged.ended, charged.estimated, charged.outputTokens],
      ["caller_left", false, 400],
    );
    // 400 tokens in 4 s: that was measured.
    const call = await start(setup, entrance, false);
    await call.exchange.socket.send(wholeHead(1_000));
    setup.clock.advance(8_000);
    await leave(setup, call);
    setup.clock.advance(GRACE_MS);
    const entry = await call.entry();
    assert.deepEqual([entry.ended, entry.estimated], ["caller_left", true]);
    assertNear(entry.outputTokens, 1_000);
    assert.ok(entry.inputTokens > 0);
    await call.exchange.socket.closed;
  }));

Deno.test("an upstream that bills a cancelled reply is read to its end, and the client charged until it left", () =>
  withSetup(async (setup) => {
    const call = await startText(setup, BILLING, 400);
    await leave(setup, call);
    const { socket } = call.exchange;
    const rest = "x".repeat(4_000);
    await socket.send(chunk(BILLING.frames.text(rest)));
    setup.clock.advance(50_000);
    await socket.send(chunks(BILLING.frames.end(21_000)) + LAST_CHUNK);
    const entry = await call.entry();
    assert.equal(entry.ended, "caller_left");
    assert.deepEqual([entry.inputTokens, entry.outputTokens], [
      PROMPT_TOKENS,
      20_000,
    ]);
  }));

Deno.test("an upstream that bills a cancelled reply and never ends it is cut at the reservation", () =>
  withSetup(async (setup) => {
    const call = await startText(setup, {
      ...BILLING,
      body: { ...BILLING.body, generationConfig: { maxOutputTokens: 100 } },
    }, 400);
    await leave(setup, call);
    const { socket } = call.exchange;
    const rest = chunk(BILLING.frames.text("x".repeat(400)));
    await socket.send(rest.repeat(3));
    const entry = await call.entry();
    assert.equal(entry.ended, "caller_left");
    await socket.closed;
  }));

Deno.test("a client that leaves is charged nothing, and called for no more, if its upstream refuses", () =>
  withSetup(async (setup) => {
    const { gateway, upstream } = setup;
    const [, entrance = BILLING] = ENTRANCES;
    const call = await start(setup, entrance, false);
    await leave(setup, call);
    await call.exchange.socket.send(
      wholeAnswer(
        '{"error":{"message":"busy","type":"server_error"}}',
        "application/json",
        "503 Service Unavailable",
      ),
    );
    const entry = await call.entry();
    assert.deepEqual([entry.ended, entry.microUsd], ["caller_left", 0]);
    assert.equal(gateway.logged.at(-1)?.attempts, 1);
    assert.equal(upstream.requests.length, 1);
  }));

Deno.test("a web socket that closes after the text leaves its turn to the upstream's own figure", async (t) => {
  const { frames } = RESPONSES;
  for (const reports of [true, false]) {
    await t.step(
      reports ? "with a figure" : "without one",
      () =>
        withSetup(async (setup) => {
          const { gateway, upstream, clock } = setup;
          await measure(setup, RESPONSES, 1_000, 104);
          const client = await openSocket(gateway.url);
          const asked = upstream.next();
          client.send({
            type: "response.create",
            ...RESPONSES.body,
            store: false,
          });
          const { socket } = await withTimeout(asked, "the upstream's request");
          await socket.send(STREAM_HEAD + chunks(frames.start));
          clock.advance(1_000);
          await socket.send(chunk(frames.text(TEXT)));
          await client.until(({ type }) =>
            type === "response.output_text.delta"
          );
          await client.close();
          const { leftCalls, recentReplies } = gateway.gateway;
          await withTimeout(
            until(() => leftCalls.count > 0),
            "the gateway to read on",
          );
          if (reports) {
            await socket.send(chunks(frames.end(20_000)) + LAST_CHUNK);
          } else clock.advance(GRACE_MS);
          const { request_id } = await withTimeout(
            gateway.logEntry(({ ended }) => ended === "caller_left"),
            "the line in the log",
          );
          const entry = await ledgerEntryOf(gateway, request_id);
          assert.equal(entry.estimated, !reports);
          if (reports) assert.equal(entry.outputTokens, 20_000);
          else assertNear(entry.outputTokens, 304);
          assert.equal(recentReplies.bytes, 0);
        }),
    );
  }
});

Deno.test("a client that leaves a stream whose upstream then fails is charged for the text alone", () =>
  withSetup(async (setup) => {
    const [, , entrance = BILLING] = ENTRANCES;
    await measure(setup, entrance, 1_000, 104);
    const call = await startText(setup, entrance, 1_000);
    await leave(setup, call);
    call.exchange.socket.reset();
    const entry = await call.entry();
    assert.deepEqual([entry.ended, entry.outputTokens], [
      "caller_left",
      TEXT_TOKENS,
    ]);
  }));

Deno.test("a client that leaves a call for embeddings is charged for its prompt, or by the figure", async (t) => {
  for (const reports of [true, false]) {
    await t.step(
      reports ? "with a figure" : "without one",
      () =>
        withSetup(
          async (setup) => {
            const call = await start(setup, EMBEDDINGS, false);
            await leave(setup, call);
            if (reports) {
              await call.exchange.socket.send(wholeAnswer(JSON.stringify({
                object: "list",
                model: "m",
                data: [{ object: "embedding", index: 0, embedding: [0.5] }],
                usage: { prompt_tokens: 7, total_tokens: 7 },
              })));
            } else setup.clock.advance(GRACE_MS);
            const entry = await call.entry();
            assert.deepEqual([entry.ended, entry.estimated], [
              "caller_left",
              !reports,
            ]);
            if (reports) assert.equal(entry.inputTokens, 7);
            else assert.ok(entry.inputTokens > 0);
          },
          {},
          EMBEDDING_MODEL,
        ),
    );
  }
});

Deno.test("GATEWAY_LEFT_CLIENT_SECONDS=0 cancels at once", () =>
  withSetup(async (setup) => {
    const [entrance = BILLING] = ENTRANCES;
    const call = await startText(setup, entrance, 1_000);
    call.leave();
    const entry = await call.entry();
    assert.deepEqual([entry.ended, entry.estimated], ["caller_left", true]);
    await call.exchange.socket.closed;
  }, { GATEWAY_LEFT_CLIENT_SECONDS: "0" }));

Deno.test("clients that leave hold a part of the slots at most, and no connection once they are charged", () =>
  withSetup(async (setup) => {
    const { gateway } = setup;
    const [entrance = BILLING] = ENTRANCES;
    // Of eight slots, two may be held without a client, and one by a key.
    const first = await startText(setup, entrance, 1_000);
    await leave(setup, first);
    const second = await startText(setup, entrance, 1_000);
    second.leave();
    assert.equal((await second.entry()).ended, "caller_left");
    await second.exchange.socket.closed;
    assert.equal(gateway.gateway.concurrency.inUse(), 1);
    setup.clock.advance(GRACE_MS);
    assert.equal((await first.entry()).ended, "caller_left");
    await first.exchange.socket.closed;
  }, { GATEWAY_MAX_CONCURRENT: "8" }));
