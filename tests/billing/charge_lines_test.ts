/**
 * One call that is billed by a cache life, a speed, a region and uses of a tool: page, API, CSV,
 * FOCUS and ledger have the same lines and the same sum.
 */
import assert from "node:assert/strict";
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
} from "../../translate/bytes/json.ts";
import {
  ADMIN_TOKEN,
  credentialOf,
  startConsole,
  visit,
  visitAs,
} from "../support/console/visitor.ts";
import { csvRows } from "../support/console/csv_rows.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import { serveLoopback } from "../support/serve_loopback.ts";
import { bearer } from "../support/clients/bearer.ts";

const MODEL = "vendora-opus-4-8";

const CARD = {
  from: "2026-11-01",
  version: "by-hand-1",
  source: "https://prices.example.com/",
  input: 5_000_000,
  output: 25_000_000,
  cache_read: 500_000,
  cache_write: 6_250_000,
  cache_write_1h: 10_000_000,
  uses: { web_search: 10_000 },
  when: [{ speed: "fast", factor: 6 }, { region: "us", factor: 1.1 }],
};

const REPLY = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-opus-4-8",
  content: [{ type: "text", text: "Hello" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: {
    input_tokens: 1000,
    cache_read_input_tokens: 2000,
    cache_creation_input_tokens: 3000,
    cache_creation: {
      ephemeral_5m_input_tokens: 1000,
      ephemeral_1h_input_tokens: 2000,
    },
    output_tokens: 500,
    server_tool_use: { web_search_requests: 3 },
    speed: "fast",
    inference_geo: "us",
  },
};

/** By hand: 6 × 1.1 = 6.6 times the rates of tokens; searches without a factor. */
const LINES: readonly (readonly [
  meter: string,
  quantity: number,
  each: number,
  microUsd: number,
])[] = [
  ["input", 1000, 33_000_000, 33_000],
  ["cache_read", 2000, 3_300_000, 6_600],
  ["cache_write", 1000, 41_250_000, 41_250],
  ["cache_write_1h", 2000, 66_000_000, 132_000],
  ["output", 500, 165_000_000, 82_500],
  ["uses.web_search", 3, 10_000, 30_000],
];
const SUM = 325_350;

/** A gateway whose vendor answers every call with `reply`, and whose model has the card. */
async function withReply(
  reply: JsonObject,
  body: (gateway: TestGateway) => Promise<void>,
): Promise<void> {
  await using upstream = serveLoopback(() => Response.json(reply));
  await using gateway = await startConsole({
    configFile: JSON.stringify({ models: { [MODEL]: { price: CARD } } }),
    access: {
      vendora: {
        baseUrl: `http://127.0.0.1:${upstream.addr.port}`,
        apiKey: "k",
      },
    },
  });
  await body(gateway);
}

/** The text of a page, without its markup. */
async function textOf(answer: Promise<Response>): Promise<string> {
  return (await read(answer)).replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ");
}

async function read(answer: Promise<Response>): Promise<string> {
  const response = await answer;
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return text;
}

/** Makes a call, and waits until it is in the books. Returns its id. */
async function called(
  gateway: TestGateway,
  body: JsonObject,
): Promise<string> {
  const { admin } = gateway.accounts;
  const { text: key = "" } = await admin.keys.issue({ accountId: "default" });
  const reply = await gateway.post(
    "/v1/messages",
    { model: MODEL, max_tokens: 600, ...body },
    { "x-api-key": key, "anthropic-beta": "fast-mode-2026-02-01" },
  );
  const id = reply.headers.get("request-id") ?? "";
  assert.equal(reply.status, 200, await reply.text());
  await gateway.logEntry(({ request_id }) => request_id === id);
  await gateway.accounts.flush();
  await gateway.recorded();
  return id;
}

Deno.test("page, API, CSV, FOCUS and ledger agree on the lines of a call to the micro-dollar", () =>
  withReply(REPLY, async (gateway) => {
    const { admin } = gateway.accounts;
    const id = await called(gateway, {
      speed: "fast",
      inference_geo: "us",
      tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 3 }],
      messages: [{
        role: "user",
        content: [{
          type: "text",
          text: "Hello",
          cache_control: { type: "ephemeral", ttl: "1h" },
        }],
      }],
    });
    const token = await credentialOf(gateway, "manage");
    const holder = await visit(gateway.url, "manage", token.text);
    const api = (path: string, credential: string): Promise<string> =>
      read(fetch(gateway.url + path, bearer(credential)));
    const object = (text: string): JsonObject => {
      const value: unknown = JSON.parse(text);
      assert.ok(isObject(value));
      return value;
    };
    const meters = LINES.map(([meter, quantity]) => [meter, quantity]);

    const { data: [entry] } = await admin.ledger({ requestId: id });
    assert.equal(entry?.microUsd, -SUM);
    assert.deepEqual(
      entry.lines?.map(({ meter, quantity }) => [meter, quantity]),
      meters,
    );

    const call = object(await api(`/admin/v1/calls/${id}`, ADMIN_TOKEN));
    const charge = objectOr(call["charge"]);
    assert.equal(charge["micro_usd"], SUM);
    assert.equal(charge["price_version"], CARD.version);
    assert.deepEqual(
      arrayOr(charge["parts"]).map((part) => {
        const { of, tokens, micro_usd_per_million_tokens, pico_usd } = objectOr(
          part,
        );
        return [
          of,
          tokens,
          micro_usd_per_million_tokens,
          Number(pico_usd) / 1e6,
        ];
      }),
      LINES,
    );
    const listed = object(
      await api(`/v1/account/ledger?request_id=${id}`, token.text),
    );
    const own = objectOr(arrayOr(listed["data"])[0]);
    assert.equal(own["micro_usd"], -SUM);
    assert.deepEqual(
      arrayOr(own["lines"]).map((line) => {
        const { meter, quantity } = objectOr(line);
        return [meter, quantity];
      }),
      meters,
    );

    const [row] = csvRows(
      await read(holder.get(`/console/ledger.csv?request_id=${id}`)),
    );
    assert.equal(Number(row?.["micro_usd"]), -SUM);
    const inCell: unknown = JSON.parse(row?.["lines"] ?? "");
    assert.deepEqual(
      arrayOr(inCell).map((line) => objectOr(line)["meter"]),
      LINES.map(([meter]) => meter),
    );

    const focus = csvRows(
      await read(
        holder.get(`/console/ledger.csv?format=focus&request_id=${id}`),
      ),
    );
    assert.deepEqual(
      focus.map((line) => [
        line["x_TokenType"],
        Number(line["ConsumedQuantity"]),
        Math.round(Number(line["ListUnitPrice"]) * 1e6),
        Math.round(Number(line["BilledCost"]) * 1e6),
      ]),
      LINES,
    );
    assert.equal(
      focus.reduce(
        (sum, line) =>
          sum + BigInt(Math.round(Number(line["BilledCost"]) * 1e6)),
        0n,
      ),
      BigInt(SUM),
    );
    assert.equal(
      focus[0]?.["x_RateReasons"],
      "speed fast × 6, region us × 1.1",
    );
    assert.equal(focus[0]?.["x_PriceVersion"], CARD.version);

    const shown = await textOf(holder.get(`/console/calls/${id}`));
    for (
      const text of [
        "Cache write, 1 hour 2,000",
        "speed fast × 6, region us × 1.1",
        "Uses of web search 3",
        "0.325350",
        `Version ${CARD.version} of the price`,
      ]
    ) assert.ok(shown.includes(text), `${text} in ${shown}`);

    const model = await textOf(holder.get(`/console/models/${MODEL}`));
    for (
      const text of [
        `2026-11-01 ${CARD.version}`,
        "Cache write, 1 hour $",
        "All tokens speed fast × 6",
        "All tokens region us × 1.1",
        "Uses of web search $",
      ]
    ) assert.ok(model.includes(text), `${text} in ${model}`);
    const { source: _, from: __, ...rates } = CARD;
    const offered = object(await api("/v1/account/models", token.text));
    const known = arrayOr(offered["data"]).map(objectOr).find((one) =>
      one["id"] === MODEL
    );
    const { from, ...others } = objectOr(known?.["rates"]);
    assert.equal(from, "2026-11-01T00:00:00.000Z");
    assert.deepEqual(others, rates);
  }));

Deno.test("what a card has no rate for is marked on the call's page and counted on the operator's", () =>
  withReply(
    { ...REPLY, usage: { ...REPLY.usage, inference_geo: "mars" } },
    async (gateway) => {
      const id = await called(gateway, {
        messages: [{ role: "user", content: "Hello" }],
      });
      const operator = await visitAs(gateway, "operator");
      assert.match(
        await textOf(operator.get(`/console/operator/calls/${id}`)),
        /Input unpriced 1,000 .*Unpriced: the price of the model has no rate/,
      );
      assert.match(
        await textOf(operator.get("/console/operator/")),
        /Calls had a part that the price of their model has no rate for.* vendora-opus-4-8 ?: 1 call/,
      );
    },
  ));

Deno.test("a usage that no such call can have is charged at the bound, and marked wherever the charge is shown", () =>
  withReply(
    { ...REPLY, usage: { input_tokens: 5e8, output_tokens: 2e9 } },
    async (gateway) => {
      const id = await called(gateway, {
        messages: [{ role: "user", content: "Hello" }],
      });
      const { data: [entry] } = await gateway.accounts.admin.ledger({
        requestId: id,
      });
      assert.ok(entry !== undefined);
      assert.equal(entry.estimated, true);
      assert.ok(entry.inputTokens < 40_000 && entry.outputTokens < 40_000);
      assert.deepEqual(
        entry.lines?.map(({ meter, bounded }) => [meter, bounded]),
        [["input", true], ["output", true]],
      );
      const api = async (path: string): Promise<JsonObject> =>
        objectOr(JSON.parse(
          await read(fetch(gateway.url + path, bearer(ADMIN_TOKEN))),
        ));
      const call = await api(`/admin/v1/calls/${id}`);
      assert.equal(call["estimated"], true);
      assert.deepEqual(
        arrayOr(objectOr(call["charge"])["parts"]).map((part) =>
          objectOr(part)["bounded"]
        ),
        [true, true],
      );
      assert.match(
        gateway.gateway.metrics.text(),
        /gateway_bounded_calls_total\{model="vendora-opus-4-8"\} 1/,
      );
      const operator = await visitAs(gateway, "operator");
      assert.match(
        await textOf(operator.get(`/console/operator/calls/${id}`)),
        /Input bounded .* Output bounded .*The upstream reported more tokens or uses than the call can have had/,
      );
      assert.match(
        await textOf(operator.get("/console/operator/")),
        /Calls ended with a usage that no such call can have.* vendora-opus-4-8 ?: 1 call/,
      );
    },
  ));
