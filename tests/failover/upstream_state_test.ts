/** How operators see failing upstreams: in the metrics and in `/readyz?verbose`. */
import assert from "node:assert/strict";
import { readinessReply } from "../../routes/reply_schemas.ts";
import {
  CONSECUTIVE_FAILURES,
  FIRST_PAUSE_MS,
} from "../../gateway/upstream/health/breaker.ts";
import { fakeClock } from "../support/fake_clock.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import {
  type Candidates,
  MODEL,
  withCandidates,
} from "../support/with_candidates.ts";

/** The values of a metric's series, by their label text. */
async function series(
  { url }: TestGateway,
  name: string,
): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Object.fromEntries(
    [...text.matchAll(new RegExp(`^${name}\\{(.*)\\} (.*)$`, "gm"))].map((
      [, labels = "", value],
    ) => [labels, Number(value)]),
  );
}

async function times(count: number, { ask }: Candidates): Promise<void> {
  for (let i = 0; i < count; i++) await (await ask()).text();
}

Deno.test("retries are counted by the kind of failure, fallbacks by model, and errors by the failure returned to the client", () =>
  withCandidates({ random: () => 0 }, async (candidates) => {
    const { gateway, a, b } = candidates;
    a.play([{ status: 503 }, "reset"]);
    await times(2, candidates);
    a.play([], { status: 529 });
    b.play([], { status: 500 });
    await times(1, candidates);
    assert.deepEqual(await series(gateway, "gateway_upstream_retries_total"), {
      'vendor="a",kind="unavailable"': 1,
      'vendor="a",kind="upstream"': 1,
      'vendor="a",kind="overloaded"': 1,
      'vendor="b",kind="internal"': 1,
    });
    assert.deepEqual(
      await series(gateway, "gateway_upstream_fallbacks_total"),
      { [`model="${MODEL}"`]: 2 },
    );
    assert.deepEqual(await series(gateway, "gateway_upstream_errors_total"), {
      'vendor="a",kind="overloaded"': 1,
    });
  }));

Deno.test("a call answered by the upstream that failed first counts as a retry, not as a fallback", () =>
  withCandidates({ b: null, random: () => 0 }, async (candidates) => {
    candidates.a.play([{ status: 503 }]);
    await times(1, candidates);
    const { gateway } = candidates;
    assert.deepEqual(await series(gateway, "gateway_upstream_retries_total"), {
      'vendor="a",kind="unavailable"': 1,
    });
    assert.deepEqual(
      await series(gateway, "gateway_upstream_fallbacks_total"),
      {},
    );
  }));

Deno.test("breaker states and resting times are reported while they last, without keys and addresses", () => {
  const clock = fakeClock();
  return withCandidates(
    { ...clock, random: () => 0 },
    async (candidates) => {
      const { gateway, a, b } = candidates;
      const labels = {
        a: `model="${MODEL}",upstream="a/model-a"`,
        b: `model="${MODEL}",upstream="b/model-b"`,
      };
      const state = async (): Promise<unknown> => [
        await series(gateway, "gateway_upstream_breaker_state"),
        await series(gateway, "gateway_upstream_resting"),
      ];
      const verbose = async (): Promise<unknown> => {
        const response = await fetch(`${gateway.url}/readyz?verbose`);
        assert.equal(response.status, 200);
        const text = await response.text();
        assert.doesNotMatch(text, /key-a|key-b|127\.0\.0\.1/);
        const { configuration, store_schema, ...reply } = JSON.parse(text);
        readinessReply.parse({ configuration, store_schema, ...reply });
        assert.equal(store_schema.stored, store_schema.program);
        assert.match(configuration.hash, /^[0-9a-f]{12}$/);
        return reply;
      };
      const fresh = { state: "closed", since: null, resting_until: null };
      const rows = {
        a: { model: MODEL, upstream: "a/model-a" },
        b: { model: MODEL, upstream: "b/model-b" },
      };
      assert.deepEqual(await verbose(), {
        status: "ready",
        upstreams: [{ ...rows.a, ...fresh }, { ...rows.b, ...fresh }],
      });
      assert.deepEqual(await state(), [
        { [labels.a]: 0, [labels.b]: 0 },
        { [labels.a]: 0, [labels.b]: 0 },
      ]);
      a.play([], { status: 500 });
      await times(CONSECUTIVE_FAILURES, candidates);
      b.play([{ status: 429, headers: { "retry-after": "30" } }]);
      await times(1, candidates);
      const at = (ms: number): string => new Date(ms).toISOString();
      assert.deepEqual(await verbose(), {
        status: "ready",
        upstreams: [
          {
            ...rows.a,
            ...fresh,
            state: "open",
            since: at(clock.now()),
            probe_at: at(clock.now() + FIRST_PAUSE_MS),
          },
          { ...rows.b, ...fresh, resting_until: at(clock.now() + 30_000) },
        ],
      });
      assert.deepEqual(await state(), [
        { [labels.a]: 2, [labels.b]: 0 },
        { [labels.a]: 0, [labels.b]: 1 },
      ]);
      clock.advance(FIRST_PAUSE_MS);
      assert.deepEqual(await state(), [
        { [labels.a]: 1, [labels.b]: 0 },
        { [labels.a]: 0, [labels.b]: 1 },
      ]);
    },
  );
});
