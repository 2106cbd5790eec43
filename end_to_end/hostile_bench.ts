/**
 * For tests of hostile upstreams: a gateway in front of an upstream on bare TCP, and for each row of a table a call in every pair
 * of dialects, streamed and whole, with what must hold after any of them.
 *
 * @module
 */
import assert from "node:assert/strict";
import { type Asked, type Outcome, outcomeOf } from "./outcome.ts";
import {
  type RawExchange,
  type RawUpstream,
  startRawUpstream,
} from "./raw_upstream.ts";
import { PATHS, type UpstreamFormat } from "./reply_script.ts";
import { soon } from "./soon.ts";
import { ask, entryOf, PAIRS, requestIdOf } from "./test_billing.ts";
import { startTestGateway, type TestGateway } from "./test_gateway.ts";
import {
  framesOf,
  streamAnswer,
  wholeAnswer,
  wholeOf,
} from "./upstream_bytes.ts";

/** Both ends. */
export interface HostileBench {
  /** One that makes a single attempt at a call. */
  readonly gateway: TestGateway;
  /** Stands in for every vendor. */
  readonly upstream: RawUpstream;
}

/** What an upstream plays on one request. */
export type Play = (
  exchange: RawExchange,
  asked: Asked,
) => Promise<void> | void;

/** What may come of it. */
export interface Expected {
  /** The kinds that are right. */
  readonly kind: Outcome["kind"] | readonly Outcome["kind"][];
  /** Of a refusal; absent: 502. */
  readonly status?: number | "any";
  /** What the caller reads in the end; absent where that does not matter. */
  readonly said?: string;
}

/** What the text fixture says. */
export const TEXT = "Hello! The quick brown fox jumps over the lazy dog.";

/** Every way of asking. */
export const WAYS: readonly Asked[] = PAIRS.flatMap(({ path, upstream }) =>
  [true, false].map((stream) => ({
    caller: path === PATHS.messages ? "messages" as const : "chat" as const,
    upstream,
    stream,
  }))
);

/** Runs with both ends; the books must balance after it. */
export async function withHostileUpstream(
  run: (bench: HostileBench) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const upstream = await startRawUpstream();
  const gateway = await startTestGateway({
    // What a second attempt gives is shown elsewhere; here each row is one answer.
    env: { GATEWAY_MAX_ATTEMPTS: "1", ...env },
    access: upstream.vendors,
  });
  try {
    await run({ gateway, upstream });
    assert.deepEqual(await gateway.books.admin.audit(), []);
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

/** The right answer to what was asked. */
export function goodAnswer({ upstream, stream }: Asked): string {
  return stream
    ? streamAnswer(framesOf("text", upstream))
    : wholeAnswer(wholeOf("text", upstream));
}

/** Asks once while the upstream plays; the answer is held to the caller's format and the books to the answer. */
export async function played(
  { gateway, upstream }: HostileBench,
  asked: Asked,
  play: Play,
): Promise<Outcome> {
  upstream.answer((exchange) => play(exchange, asked));
  const response = await soon(
    gateway.post(
      PATHS[asked.caller],
      ask(
        { path: pathOf(asked), model: modelOf(asked.upstream) },
        "Hi",
        asked.stream,
      ),
    ),
    "an answer",
  );
  const outcome = await soon(outcomeOf(response, asked), "the answer's end");
  const entry = await soon(
    entryOf(gateway, requestIdOf(response)),
    "the line in the ledger",
  );
  assert.equal(
    entry.ended,
    { complete: "complete", broken: "failed", refused: "refused" }[
      outcome.kind
    ],
  );
  assert.ok(entry.microUsd <= 0, "nobody is paid for a reply");
  if (outcome.kind === "refused") assert.equal(entry.microUsd, 0);
  assert.equal(gateway.gateway.slots.taken(), 0);
  assert.equal(gateway.gateway.running.size, 0);
  return outcome;
}

/** Asks in every way while the upstream plays, and each time once more while it behaves. */
export async function playEveryWay(
  t: Deno.TestContext,
  bench: HostileBench,
  name: string,
  play: Play,
  expected: Expected | ((asked: Asked) => Expected),
  ways: readonly Asked[] = WAYS,
): Promise<void> {
  for (const asked of ways) {
    const { caller, upstream, stream } = asked;
    await t.step(
      `${name}: ${caller} from ${upstream}, ${stream ? "streamed" : "whole"}`,
      async () => {
        const outcome = await played(bench, asked, play);
        const { kind, status, said } = typeof expected === "function"
          ? expected(asked)
          : expected;
        const told = `${outcome.kind} ${outcome.status}: ${
          outcome.body.slice(0, 2000)
        }`;
        assert.ok([kind].flat().includes(outcome.kind), told);
        if (outcome.kind === "refused" && status !== "any") {
          assert.equal(outcome.status, status ?? 502, told);
        }
        if (said !== undefined && outcome.kind === "complete") {
          assert.equal(outcome.said, said, told);
        }
        if (outcome.kind === "broken") {
          assert.ok(TEXT.startsWith(outcome.said) || said === undefined, told);
        }
        const next = await played(
          bench,
          asked,
          ({ socket }) => socket.send(goodAnswer(asked)),
        );
        assert.deepEqual([next.kind, next.said], ["complete", TEXT]);
      },
    );
  }
}

function pathOf(
  { caller }: Asked,
): "/v1/messages" | "/v1/chat/completions" {
  return caller === "messages" ? "/v1/messages" : "/v1/chat/completions";
}

function modelOf(upstream: UpstreamFormat): string {
  const pair = PAIRS.find((one) => one.upstream === upstream);
  return pair?.model ?? "";
}

/** A row of a table of hostile answers. */
export interface HostileRow {
  /** A few words. */
  readonly name: string;
  /** What the upstream does. */
  readonly play: Play;
  /** What must come of it. */
  readonly expect: Expected | ((asked: Asked) => Expected);
  /** The ways to ask; absent: every one. */
  readonly ways?: readonly Asked[];
}

/** The whole answer. */
export const COMPLETE: Expected = { kind: "complete", said: TEXT };
/** A 502. */
export const REFUSED: Expected = { kind: "refused" };
/** A 502, or a stream that says less and ends in an error. */
export const CUT: Expected = { kind: ["broken", "refused"], said: TEXT };

/** The right body for what was asked, without its framing. */
export function bodyOf({ upstream, stream }: Asked): string {
  return stream
    ? framesOf("text", upstream).join("")
    : wholeOf("text", upstream);
}

/** The content type for what was asked. */
export function typeOf({ stream }: Asked): string {
  return stream ? "text/event-stream" : "application/json";
}

/** Sends bytes and leaves the connection open. */
export const sends: (make: (asked: Asked) => string | Uint8Array) => Play =
  (make: (asked: Asked) => string | Uint8Array): Play => ({ socket }, asked) =>
    socket.send(make(asked));

/** Sends bytes and ends the connection. */
export const ends: (make: (asked: Asked) => string | Uint8Array) => Play =
  (make: (asked: Asked) => string | Uint8Array): Play =>
  async ({ socket }, asked) => {
    await socket.send(make(asked));
    socket.end();
  };

/** Sends bytes and resets the connection. */
export const resets: (make: (asked: Asked) => string | Uint8Array) => Play =
  (make: (asked: Asked) => string | Uint8Array): Play =>
  async ({ socket }, asked) => {
    await socket.send(make(asked));
    socket.reset();
  };

/** Runs a table on one gateway. */
export async function runRows(
  t: Deno.TestContext,
  rows: readonly HostileRow[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await withHostileUpstream(async (bench) => {
    for (const { name, play, expect, ways } of rows) {
      await playEveryWay(t, bench, name, play, expect, ways);
    }
  }, env);
}
