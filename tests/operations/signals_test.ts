/**
 * The process at a signal: it accepts no further calls, finishes running ones or ends them with an
 * error, keeps its ledger exact, and exits with 0.
 */
import assert from "node:assert/strict";
import { openAdmin } from "../../gateway/accounts/repositories/admin.ts";
import type { LedgerEntry } from "../../gateway/accounts/mod.ts";
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import { requestText } from "../support/tables/hostile_bodies.ts";
import { type Program, startProgram } from "../support/programs/program.ts";
import { RawClient } from "../support/clients/raw_client.ts";
import {
  type RawUpstream,
  startRawUpstream,
} from "../support/upstreams/raw_upstream.ts";
import { openSocket } from "../support/clients/socket_client.ts";
import { withTimeout } from "../support/with_timeout.ts";
import { TEST_KEY } from "../support/test_gateway.ts";
import {
  chunk,
  framesOf,
  LAST_CHUNK,
  STREAM_HEAD,
} from "../support/upstreams/upstream_bytes.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const PATH = "/v1/messages";
const STREAM = requestText("vendorb-5", ',"stream":true');
const WHOLE = requestText("vendorb-5");
const FRAMES = framesOf("text", "chat").map(chunk);
const SOME = STREAM_HEAD + FRAMES.slice(0, 4).join("");
const REST = FRAMES.slice(4).join("") + LAST_CHUNK;

/**
 * Runs the gateway in front of an upstream on plain TCP. Afterwards it must have exited with 0, and
 * its ledger must balance.
 */
async function withProgram(
  settings: Readonly<Record<string, string>>,
  run: (program: Program, upstream: RawUpstream) => Promise<void>,
  check: (charges: readonly LedgerEntry[]) => void,
): Promise<void> {
  await using folder = await temporaryFolder();
  await using upstream = await startRawUpstream();
  {
    await using program = await startProgram({
      folder: folder.path,
      env: {
        VENDORA_API_KEY: "k",
        VENDORA_BASE_URL: upstream.vendors.vendora.baseUrl,
        VENDORB_API_KEY: "k",
        VENDORB_BASE_URL: upstream.vendors.vendorb.baseUrl,
        GATEWAY_KEY: TEST_KEY,
        ...settings,
      },
    });
    await run(program, upstream);
    assert.equal(
      await withTimeout(program.ended, "the end of the process"),
      0,
      program.output(),
    );
    assert.doesNotMatch(program.output(), /error: |Uncaught/);
  }
  await using store = await openStore(
    `sqlite:${folder.path}/data/gateway.sqlite3`,
  );
  const admin = await openAdmin(store, () => true);
  const charges: LedgerEntry[] = [];
  for await (const page of admin.allLedger({ kind: "charge" })) {
    charges.push(...page);
  }
  check(charges);
  assert.deepEqual(await store.read("SELECT * FROM open_calls"), []);
  assert.deepEqual(await admin.audit(), []);
}

/** Resolves once connections are refused. */
async function refusesAll(program: Program): Promise<void> {
  for (;;) {
    try {
      (await RawClient.connect(program)).close();
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

Deno.test("at a signal new clients are refused, a stream is finished, and further signals do no harm", () =>
  withProgram({ GATEWAY_DRAIN_SECONDS: "20" }, async (program, upstream) => {
    const arrived = upstream.next();
    using caller = await RawClient.connect(program);
    using idle = await RawClient.connect(program);
    await idle.send("GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n");
    assert.equal((await idle.answer())?.status, 200);
    await caller.post(PATH, STREAM);
    const { socket } = await withTimeout(arrived, "the call");
    await socket.send(SOME);
    await caller.until(/Hello/);
    program.signal("SIGTERM");
    await withTimeout(refusesAll(program), "the refusal of new clients");
    for (const signal of ["SIGTERM", "SIGINT", "SIGTERM"] as const) {
      program.signal(signal);
    }
    // An idle connection is closed or gets a 503.
    await idle.send("GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n");
    const late = await idle.answer().catch(() => undefined);
    assert.ok(late === undefined || late.status === 503);
    await socket.send(REST);
    const answer = await caller.answer();
    assert.equal(answer?.status, 200);
    assert.match(answer?.body ?? "", / dog[^]*event: message_stop/);
  }, (charges) => {
    assert.deepEqual(charges.map(({ ended }) => ended), ["complete"]);
    assert.equal(charges[0]?.outputTokens, 12);
  }));

Deno.test("at the drain deadline every call ends with an error, streamed or waiting, and pays for the output so far", () =>
  withProgram({ GATEWAY_DRAIN_SECONDS: "0.3" }, async (program, upstream) => {
    const first = upstream.next();
    using streaming = await RawClient.connect(program);
    await streaming.post(PATH, STREAM);
    const { socket } = await withTimeout(first, "the streamed call");
    await socket.send(SOME);
    await streaming.until(/Hello/);
    const second = upstream.next();
    using waiting = await RawClient.connect(program);
    await waiting.post(PATH, WHOLE);
    const whole = await withTimeout(second, "the whole call");
    program.signal("SIGTERM");
    assert.match((await streaming.answer())?.body ?? "", /event: error/);
    assert.equal((await waiting.answer())?.status, 503);
    await withTimeout(
      socket.closed,
      "the close of the first upstream connection",
    );
    await withTimeout(whole.socket.closed, "the close of the second");
  }, (charges) => {
    const byEnd = charges.toSorted((a, b) => a.microUsd - b.microUsd);
    assert.deepEqual(byEnd.map(({ ended }) => ended), ["failed", "refused"]);
    assert.ok(byEnd[0] !== undefined && byEnd[0].microUsd < 0);
    assert.equal(byEnd[1]?.microUsd, 0);
  }));

Deno.test("a client that does not read and one that is still sending do not keep the process from exiting", () =>
  withProgram({ GATEWAY_DRAIN_SECONDS: "0.3" }, async (program, upstream) => {
    const arrived = upstream.next();
    using stalled = await RawClient.connect(program);
    await stalled.post(PATH, STREAM);
    const { socket } = await withTimeout(arrived, "the call");
    await socket.send(SOME);
    await stalled.until(/Hello/);
    stalled.socket.pause();
    // More than all buffers on the way can hold, so that the error at the end cannot be delivered.
    void socket.send(chunk((framesOf("text", "chat")[2] ?? "").repeat(20_000)));
    using slow = await RawClient.connect(program);
    await slow.send(
      `POST ${PATH} HTTP/1.1\r\nhost: a\r\nx-api-key: ${TEST_KEY}\r\ncontent-length: 1000\r\n\r\n{`,
    );
    using silent = await RawClient.connect(program);
    await silent.send("POST /v1/mess");
    program.signal("SIGTERM");
    await withTimeout(program.ended, "the end of the process");
  }, (charges) => {
    assert.deepEqual(charges.map(({ ended }) => ended), ["failed"]);
  }));

Deno.test("at a signal a web socket finishes its reply and ends, and an idle one ends at once", () =>
  withProgram({}, async (program, upstream) => {
    const idle = await openSocket(program.url);
    const busy = await openSocket(program.url);
    const asked = upstream.next();
    const model = "vendora-opus-4-8";
    busy.send({ type: "response.create", model, input: "Hi." });
    const { socket } = await withTimeout(asked, "the call");
    const frames = framesOf("text", "messages").map(chunk);
    await socket.send(STREAM_HEAD + frames.slice(0, 4).join(""));
    await busy.until(({ type }) => type === "response.created");
    program.signal("SIGTERM");
    assert.equal((await withTimeout(idle.closed, "the close")).code, 1001);
    await socket.send(frames.slice(4).join("") + LAST_CHUNK);
    await busy.until(({ type }) => type === "response.completed");
    assert.equal((await withTimeout(busy.closed, "the close")).code, 1001);
  }, (charges) => assert.equal(charges.length, 1)));

Deno.test("a signal ends an idle gateway at once", () =>
  withProgram({ GATEWAY_DRAIN_SECONDS: "20" }, async (program) => {
    program.signal("SIGINT");
    assert.equal(await withTimeout(program.ended, "the end of the process"), 0);
  }, (charges) => assert.deepEqual(charges, [])));

Deno.test("during the delay before the end, calls are served and their connections closed, and the process is not ready", () =>
  withProgram(
    { GATEWAY_SHUTDOWN_DELAY_SECONDS: "3" },
    async (program, upstream) => {
      using idle = await RawClient.connect(program);
      await idle.send("GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n");
      assert.equal((await idle.answer())?.headers.get("connection"), undefined);
      program.signal("SIGTERM");
      for (;;) {
        using probe = await RawClient.connect(program);
        await probe.send("GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n");
        const answer = await probe.answer();
        if (answer?.status === 200) continue;
        assert.equal(answer?.status, 503);
        assert.equal(answer.headers.get("connection"), "close");
        break;
      }
      const arrived = upstream.next();
      await idle.post(PATH, STREAM);
      const { socket } = await withTimeout(arrived, "the call");
      await socket.send(SOME + REST);
      const answer = await idle.answer();
      assert.equal(answer?.status, 200);
      assert.equal(answer.headers.get("connection"), "close");
      assert.match(answer.body, /event: message_stop/);
      assert.equal(await idle.answer(), undefined);
    },
    (charges) => {
      assert.deepEqual(charges.map(({ ended }) => ended), ["complete"]);
    },
  ));
