/** Files of costs as vendors export them, and pages of their cost and usage APIs. */
import assert from "node:assert/strict";
import { isObject } from "../../translate/bytes/json.ts";
import { parsePrice } from "../accounts/charges/money.ts";
import { openStore } from "../accounts/store/open_store.ts";
import { readingAdmin } from "../accounts/testing/reading_admin.ts";
import { storeCharges } from "../accounts/testing/stored_charges.ts";
import { reconcile } from "./reconcile.ts";
import { reconciliationJson } from "./reconciliation_json.ts";
import type { PricedModel } from "./vendor_models.ts";

const PRICE = parsePrice("5000000/500000/6250000/25000000");
const MODELS: readonly PricedModel[] = [
  ["sonnet", "us.anthropic.claude-sonnet-4-6-20260501-v1:0"],
  ["opus", "claude-opus-4-8"],
  ["gpt-5.5", "gpt-5.5"],
  ["gpt-5.5-mini", "gpt-5.5-mini"],
].map(([id = "", upstreamModel = ""]) => ({
  id,
  price: PRICE,
  candidates: [{ vendor: "v", upstreamModel }],
}));
const DAY = "2026-10-01";
const START_S = Date.parse(DAY) / 1000;
const TOKENS = { input: 1000, cacheRead: 2000, cacheWrite: 0, output: 100 };

/** A call of a model costs 0.005 + 0.001 + 0.0025 dollars. */
async function compare(
  model: string,
  file: string,
): Promise<Readonly<Record<string, unknown>>> {
  await using store = await openStore("sqlite::memory:");
  await storeCharges(store, [{
    requestId: "req_1",
    model,
    tokens: TOKENS,
    price: PRICE,
    atMs: Date.parse(DAY) + 1000,
  }]);
  return reconciliationJson(
    await reconcile(
      readingAdmin(store),
      MODELS,
      ReadableStream.from(file.match(/[^]{1,100}/g) ?? []),
      {},
    ),
  );
}

const page = (results: readonly object[], more: object = {}): string =>
  JSON.stringify({
    object: "page",
    data: [{
      object: "bucket",
      start_time: START_S,
      end_time: START_S + 86_400,
      results,
    }],
    has_more: false,
    next_page: null,
    ...more,
  });
const cost = (value: number | string, lineItem: string | null): object => ({
  object: "organization.costs.result",
  amount: { value, currency: "usd" },
  line_item: lineItem,
  project_id: null,
});
const report = (results: readonly object[]): string =>
  JSON.stringify({
    data: [{
      starting_at: `${DAY}T00:00:00Z`,
      ending_at: "2026-10-02T00:00:00Z",
      results,
    }],
    has_more: false,
    next_page: null,
  });
const cents = (amount: string, tokenType: string): object => ({
  amount,
  currency: "USD",
  cost_type: "tokens",
  description: "Claude Opus 4.8 Usage",
  model: "claude-opus-4-8",
  token_type: tokenType,
  context_window: "0-200k",
  workspace_id: null,
});

const OPENAI_HEAD =
  "start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,quantity,quantity_unit,line_item,user_id,api_key_id,project_id,organization_id,project_name,organization_name,user_email,api_source";
const openaiLine = (amount: string, quantity: string, item: string): string =>
  `${START_S},${
    START_S + 86_400
  },${DAY}T00:00:00,2026-10-02T00:00:00,${amount},usd,${quantity},tokens,"${item}",,key_1,proj_1,org-1,,,,`;
const CUR_HEAD =
  "bill_payer_account_id,line_item_usage_start_date,line_item_line_item_type,line_item_product_code,line_item_usage_type,line_item_usage_amount,pricing_unit,line_item_unblended_cost,line_item_currency_code";
const curLine = (usage: string, amount: string, usd: string): string =>
  `1,${DAY}T00:00:00.000Z,Usage,AmazonBedrock,${usage},${amount},1K tokens,${usd},USD`;
const FOCUS_HEAD =
  "BilledCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ConsumedQuantity,ConsumedUnit,ProviderName,ServiceName,SkuId,SkuMeter";
const focusLine = (usd: string, quantity: string, meter: string): string =>
  `${usd},USD,Usage,${DAY}T00:00:00Z,${quantity},1K tokens,AWS,Amazon Bedrock,XJ3K9,${meter}`;

const AGREEING: Readonly<
  Record<string, readonly [model: string, file: string]>
> = {
  "OpenAI's cost export": [
    "gpt-5.5",
    [
      OPENAI_HEAD,
      "1790467200,1790553600,2026-09-27T00:00:00+00:00,2026-09-28T00:00:00+00:00,,,,,,,,,,,,,",
      openaiLine(
        "0.005000000000000000000000000000",
        "1000",
        "gpt-5.5-2026-04-23, input_tokens",
      ),
      openaiLine(
        "0.001000000000000000000000000000",
        "2000",
        "gpt-5.5-2026-04-23, cached_input_tokens",
      ),
      openaiLine(
        "0.002500000000000000000000000000",
        "100",
        "gpt-5.5-2026-04-23, output_tokens",
      ),
    ].join("\n"),
  ],
  "pages of OpenAI's costs": [
    "gpt-5.5",
    page([
      cost(0.005, "gpt-5.5-2026-04-23, input"),
      cost("0.0010000000000000000000000000000000", "gpt-5.5, cached input"),
      cost(2.5e-3, "gpt-5.5-2026-04-23, output"),
    ]),
  ],
  "pages of OpenAI's usage": [
    "gpt-5.5",
    page([{
      object: "organization.usage.completions.result",
      input_tokens: 3000,
      input_cached_tokens: 2000,
      output_tokens: 100,
      num_model_requests: 1,
      model: "gpt-5.5-2026-04-23",
    }]),
  ],
  "several pages, a line each": [
    "gpt-5.5",
    [
      page([cost(0.006, "gpt-5.5, input")], { has_more: true }),
      page([cost(0.0025, "gpt-5.5, output")]),
    ].join("\n"),
  ],
  "several pages in an array": [
    "gpt-5.5",
    `[${page([cost(0.006, "gpt-5.5, input")], { has_more: true })},
      ${page([cost(0.0025, "gpt-5.5, output")])}]`,
  ],
  "Anthropic's cost report, in cents": [
    "opus",
    report([
      cents("0.5", "uncached_input_tokens"),
      cents("0.1", "cache_read_input_tokens"),
      cents("0.25", "output_tokens"),
    ]),
  ],
  "the same as a table": [
    "opus",
    [
      "starting_at,amount,currency,cost_type,model,token_type",
      `${DAY}T00:00:00Z,0.6,USD,tokens,claude-opus-4-8,uncached_input_tokens`,
      `${DAY}T00:00:00Z,0.25,USD,tokens,claude-opus-4-8,output_tokens`,
    ].join("\n"),
  ],
  "Anthropic's cost export, in dollars": [
    "opus",
    [
      "usage_date_utc,model,workspace,api_key,usage_type,context_window,token_type,cost_usd,list_price_usd,cost_type,inference_geo,speed",
      `${DAY},Claude Opus 4.8,Default,k,message,≤ 200k,input_no_cache,0.006,0.01,token,not_available,`,
      `${DAY},Claude Opus 4.8,Default,k,message,≤ 200k,output,0.0025,0.01,token,not_available,`,
    ].join("\n"),
  ],
  "Anthropic's usage report": [
    "opus",
    report([{
      uncached_input_tokens: 1000,
      cache_creation: {
        ephemeral_1h_input_tokens: 0,
        ephemeral_5m_input_tokens: 0,
      },
      cache_read_input_tokens: 2000,
      output_tokens: 100,
      server_tool_use: { web_search_requests: 0 },
      model: "claude-opus-4-8",
      service_tier: "standard",
    }]),
  ],
  "AWS' Cost and Usage Report 2.0": [
    "sonnet",
    [
      CUR_HEAD,
      curLine("USE1-Claude4.6Sonnet-input-tokens", "1.0", "0.005"),
      curLine(
        "USE1-Claude4.6Sonnet-cache-read-input-token-count",
        "2",
        "0.001",
      ),
      curLine(
        "USE1-Claude4.6Sonnet-output-tokens-cross-region-global",
        "0.1",
        "0.0025",
      ),
      `1,${DAY}T00:00:00.000Z,Usage,AmazonEC2,BoxUsage:t3.micro,24,Hrs,0.25,USD`,
      `1,${DAY}T00:00:00.000Z,Tax,AmazonBedrock,USE1-Claude4.6Sonnet-input-tokens,1,1K tokens,0.01,USD`,
    ].join("\n"),
  ],
  "AWS' FOCUS export": [
    "sonnet",
    [
      FOCUS_HEAD,
      focusLine("0.005", "1", "USE1-Claude4.6Sonnet-input-tokens"),
      focusLine(
        "0.001",
        "2",
        "USE1-Claude4.6Sonnet-cache-read-input-token-count",
      ),
      focusLine("0.0025", "0.1", "USE1-Claude4.6Sonnet-output-tokens"),
      `0.25,USD,Usage,${DAY}T00:00:00Z,24,Hrs,AWS,Amazon Elastic Compute Cloud,AB12,BoxUsage:t3.micro`,
      `0.25,USD,Tax,${DAY}T00:00:00Z,,,AWS,Amazon Bedrock,,`,
    ].join("\n"),
  ],
  "AWS' names of a model that is sold as an edition": [
    "sonnet",
    [
      `${FOCUS_HEAD}`,
      focusLine("0.006", "3", "USE1-MP:USE1_input_tokens_global_standard-Units")
        .replace(
          "Amazon Bedrock,",
          "Claude Sonnet 4.6 (Amazon Bedrock Edition),",
        )
        .replace("1K tokens", "Units"),
      focusLine("0.0025", "0.1", "USE1-MP:USE1_OutputTokenCount_Global-Units")
        .replace(
          "Amazon Bedrock,",
          "Claude Sonnet 4.6 (Amazon Bedrock Edition),",
        )
        .replace("1K tokens", "Units"),
    ].join("\n"),
  ],
};

for (const [name, [model, file]] of Object.entries(AGREEING)) {
  Deno.test(`${name} agrees with the books`, async () => {
    const { data, agreeing } = await compare(model, file);
    assert.deepEqual(data, []);
    assert.equal(agreeing, 1);
  });
}

Deno.test("a model that vendors name in two ways is not taken for another", async () => {
  const { data } = await compare(
    "gpt-5.5",
    page([cost(0.0085, "gpt-5-5.5, input")]),
  );
  assert.ok(Array.isArray(data) && isObject(data[0]));
  assert.deepEqual(data[0]["models"], []);
});

const REFUSED: Readonly<Record<string, readonly [file: string, RegExp]>> = {
  "costs of OpenAI without their model": [
    page([cost(0.5, null)]),
    /result 1 has figures but no model.*group_by line_item.*group_by\[\] description/,
  ],
  "a line of its export without it": [
    [OPENAI_HEAD, openaiLine("0.5", "", "")].join("\n"),
    /line 2 has figures but no model/,
  ],
  "the first of several pages": [
    page([cost(0.5, "gpt-5.5, input")], { has_more: true, next_page: "p" }),
    /another page follows \(has_more\): put all pages into the file, as an array or a line each/,
  ],
  "JSON without pages": [
    '{"costs": []}',
    /is JSON without pages of costs or usage: expected data, a list with results each/,
  ],
  "broken JSON": ['{"data": [', /is not valid JSON/],
  "a page without results": [page([]), /has no costs and no usage/],
  "another currency": [
    page([{
      ...cost(1, "gpt-5.5, input"),
      amount: { value: 1, currency: "eur" },
    }]),
    /result 1, column amount_currency: expected USD/,
  ],
};

for (const [name, [file, reason]] of Object.entries(REFUSED)) {
  Deno.test(`${name}: refused with the reason`, () =>
    assert.rejects(compare("gpt-5.5", file), reason));
}
