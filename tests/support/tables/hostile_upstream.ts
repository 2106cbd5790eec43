/**
 * Tests of hostile upstreams: a gateway in front of an upstream on plain TCP. Each row of a table
 * is one behaviour of the upstream, tried with every pair of formats, streamed and whole; after
 * each, the gateway must be in good order.
 */
import assert from "node:assert/strict";
import {
  type CallVariant,
  type CheckedReply,
  checkReply,
} from "../replies/check_reply.ts";
import {
  type RawRequest,
  type RawUpstream,
  startRawUpstream,
} from "../upstreams/raw_upstream.ts";
import { PATHS, type UpstreamFormat } from "./reply_script.ts";
import { withTimeout } from "../with_timeout.ts";
import {
  FORMAT_PAIRS,
  ledgerEntryOf,
  requestBody,
  requestIdOf,
} from "./billing.ts";
import { startTestGateway, type TestGateway } from "../test_gateway.ts";
import {
  framesOf,
  streamAnswer,
  wholeAnswer,
  wholeOf,
} from "../upstreams/upstream_bytes.ts";

export interface HostileSetup {
  /** Makes a single attempt per call. */
  readonly gateway: TestGateway;
  readonly upstream: RawUpstream;
}

export type Play = (
  exchange: RawRequest,
  asked: CallVariant,
) => Promise<void> | void;

interface ExpectedReply {
  readonly kind: CheckedReply["kind"] | readonly CheckedReply["kind"][];
  /** Status of a refusal; absent: 502. */
  readonly status?: number | "any";
  /** Text of a complete reply; absent: any text. */
  readonly text?: string;
}

export const TEXT = "Hello! The quick brown fox jumps over the lazy dog.";

export const VARIANTS: readonly CallVariant[] = FORMAT_PAIRS.flatMap((
  { path, upstream },
) =>
  [true, false].map((stream) => ({
    caller: path === PATHS.messages ? "messages" as const : "chat" as const,
    upstream,
    stream,
  }))
);

/** Runs a test with a gateway and its upstream, then audits the ledger. */
export async function withHostileUpstream(
  run: (bench: HostileSetup) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await using upstream = await startRawUpstream();
  await using gateway = await startTestGateway({
    // One attempt, so that each row tests one answer; failover has its own tests.
    env: { GATEWAY_MAX_ATTEMPTS: "1", ...env },
    access: upstream.vendors,
  });
  await run({ gateway, upstream });
  assert.deepEqual(await gateway.accounts.admin.audit(), []);
}

export function goodAnswer({ upstream, stream }: CallVariant): string {
  return stream
    ? streamAnswer(framesOf("text", upstream))
    : wholeAnswer(wholeOf("text", upstream));
}

/**
 * Makes one call while the upstream behaves as `play`. Checks the response against the client's
 * format and the ledger entry against the response.
 */
export async function playOnce(
  { gateway, upstream }: HostileSetup,
  asked: CallVariant,
  play: Play,
): Promise<CheckedReply> {
  upstream.answer((exchange) => play(exchange, asked));
  const response = await withTimeout(
    gateway.post(
      PATHS[asked.caller],
      requestBody(
        { path: pathOf(asked), model: modelOf(asked.upstream) },
        "Hi",
        asked.stream,
      ),
    ),
    "an answer",
  );
  const outcome = await withTimeout(
    checkReply(response, asked),
    "the answer's end",
  );
  const entry = await withTimeout(
    ledgerEntryOf(gateway, requestIdOf(response)),
    "the line in the ledger",
  );
  assert.equal(
    entry.ended,
    { complete: "complete", broken: "failed", refused: "refused" }[
      outcome.kind
    ],
  );
  assert.ok(entry.microUsd <= 0, "no reply credits the account");
  if (outcome.kind === "refused") assert.equal(entry.microUsd, 0);
  assert.equal(gateway.gateway.concurrency.inUse(), 0);
  assert.equal(gateway.gateway.activeCalls.size, 0);
  return outcome;
}

/** Makes the call in every variant, and after each a second call that the upstream answers well. */
export async function playEveryVariant(
  t: Deno.TestContext,
  bench: HostileSetup,
  name: string,
  play: Play,
  expected: ExpectedReply | ((asked: CallVariant) => ExpectedReply),
  ways: readonly CallVariant[] = VARIANTS,
): Promise<void> {
  for (const asked of ways) {
    const { caller, upstream, stream } = asked;
    await t.step(
      `${name}: ${caller} from ${upstream}, ${stream ? "streamed" : "whole"}`,
      async () => {
        const outcome = await playOnce(bench, asked, play);
        const { kind, status, text: text } = typeof expected === "function"
          ? expected(asked)
          : expected;
        const shown = `${outcome.kind} ${outcome.status}: ${
          outcome.body.slice(0, 2000)
        }`;
        assert.ok([kind].flat().includes(outcome.kind), shown);
        if (outcome.kind === "refused" && status !== "any") {
          assert.equal(outcome.status, status ?? 502, shown);
        }
        if (text !== undefined && outcome.kind === "complete") {
          assert.equal(outcome.text, text, shown);
        }
        if (outcome.kind === "broken") {
          assert.ok(TEXT.startsWith(outcome.text) || text === undefined, shown);
        }
        const next = await playOnce(
          bench,
          asked,
          ({ socket }) => socket.send(goodAnswer(asked)),
        );
        assert.deepEqual([next.kind, next.text], ["complete", TEXT]);
      },
    );
  }
}

function pathOf(
  { caller }: CallVariant,
): "/v1/messages" | "/v1/chat/completions" {
  return caller === "messages" ? "/v1/messages" : "/v1/chat/completions";
}

function modelOf(upstream: UpstreamFormat): string {
  const pair = FORMAT_PAIRS.find((one) => one.upstream === upstream);
  return pair?.model ?? "";
}

export interface HostileRow {
  readonly name: string;
  readonly play: Play;
  readonly expect: ExpectedReply | ((asked: CallVariant) => ExpectedReply);
  /** The variants to try; absent: all. */
  readonly variants?: readonly CallVariant[];
}

export const COMPLETE: ExpectedReply = { kind: "complete", text: TEXT };
/** A 502. */
export const REFUSED: ExpectedReply = { kind: "refused" };
/** A 502, or a stream that is cut short and ends with an error. */
export const CUT: ExpectedReply = { kind: ["broken", "refused"], text: TEXT };

/** A well-formed body, without HTTP framing. */
export function bodyOf({ upstream, stream }: CallVariant): string {
  return stream
    ? framesOf("text", upstream).join("")
    : wholeOf("text", upstream);
}

export function typeOf({ stream }: CallVariant): string {
  return stream ? "text/event-stream" : "application/json";
}

/** Sends bytes and leaves the connection open. */
export const sends: (
  make: (asked: CallVariant) => string | Uint8Array,
) => Play =
  (make: (asked: CallVariant) => string | Uint8Array): Play =>
  ({ socket }, asked) => socket.send(make(asked));

export const ends: (make: (asked: CallVariant) => string | Uint8Array) => Play =
  (make: (asked: CallVariant) => string | Uint8Array): Play =>
  async ({ socket }, asked) => {
    await socket.send(make(asked));
    socket.end();
  };

export const resets: (
  make: (asked: CallVariant) => string | Uint8Array,
) => Play =
  (make: (asked: CallVariant) => string | Uint8Array): Play =>
  async ({ socket }, asked) => {
    await socket.send(make(asked));
    socket.reset();
  };

export async function runRows(
  t: Deno.TestContext,
  rows: readonly HostileRow[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await withHostileUpstream(async (bench) => {
    for (const { name, play, expect, variants: ways } of rows) {
      await playEveryVariant(t, bench, name, play, expect, ways);
    }
  }, env);
}
