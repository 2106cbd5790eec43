/** The program at a signal: it takes in nothing more, finishes or tells what runs, keeps its books, and ends with 0. */
import assert from "node:assert/strict";
import { openAdmin } from "../gateway/accounts/admin.ts";
import type { LedgerEntry } from "../gateway/accounts/mod.ts";
import { openStore } from "../gateway/accounts/open_store.ts";
import { asking } from "./hostile_bodies.ts";
import { type Program, startProgram } from "./program.ts";
import { RawCaller } from "./raw_caller.ts";
import { type RawUpstream, startRawUpstream } from "./raw_upstream.ts";
import { soon } from "./soon.ts";
import { TEST_KEY } from "./test_gateway.ts";
import { chunk, framesOf, LAST_CHUNK, STREAM_HEAD } from "./upstream_bytes.ts";

const PATH = "/v1/messages";
const STREAM = asking("vendorb-5", ',"stream":true');
const WHOLE = asking("vendorb-5");
const FRAMES = framesOf("text", "chat").map(chunk);
const SOME = STREAM_HEAD + FRAMES.slice(0, 4).join("");
const REST = FRAMES.slice(4).join("") + LAST_CHUNK;

/** Runs a program in front of an upstream on bare TCP; then it must have ended with 0 and its books must balance. */
async function withProgram(
  drainSeconds: string,
  run: (program: Program, upstream: RawUpstream) => Promise<void>,
  check: (charges: readonly LedgerEntry[]) => void,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const upstream = await startRawUpstream();
  try {
    {
      await using program = await startProgram({
        folder,
        env: {
          VENDORB_API_KEY: "k",
          VENDORB_BASE_URL: upstream.vendors.vendorb.baseUrl,
          GATEWAY_KEY: TEST_KEY,
          GATEWAY_DRAIN_SECONDS: drainSeconds,
        },
      });
      await run(program, upstream);
      assert.equal(await soon(program.ended, "the end"), 0, program.output());
      assert.doesNotMatch(program.output(), /error: |Uncaught/);
    }
    const store = await openStore(`sqlite:${folder}/data/gateway.sqlite3`);
    try {
      const admin = await openAdmin(store, () => true);
      const charges: LedgerEntry[] = [];
      for await (const page of admin.allLedger({ kind: "charge" })) {
        charges.push(...page);
      }
      check(charges);
      assert.deepEqual(await store.read("SELECT * FROM reservations"), []);
      assert.deepEqual(await admin.audit(), []);
    } finally {
      await store.close();
    }
  } finally {
    await upstream.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Settles once nobody can connect any more. */
async function refusesAll(program: Program): Promise<void> {
  for (;;) {
    try {
      (await RawCaller.connect(program)).close();
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

Deno.test("at a signal new callers are refused, a stream is finished, and more signals do no harm", () =>
  withProgram("20", async (program, upstream) => {
    const asked = upstream.next();
    using caller = await RawCaller.connect(program);
    using resting = await RawCaller.connect(program);
    await resting.send("GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n");
    assert.equal((await resting.answer())?.status, 200);
    await caller.post(PATH, STREAM);
    const { socket } = await soon(asked, "the call");
    await socket.send(SOME);
    await caller.until(/Hello/);
    program.signal("SIGTERM");
    await soon(refusesAll(program), "the refusal of new callers");
    for (const signal of ["SIGTERM", "SIGINT", "SIGTERM"] as const) {
      program.signal(signal);
    }
    // A connection that rests is closed, or told.
    await resting.send("GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n");
    const told = await resting.answer().catch(() => undefined);
    assert.ok(told === undefined || told.status === 503);
    await socket.send(REST);
    const answer = await caller.answer();
    assert.equal(answer?.status, 200);
    assert.match(answer?.body ?? "", / dog[^]*event: message_stop/);
  }, (charges) => {
    assert.deepEqual(charges.map(({ ended }) => ended), ["complete"]);
    assert.equal(charges[0]?.outputTokens, 12);
  }));

Deno.test("at the deadline every call is told, streamed or waiting, and pays for what it got", () =>
  withProgram("0.3", async (program, upstream) => {
    const first = upstream.next();
    using streaming = await RawCaller.connect(program);
    await streaming.post(PATH, STREAM);
    const { socket } = await soon(first, "the streamed call");
    await socket.send(SOME);
    await streaming.until(/Hello/);
    const second = upstream.next();
    using waiting = await RawCaller.connect(program);
    await waiting.post(PATH, WHOLE);
    const whole = await soon(second, "the whole call");
    program.signal("SIGTERM");
    assert.match((await streaming.answer())?.body ?? "", /event: error/);
    assert.equal((await waiting.answer())?.status, 503);
    await soon(socket.closed, "the close of the first upstream connection");
    await soon(whole.socket.closed, "the close of the second");
  }, (charges) => {
    const byEnd = charges.toSorted((a, b) => a.microUsd - b.microUsd);
    assert.deepEqual(byEnd.map(({ ended }) => ended), ["failed", "refused"]);
    assert.ok(byEnd[0] !== undefined && byEnd[0].microUsd < 0);
    assert.equal(byEnd[1]?.microUsd, 0);
  }));

Deno.test("a caller that does not read, and one that is still sending, do not keep the program", () =>
  withProgram("0.3", async (program, upstream) => {
    const asked = upstream.next();
    using deaf = await RawCaller.connect(program);
    await deaf.post(PATH, STREAM);
    const { socket } = await soon(asked, "the call");
    await socket.send(SOME);
    await deaf.until(/Hello/);
    deaf.socket.pause();
    // More than any buffer on the way holds, so that the last words cannot arrive.
    void socket.send(chunk((framesOf("text", "chat")[2] ?? "").repeat(20_000)));
    using slow = await RawCaller.connect(program);
    await slow.send(
      `POST ${PATH} HTTP/1.1\r\nhost: a\r\nx-api-key: ${TEST_KEY}\r\ncontent-length: 1000\r\n\r\n{`,
    );
    using silent = await RawCaller.connect(program);
    await silent.send("POST /v1/mess");
    program.signal("SIGTERM");
    await soon(program.ended, "the end");
  }, (charges) => {
    assert.deepEqual(charges.map(({ ended }) => ended), ["failed"]);
  }));

Deno.test("a signal to a gateway that does nothing ends it at once", () =>
  withProgram("20", async (program) => {
    program.signal("SIGINT");
    assert.equal(await soon(program.ended, "the end"), 0);
  }, (charges) => assert.deepEqual(charges, [])));
