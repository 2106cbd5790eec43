/** Refusals because of the operator's account: in the log and the metrics, not in the reply. */
import assert from "node:assert/strict";
import { jsonScript } from "../../replay/mod.ts";
import {
  CALLERS,
  callScripted,
  type UpstreamFormat,
} from "../support/tables/reply_script.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";
import { withCandidates } from "../support/with_candidates.ts";

const MESSAGE = "Organization acme has reached its limit: https://x/appeal";

interface Row {
  readonly from: UpstreamFormat;
  readonly status: number;
  readonly error: object;
  readonly code: string;
}

const ROWS: readonly Row[] = [
  {
    from: "messages",
    status: 400,
    error: {
      type: "invalid_request_error",
      message: MESSAGE,
      details: { error_code: "organization_on_hold", appeal_url: "https://x" },
    },
    code: "organization_on_hold",
  },
  {
    from: "messages",
    status: 429,
    error: {
      type: "rate_limit_error",
      message: MESSAGE,
      details: { error_code: "enforced_spend_limit_reached" },
    },
    code: "enforced_spend_limit_reached",
  },
  {
    from: "messages",
    status: 401,
    error: { type: "authentication_error", message: MESSAGE },
    code: "authentication_error",
  },
  {
    from: "chat",
    status: 429,
    error: { message: MESSAGE, code: "billing_not_active" },
    code: "billing_not_active",
  },
  {
    from: "gemini",
    status: 400,
    error: {
      code: 400,
      message: MESSAGE,
      status: "INVALID_ARGUMENT",
      details: [{ reason: "API_KEY_INVALID" }],
    },
    code: "API_KEY_INVALID",
  },
];

const VENDORS: Readonly<Record<UpstreamFormat, string>> = {
  messages: "vendora",
  chat: "vendorb",
  gemini: "vendorc",
};

async function refusals({ url }: TestGateway): Promise<readonly string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text.match(/^gateway_upstream_refusals_total\{.*$/gm) ?? [];
}

Deno.test("a refusal of the operator's account is a 502 without its reason, whose code is in the log and the metrics", async (t) => {
  await using gateway = await startTestGateway({
    env: { GATEWAY_MAX_ATTEMPTS: "1" },
  });
  for (const { from, status, error, code } of ROWS) {
    for (const caller of CALLERS) {
      await t.step(`${code} to ${caller}`, async () => {
        const response = await callScripted(
          gateway,
          caller,
          from,
          jsonScript(status, { type: "error", error }),
        );
        const text = await response.text();
        assert.equal(response.status, 502);
        assert.match(text, /the gateway's own credentials or account/);
        assert.ok(!text.includes(code), text);
        assert.doesNotMatch(text, /acme|appeal/);
        const entry = gateway.logged.at(-1);
        assert.equal(entry?.upstream_code, code);
        assert.equal(entry?.upstream_status, status);
        assert.equal(entry?.error_of, "upstream");
      });
    }
  }
  assert.deepEqual(
    (await refusals(gateway)).toSorted(),
    ROWS.map(({ from, code }) =>
      `gateway_upstream_refusals_total{vendor="${
        VENDORS[from]
      }",code="${code}"} 2`
    ).toSorted(),
  );
});

Deno.test("the code of a candidate that refuses is in the log and the metrics although another one replied", () =>
  withCandidates({ random: () => 0 }, async ({ gateway, a, ask, entryOf }) => {
    a.play([{ status: 401 }]);
    const response = await ask();
    assert.equal(response.status, 200);
    await response.text();
    const { tried, upstream_code } = await entryOf(response);
    assert.equal(tried?.[0]?.upstream_code, "error_by_status");
    assert.equal(upstream_code, undefined);
    assert.deepEqual(await refusals(gateway), [
      'gateway_upstream_refusals_total{vendor="a",code="error_by_status"} 1',
    ]);
  }));

Deno.test("codes of an upstream's invention do not fill the metrics", async () => {
  await using gateway = await startTestGateway({
    env: { GATEWAY_MAX_ATTEMPTS: "1" },
  });
  const words = "limit quota key token model plan rate spend".split(" ");
  const codes = [
    ...words.flatMap((a) => words.map((b) => `${a}_${b}`)).slice(0, 52),
    "sk-0123456789",
    "a code",
    "x".repeat(300),
  ];
  for (const code of codes) {
    const reply = await callScripted(
      gateway,
      "messages",
      "chat",
      jsonScript(401, { error: { message: "no", code } }),
    );
    await reply.text();
  }
  const lines = await refusals(gateway);
  assert.equal(lines.length, 51);
  assert.match(lines.at(-1) ?? "", /code="other"} 5$/);
  assert.doesNotMatch(lines.join(), /sk-|a code|xxx/);
});
