/**
 * Failover between upstreams: which one is called after a failure, which never is, and what the
 * client, the log and the ledger show.
 */
import assert from "node:assert/strict";
import {
  type Action,
  SCRIPTED_USAGE,
} from "../support/upstreams/scripted_upstream.ts";
import { PRICE, withCandidates } from "../support/with_candidates.ts";

const PATHS = ["/v1/messages", "/v1/chat/completions"] as const;

/** Temporary failures of the first upstream, and the error kind that the log shows. */
const TEMPORARY: readonly (readonly [string, Action, string])[] = [
  ["reset", "reset", "upstream"],
  ["408", { status: 408 }, "timeout"],
  ["429", { status: 429 }, "rate_limit"],
  [
    "429 with a long retry-after",
    { status: 429, headers: { "retry-after": "50" } },
    "rate_limit",
  ],
  ["500", { status: 500 }, "internal"],
  ["502", { status: 502 }, "upstream"],
  ["503", { status: 503, headers: { "retry-after": "9" } }, "unavailable"],
  ["504", { status: 504 }, "timeout"],
  ["529", { status: 529 }, "overloaded"],
  ["429 with a truncated body", { status: 429, cut: true }, "rate_limit"],
  [
    "500 with x-should-retry: false",
    { status: 500, headers: { "x-should-retry": "false" } },
    "internal",
  ],
  [
    "an overload reported in the stream",
    { inBand: "overloaded_error" },
    "overloaded",
  ],
  [
    "a rate limit reported in the stream",
    { inBand: "rate_limit_error" },
    "rate_limit",
  ],
];

const COST = (SCRIPTED_USAGE.input * PRICE.input +
  SCRIPTED_USAGE.output * PRICE.output) / 1_000_000;

Deno.test("a call that fails before its answer is answered by the next upstream", async (t) => {
  for (const [name, action, kind] of TEMPORARY) {
    for (const path of PATHS) {
      for (const stream of [false, true]) {
        await t.step(
          `${name}: ${path} ${stream ? "streamed" : "whole"}`,
          () =>
            withCandidates({}, async ({ a, b, ask, entryOf, gateway }) => {
              a.play([action]);
              const response = await ask({ path, stream });
              const text = await response.text();
              assert.equal(response.status, 200, text);
              assert.match(text, /from b/);
              const entry = await entryOf(response);
              assert.equal(entry.upstream, "b/model-b");
              assert.equal(entry.attempts, 2);
              assert.equal(entry.ended, "complete");
              assert.equal(entry.tried?.length, 1);
              assert.equal(entry.tried[0]?.upstream, "a/model-a");
              assert.equal(entry.tried[0].error, kind);
              assert.equal(entry.cost_micro_usd, COST);
              assert.equal(a.calls.length, 1);
              assert.equal(b.calls.length, 1);
              await gateway.accounts.flush();
              const { data } = await gateway.accounts.admin.ledger({
                kind: "charge",
              });
              assert.deepEqual(data.map(({ microUsd }) => -microUsd), [COST]);
            }),
        );
      }
    }
  }
});

Deno.test("an upstream that refuses connections is skipped", () =>
  withCandidates({}, async ({ a, ask }) => {
    a.stopListening();
    for (const stream of [false, true]) {
      const response = await ask({ stream });
      assert.equal(response.status, 200);
      assert.match(await response.text(), /from b/);
    }
  }));

Deno.test("an error that a retry cannot change is returned to the client at once", async (t) => {
  const rows: readonly (readonly [Exclude<Action, string>, number])[] = [
    [{ status: 400 }, 400],
    [{ status: 404 }, 404],
    [{ status: 409 }, 409],
    [{ status: 413 }, 413],
    [{ status: 422 }, 400],
    [{ status: 301 }, 502],
    [{ inBand: "invalid_request_error" }, 400],
    [{ inBand: "not_found_error" }, 404],
  ];
  for (const [action, received] of rows) {
    await t.step(
      JSON.stringify(action),
      () =>
        withCandidates({}, async ({ a, b, ask, entryOf, gateway }) => {
          for (const path of PATHS) {
            for (const stream of [false, true]) {
              a.play([action]);
              const response = await ask({ path, stream });
              await response.text();
              assert.equal(response.status, received);
              const entry = await entryOf(response);
              assert.equal(entry.attempts, 1);
              assert.equal(entry.tried, undefined);
              assert.equal(entry.upstream, "a/model-a");
              assert.equal(entry.cost_micro_usd, 0);
            }
          }
          assert.equal(a.calls.length, 4);
          assert.equal(b.calls.length, 0);
          assert.equal(gateway.logged.length, 4);
        }),
    );
  }
});

Deno.test("a refusal of the gateway's own credential or account goes to the next candidate; alone it is a 502", async (t) => {
  const refusals: readonly (readonly [string, Action])[] = [
    ["401", { status: 401 }],
    ["402", { status: 402 }],
    ["403", { status: 403 }],
    ["in a reply with status 200", { inBand: "authentication_error" }],
  ];
  for (const [name, action] of refusals) {
    for (const stream of [false, true]) {
      await t.step(`${name}, ${stream ? "streamed" : "whole"}`, async () => {
        await withCandidates({}, async ({ a, b, ask, entryOf }) => {
          a.play([action]);
          const response = await ask({ stream });
          assert.match(await response.text(), /from b/);
          assert.equal(response.status, 200);
          const entry = await entryOf(response);
          assert.equal(entry.attempts, 2);
          assert.equal(entry.upstream, "b/model-b");
          assert.deepEqual([a.calls.length, b.calls.length], [1, 1]);
        });
        await withCandidates({ b: null }, async ({ a, ask, entryOf }) => {
          a.play([action]);
          const response = await ask({ stream });
          const text = await response.text();
          assert.equal(response.status, 502);
          assert.match(text, /the operator must look into it/);
          const entry = await entryOf(response);
          assert.equal(entry.attempts, 1);
          assert.equal(entry.cost_micro_usd, 0);
        });
      });
    }
  }
});

Deno.test("nothing is retried once an answer has begun", async (t) => {
  for (const path of PATHS) {
    for (const stream of [false, true]) {
      await t.step(
        `${path} ${stream ? "streamed" : "whole"}`,
        () =>
          withCandidates({}, async ({ a, b, ask, entryOf }) => {
            a.play(["cut"]);
            const response = await ask({ path, stream });
            const text = await response.text();
            assert.equal(response.status, stream ? 200 : 502);
            assert.match(text, /error/);
            assert.doesNotMatch(text, /message_stop|\[DONE\]/);
            assert.equal((await entryOf(response)).attempts, 1);
            assert.equal(a.calls.length, 1);
            assert.equal(b.calls.length, 0);
          }),
      );
    }
  }
});

Deno.test("each upstream receives the request in its own format, with its own key", () =>
  withCandidates({}, async ({ a, b, ask }) => {
    for (const path of PATHS) {
      a.play([{ status: 503 }]);
      const response = await ask({ path, body: { stop: undefined } });
      await response.text();
    }
    for (const call of a.calls) {
      assert.equal(call.path, "/v1/messages");
      assert.equal(call.body["model"], "model-a");
      assert.equal(call.headers["x-api-key"], "key-a");
      assert.equal(call.headers["authorization"], undefined);
    }
    for (const call of b.calls) {
      assert.equal(call.path, "/v1/chat/completions");
      assert.equal(call.body["model"], "model-b");
      assert.equal(call.headers["authorization"], "Bearer key-b");
      assert.equal(call.headers["x-api-key"], undefined);
    }
    assert.equal(a.calls.length, 2);
    assert.equal(b.calls.length, 2);
  }));

Deno.test("x-gateway-dropped lists the fields that the answering upstream did not receive", () =>
  withCandidates({}, async ({ a, ask, entryOf }) => {
    const body = { top_k: 5 };
    const kept = await ask({ body });
    await kept.text();
    assert.equal(kept.headers.get("x-gateway-dropped"), null);
    a.play([{ status: 503 }]);
    const dropped = await ask({ body });
    await dropped.text();
    assert.equal(dropped.headers.get("x-gateway-dropped"), "top_k");
    assert.deepEqual((await entryOf(dropped)).dropped, ["top_k"]);
  }));

Deno.test("a strict request goes only to upstreams that support every field", async (t) => {
  const headers = { "x-gateway-strict": "true" };
  await t.step(
    "not to the first upstream if that would drop a field",
    () =>
      withCandidates({}, async ({ a, b, ask }) => {
        const response = await ask({
          path: "/v1/chat/completions",
          body: { seed: 5 },
          headers,
        });
        assert.match(await response.text(), /from b/);
        assert.equal(response.headers.get("x-gateway-dropped"), null);
        assert.equal(a.calls.length, 0);
        assert.equal(b.calls.length, 1);
      }),
  );
  await t.step(
    "not to the second upstream after a failure of the first",
    () =>
      withCandidates({}, async ({ a, b, ask }) => {
        a.play(["reset"], { status: 503 });
        const response = await ask({ body: { top_k: 5 }, headers });
        await response.text();
        assert.equal(response.status, 503);
        assert.equal(b.calls.length, 0);
      }),
  );
  await t.step(
    "400 if every upstream would drop the field, and none is called",
    () =>
      withCandidates(
        { b: { vendor: "a", upstream_model: "model-b" } },
        async ({ a, b, ask }) => {
          const response = await ask({
            path: "/v1/chat/completions",
            body: { seed: 5 },
            headers,
          });
          assert.equal(response.status, 400);
          assert.match(await response.text(), /"param":"seed"/);
          assert.equal(a.calls.length + b.calls.length, 0);
        },
      ),
  );
});

Deno.test("if no candidate can express the request, the client gets a 400 that names the field, and no upstream is called", () =>
  withCandidates(
    { b: null },
    async ({ a, ask }) => {
      const response = await ask({
        path: "/v1/chat/completions",
        body: { n: 2 },
      });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /"param":"n"/);
      assert.equal(a.calls.length, 0);
    },
  ));

Deno.test("a request that only one candidate can express goes there", () =>
  withCandidates({}, async ({ a, b, ask }) => {
    const response = await ask({
      path: "/v1/chat/completions",
      body: { n: 2 },
    });
    await response.text();
    assert.equal(response.status, 200);
    assert.equal(a.calls.length, 0);
    assert.equal(b.calls.length, 1);
  }));

Deno.test("if all candidates fail, the client receives the most informative error", async (t) => {
  const rows: readonly (readonly [
    string,
    Action,
    Action,
    readonly [number, number],
    string | null,
  ])[] = [
    [
      "rate limits stay rate limits",
      { status: 429, headers: { "retry-after": "40" } },
      { status: 429, headers: { "retry-after": "30" } },
      [429, 429],
      "30",
    ],
    [
      "the last of two statuses",
      { status: 500 },
      { status: 529 },
      [529, 503],
      null,
    ],
    [
      "a status is preferred to a broken connection",
      { status: 503, headers: { "retry-after": "9" } },
      "reset",
      [503, 503],
      "9",
    ],
    [
      "an overload is preferred to a rejected vendor key",
      { status: 529 },
      { status: 401 },
      [529, 503],
      null,
    ],
    ["broken connections", "reset", "reset", [502, 502], null],
    [
      "a rejected request is preferred to a broken connection",
      "reset",
      { status: 413 },
      [413, 413],
      null,
    ],
  ];
  for (const [name, first, second, [messages, chat], retryAfter] of rows) {
    await t.step(name, async () => {
      for (const path of PATHS) {
        for (const stream of [false, true]) {
          await withCandidates(
            { env: { GATEWAY_MAX_ATTEMPTS: "2" } },
            async ({ a, b, ask, entryOf }) => {
              a.play([], first);
              b.play([], second);
              const response = await ask({ path, stream });
              const text = await response.text();
              assert.equal(
                response.status,
                path === "/v1/messages" ? messages : chat,
                text,
              );
              assert.equal(response.headers.get("retry-after"), retryAfter);
              assert.doesNotMatch(text, /key-a|key-b|127\.0\.0\.1/);
              const entry = await entryOf(response);
              assert.equal(entry.attempts, 2);
              assert.equal(entry.tried?.length, 2);
              assert.equal(entry.ended, "refused");
              assert.equal(entry.cost_micro_usd, 0);
            },
          );
        }
      }
    });
  }
});

Deno.test("the reservation covers the candidate with the highest output limit", () =>
  withCandidates(
    {
      a: { capabilities: { maxOutputTokens: 50 } },
      b: { capabilities: { maxOutputTokens: 5_000 } },
    },
    async ({ gateway, ask, a }) => {
      a.play(["silence"]);
      const controller = new AbortController();
      const { signal } = controller;
      const answer = ask({ body: { max_tokens: 4_000 }, signal }).catch(
        () => {},
      );
      await a.arrival(0);
      await gateway.accounts.flush();
      const { accounts } = gateway.accounts.admin;
      const { reservedMicroUsd } = await accounts.get("default");
      const least = 4_000 * PRICE.output / 1_000_000;
      assert.ok(reservedMicroUsd >= least && reservedMicroUsd < least + 100);
      controller.abort();
      await answer;
      await gateway.logEntry(({ ended }) => ended === "caller_left");
    },
  ));

Deno.test("calls are spread by weight, and a lower priority is not used while a higher one works", () =>
  withCandidates(
    {
      random: seeded(7),
      model: {
        candidates: [
          { vendor: "a", upstream_model: "x", weight: 3 },
          { vendor: "b", upstream_model: "x", weight: 1 },
          { vendor: "b", upstream_model: "last", priority: 2, weight: 100 },
        ],
      },
    },
    async ({ a, b, ask }) => {
      for (let i = 0; i < 200; i++) await (await ask()).text();
      assert.ok(a.calls.length > 130 && a.calls.length < 170);
      assert.equal(a.calls.length + b.calls.length, 200);
      assert.ok(b.calls.every(({ body }) => body["model"] === "x"));
    },
  ));

/** A pseudo-random generator that is the same on every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
