/** `GET /metrics`: what is counted, who may read it, and what it must never contain. */
import assert from "node:assert/strict";
import { streamScript } from "../../replay/mod.ts";
import { CandidateRates } from "../../gateway/upstream/health/candidate_rates.ts";
import { callScripted } from "../support/tables/reply_script.ts";
import { smallBody } from "../support/small_body.ts";
import { TEST_KEY, type TestGateway } from "../support/test_gateway.ts";
import { withGateway } from "../support/with_gateway.ts";

const TOKEN = "admin-0123456789abcdef";

function ask(model: string, text: string, stream = true): unknown {
  return smallBody({ model, text, stream });
}

/** The upstream's own failure, after the reply has begun. */
const BROKEN_OFF = streamScript([
  `data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n`,
  `data: {"error":{"message":"The server had an error","type":"server_error"}}\n\n`,
]);

/** The value of one series; 0 if it does not exist yet. */
async function metric(
  { url }: TestGateway,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split("\n").find((line) =>
    (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) &&
    Object.entries(labels).every(([key, value]) =>
      line.includes(`${key}="${value}"`)
    )
  );
  return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(" ")));
}

Deno.test("a call is counted once, with its tokens, its cost and its times", () =>
  withGateway(async (gateway) => {
    const model = "vendora-opus-4-8";
    for (const stream of [true, false]) {
      const response = await gateway.post(
        "/v1/messages",
        ask(model, "[[fx:text]]", stream),
      );
      await response.text();
    }
    const [first, second] = gateway.logged;
    const endpoint = "/v1/messages";
    assert.equal(
      await metric(gateway, "gateway_requests_total", {
        endpoint,
        model,
        status: "200",
        ended: "complete",
      }),
      2,
    );
    const output = (first?.usage?.output ?? 0) + (second?.usage?.output ?? 0);
    assert.ok(output > 0);
    assert.equal(
      await metric(gateway, "gateway_tokens_total", { model, kind: "output" }),
      output,
    );
    const cost = (first?.cost_micro_usd ?? 0) + (second?.cost_micro_usd ?? 0);
    assert.ok(cost > 0);
    assert.equal(
      await metric(gateway, "gateway_cost_micro_usd_total", { model }),
      cost,
    );
    for (const name of ["request_duration", "time_to_first_byte"]) {
      assert.equal(
        await metric(gateway, `gateway_${name}_seconds_count`, { model }),
        2,
        name,
      );
    }
  }));

Deno.test("the cost in the log is the ledger's charge, also for a failed stream", () =>
  withGateway(async ({ post, logged, accounts: books }) => {
    for (const fixture of ["cache-usage", "error-mid", "status?code=500"]) {
      await (await post(
        "/v1/chat/completions",
        ask("vendorb-5.5", `[[fx:${fixture}]]`),
      )).text();
    }
    await books.flush();
    for (const { request_id, cost_micro_usd } of logged) {
      const { data } = await books.admin.ledger({ requestId: request_id });
      assert.equal(cost_micro_usd, Math.abs(data[0]?.microUsd ?? 0));
    }
    assert.equal(logged.length, 3);
  }));

Deno.test("upstream failures are counted by vendor and kind, the gateway's own errors are not", () =>
  withGateway(async (gateway) => {
    const { post } = gateway;
    for (
      const fixture of [
        "status?code=529",
        "status?code=503",
        "status?code=500",
        "error-mid",
      ]
    ) {
      const response = await post(
        "/v1/messages",
        ask("vendora-opus-4-8", `[[fx:${fixture}]]`),
      );
      await response.text();
    }
    await (await post("/v1/messages", ask("nope", "Hi"))).text();
    const counted = async (kind: string) =>
      await metric(gateway, "gateway_upstream_errors_total", {
        vendor: "vendora",
        kind,
      });
    assert.equal(
      await counted("overloaded"),
      2,
      "one by status, one in the stream",
    );
    assert.equal(await counted("unavailable"), 1);
    assert.equal(await counted("internal"), 1, "the upstream's own 500");
    assert.equal(await counted("not_found"), 0);
    assert.deepEqual(
      gateway.logged.map(({ upstream_status, error_of }) => [
        upstream_status,
        error_of,
      ]),
      [
        [529, "upstream"],
        [503, "upstream"],
        [500, "upstream"],
        [undefined, "upstream"],
        [undefined, undefined],
      ],
    );
  }));

Deno.test("a stream that its upstream breaks off with an error of its own counts against the candidate", () =>
  withGateway(async (gateway) => {
    const reply = await callScripted(gateway, "messages", "chat", BROKEN_OFF, {
      stream: true,
    });
    await reply.text();
    const [entry] = gateway.logged;
    assert.ok(entry !== undefined);
    assert.equal(entry.ended, "failed");
    assert.equal(entry.error_of, "upstream");
    assert.equal(
      await metric(gateway, "gateway_upstream_errors_total", {
        vendor: "vendorb",
        kind: "internal",
      }),
      1,
    );
    const rates = new CandidateRates(() => 0);
    rates.record(entry);
    const { calls, failed } = rates.rate(
      entry.model ?? "",
      entry.upstream ?? "",
    );
    assert.deepEqual({ calls, failed }, { calls: 1, failed: 1 });
  }));

Deno.test("open streams and running calls are counted while they last", () =>
  withGateway(async (gateway) => {
    const response = await gateway.post(
      "/v1/messages",
      ask("vendora-opus-4-8", "[[fx:text-long?gate=open&at=8]]"),
    );
    await gateway.replay.gateReached("open");
    assert.equal(await metric(gateway, "gateway_open_streams"), 1);
    assert.equal(await metric(gateway, "gateway_calls_under_way"), 1);
    gateway.replay.openGate("open");
    await response.text();
    // The reservation is written before the answer begins; the settlement may still be in the write
    // queue.
    assert.ok((await metric(gateway, "gateway_ledger_backlog") ?? 9) <= 1);
    assert.equal(await metric(gateway, "gateway_open_streams"), 0);
    assert.equal(await metric(gateway, "gateway_calls_under_way"), 0);
  }));

Deno.test("no client's text is in the metrics, and unauthenticated requests add no series", () =>
  withGateway(async (gateway) => {
    const { url, post } = gateway;
    const secret = "Xyzzy";
    const calls = [
      post("/v1/messages", ask("vendora-opus-4-8", secret)),
      post("/v1/messages", ask(`model-${secret}`, "Hi")),
      post("/v1/messages", ask("vendora-opus-4-8", secret), {
        "x-api-key": `sk-${secret}-0123456789`,
      }),
      fetch(`${url}/v1/models/${secret}`, {
        headers: { "x-api-key": TEST_KEY },
      }),
      ...Array.from(
        { length: 50 },
        (_, i) => fetch(`${url}/${secret}/${i}?key=${secret}`),
      ),
    ];
    for (const response of await Promise.all(calls)) await response.text();
    const text = await (await fetch(`${url}/metrics`)).text();
    assert.doesNotMatch(text, new RegExp(`${secret}|${TEST_KEY}`, "i"));
    const series = text.match(/^gateway_requests_total\{.*$/gm) ?? [];
    assert.ok(series.length <= 5, series.join("\n"));
    assert.equal(
      await metric(gateway, "gateway_requests_total", {
        endpoint: "other",
        status: "404",
      }),
      50,
    );
  }));

Deno.test("the metrics need the admin token, or a loopback client if there is no token", async (t) => {
  const replay = { GATEWAY_UPSTREAM: "replay" };
  const rows: [string, Record<string, string>, string | undefined, number][] = [
    ["loopback without a token", {}, undefined, 200],
    [
      "reachable from other machines without a token",
      { HOST: "0.0.0.0" },
      undefined,
      404,
    ],
    [
      "a hosting platform without a token",
      { DENO_DEPLOY: "1" },
      undefined,
      404,
    ],
    [
      "a token that is set and sent",
      { GATEWAY_ADMIN_TOKEN: TOKEN },
      TOKEN,
      200,
    ],
    [
      "a token that is set and not sent",
      { GATEWAY_ADMIN_TOKEN: TOKEN },
      undefined,
      401,
    ],
    ["a wrong token", { GATEWAY_ADMIN_TOKEN: TOKEN }, `${TOKEN}0`, 401],
    ["a client's key", { GATEWAY_ADMIN_TOKEN: TOKEN }, TEST_KEY, 401],
  ];
  for (const [name, env, token, status] of rows) {
    await t.step(
      name,
      () =>
        withGateway(async ({ url }) => {
          for (
            const [path, content] of [
              ["/metrics", "gateway_requests_total"],
              ["/readyz?verbose", '"upstreams"'],
            ] as const
          ) {
            const response = await fetch(url + path, {
              headers: token === undefined
                ? {}
                : { authorization: `Bearer ${token}` },
            });
            const text = await response.text();
            assert.equal(response.status, status, path);
            assert.equal(text.includes(content), status === 200, path);
          }
          const plain = await fetch(`${url}/readyz`);
          assert.deepEqual(await plain.json(), { status: "ready" });
        }, { env: { ...replay, ...env } }),
    );
  }
});
