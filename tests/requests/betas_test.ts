/**
 * A client's betas pass only if they are known to change no price, or if the model has the price;
 * others are named as dropped, and refused in strict mode.
 */
import assert from "node:assert/strict";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { send } from "../support/tables/request_table.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

const LONG = "context-1m-2025-08-07";
const KNOWN = "interleaved-thinking-2025-05-14";
const NEW = "made-up-2031-01-01";
const SMALL = {
  max_tokens: 9,
  messages: [{ role: "user", content: "Hi" }],
};
const PLAIN = "vendora-sonnet-4-6";
/** The same upstream model at prices for each length of prompt. */
const STEPPED = "sonnet-by-length";
const OPEN = "sonnet-with-more";
const CONFIG = JSON.stringify({
  models: {
    [STEPPED]: {
      vendor: "vendora",
      upstream_model: "claude-sonnet-4-6",
      price: {
        input: 3_000_000,
        output: 15_000_000,
        when: [{ prompt_above: 200_000, factor: 2 }],
      },
    },
    [OPEN]: {
      vendor: "vendora",
      upstream_model: "claude-sonnet-4-6",
      price: { input: 3_000_000, output: 15_000_000 },
      allowed_betas: ["made-up", LONG],
    },
  },
});

interface Row {
  readonly model: string;
  readonly asked: string;
  readonly sent: string | undefined;
  readonly dropped: string | null;
}

const ROWS: readonly Row[] = [
  {
    model: PLAIN,
    asked: `${KNOWN},${LONG},${NEW}`,
    sent: KNOWN,
    dropped: `anthropic-beta.${LONG},anthropic-beta.${NEW}`,
  },
  {
    model: PLAIN,
    asked: LONG.toUpperCase(),
    sent: undefined,
    dropped: `anthropic-beta.${LONG.toUpperCase()}`,
  },
  { model: PLAIN, asked: KNOWN, sent: KNOWN, dropped: null },
  {
    model: "vendora-sonnet-4-6 (context-1m beta)",
    asked: LONG,
    sent: LONG,
    dropped: null,
  },
  { model: STEPPED, asked: LONG, sent: LONG, dropped: null },
  {
    model: STEPPED,
    asked: NEW,
    sent: undefined,
    dropped: `anthropic-beta.${NEW}`,
  },
  {
    model: OPEN,
    asked: `${NEW},${LONG},context-2m-2031-01-01`,
    sent: `${NEW},${LONG}`,
    dropped: "anthropic-beta.context-2m-2031-01-01",
  },
];

async function ask(
  gateway: TestGateway,
  { model, asked }: Row,
  more: JsonObject = {},
  headers: Readonly<Record<string, string>> = {},
): ReturnType<typeof send> {
  return await send(gateway, "/v1/messages", { ...SMALL, model, ...more }, {
    "anthropic-beta": asked,
    ...headers,
  });
}

Deno.test("a beta that may change the price passes only with the model's price for it", async (t) => {
  await using gateway = await startTestGateway({ configFile: CONFIG });
  for (const row of ROWS) {
    await t.step(`${row.model}: ${row.asked}`, async () => {
      const { response, upstreamHeaders } = await ask(gateway, row);
      assert.equal(response.status, 200);
      assert.equal(upstreamHeaders["anthropic-beta"], row.sent);
      assert.equal(response.headers.get("x-gateway-dropped"), row.dropped);
      const strict = await ask(gateway, row, {}, {
        "x-gateway-strict": "true",
      });
      assert.equal(strict.response.status, row.dropped === null ? 200 : 400);
      assert.equal(
        strict.upstreamText === undefined,
        row.dropped !== null,
        "what was refused is not sent",
      );
    });
  }
  for (const key of ["anthropic_beta", "betas"]) {
    for (const value of [[LONG], LONG, [KNOWN, NEW]]) {
      await t.step(`${key} in the body: ${JSON.stringify(value)}`, async () => {
        const { response, upstreamText = "" } = await ask(
          gateway,
          { model: PLAIN, asked: KNOWN, sent: KNOWN, dropped: null },
          { [key]: value },
        );
        assert.equal(response.status, 200);
        assert.equal(response.headers.get("x-gateway-dropped"), key);
        assert.doesNotMatch(upstreamText, /beta/);
      });
    }
  }
});
