/** A vendor's export against the books. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ApiError } from "../../translate/model/error.ts";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import type { Usage } from "../../translate/model/reply.ts";
import { chargeLines, costOfLines } from "../accounts/charges/charge_lines.ts";
import {
  costMicroUsd,
  parsePrice,
  type Tokens,
} from "../accounts/charges/money.ts";
import type { RateCard } from "../accounts/charges/rate_card.ts";
import { type Admin } from "../accounts/repositories/admin.ts";
import { openStore } from "../accounts/store/open_store.ts";
import {
  type PastCharge,
  storeCharges,
} from "../accounts/testing/stored_charges.ts";
import { readInvoice } from "./invoice.ts";
import { reconcile, type ReconcileQuery } from "./reconcile.ts";
import {
  reconciliationJson,
  reconciliationReply,
} from "./reconciliation_json.ts";
import type { PricedModel } from "./vendor_models.ts";
import { readingAdmin } from "../accounts/testing/reading_admin.ts";

const PRICE = parsePrice("5000000/500000/6250000/25000000");
const CARD: RateCard = {
  ...PRICE,
  meters: { cache_write_1h: 10_000_000 },
  uses: { web_search: 10_000 },
  when: [
    { tier: "priority", factor: 2 },
    { speed: "fast", factor: 6 },
    { region: "us", factor: 1.1 },
  ],
};

const MODELS: readonly PricedModel[] = [
  {
    id: "opus",
    price: CARD,
    candidates: [{ vendor: "east", upstreamModel: "claude-opus" }],
  },
  {
    id: "mini",
    price: PRICE,
    candidates: [{ vendor: "west", upstreamModel: "gpt-mini" }],
  },
];
const DAY_MS = 86_400_000;
const MONTH_MS = Date.UTC(2026, 9, 1);

function chargeAt(at: number): PastCharge {
  return {
    requestId: `req_${String(at).padStart(6, "0")}`,
    model: at % 2 === 0 ? "opus" : "mini",
    tokens: {
      input: 100 + at % 977,
      cacheRead: at % 3 === 0 ? at % 511 : 0,
      cacheWrite: 0,
      output: 10 + at % 397,
    },
    price: PRICE,
    atMs: MONTH_MS + Math.floor(at / 10_000 * 30 * DAY_MS),
  };
}

function dayOf({ atMs }: PastCharge): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

const VENDOR_NAMES: Readonly<Record<string, string>> = {
  opus: "claude-opus-20260528",
  mini: "gpt-mini",
};
const HEAD =
  "timestamp,model,input_tokens,cache_read_tokens,output_tokens,cost_usd";

function lineOf(charge: PastCharge, factor: number = 1): string {
  const { tokens } = charge;
  const micro = costMicroUsd(PRICE, tokens) * factor;
  return [
    new Date(charge.atMs).toISOString(),
    VENDOR_NAMES[charge.model],
    tokens.input,
    tokens.cacheRead,
    tokens.output,
    (micro / 1e6).toFixed(6),
  ].join(",");
}

async function* inPieces(text: string): AsyncGenerator<string, void, void> {
  for (let at = 0; at < text.length; at += 10_000) {
    yield await Promise.resolve(text.slice(at, at + 10_000));
  }
}

async function withBooks(
  charges: readonly PastCharge[],
  run: (
    compare: (file: string, query?: ReconcileQuery) => Promise<JsonObject>,
    admin: Admin,
  ) => Promise<void>,
): Promise<void> {
  await using store = await openStore("sqlite::memory:");
  await storeCharges(store, charges);
  const admin = readingAdmin(store);
  await run(async (file, query = {}) => {
    const reply = reconciliationJson(
      await reconcile(admin, MODELS, inPieces(file), query),
    );
    reconciliationReply.parse(reply);
    return reply;
  }, admin);
}

function objects(value: unknown): readonly JsonObject[] {
  assert.ok(Array.isArray(value));
  return value.filter(isObject);
}

function inner(value: JsonObject, ...names: readonly string[]): unknown {
  let at: unknown = value;
  for (const name of names) at = isObject(at) ? at[name] : undefined;
  return at;
}

Deno.test("a removed, a doubled and a repriced line are found in a month of 10,000", async () => {
  const charges = Array.from({ length: 10_000 }, (_, at) => chargeAt(at));
  const [removed, doubled, repriced] = [1234, 4321, 8001].map((at) =>
    charges[at]
  );
  assert.ok(removed && doubled && repriced);
  await withBooks(charges, async (compare) => {
    const lines = charges.flatMap((charge) =>
      charge === removed
        ? []
        : charge === doubled
        ? [lineOf(charge), lineOf(charge)]
        : [lineOf(charge, charge === repriced ? 2 : 1)]
    );
    const clean = await compare(
      [HEAD, ...charges.map((one) => lineOf(one))].join("\n"),
    );
    assert.deepEqual([clean["data"], clean["findings"]], [[], []]);
    assert.equal(inner(clean, "totals", "difference_micro_usd"), 0);
    const reply = await compare([HEAD, ...lines].join("\r\n"));
    const cost = (one: PastCharge): number => costMicroUsd(PRICE, one.tokens);
    assert.deepEqual(inner(reply, "totals", "causes"), {
      ours_estimated: 0,
      theirs_missing: -cost(removed),
      ours_missing: 0,
      doubled: cost(doubled),
      billed_otherwise: 0,
      price_changed: cost(repriced),
      unexplained: 0,
      rounding: 0,
    });
    const findings = objects(reply["findings"]);
    const sizes = findings.map((one) => Math.abs(Number(one["micro_usd"])));
    assert.deepEqual(sizes, sizes.toSorted((a, b) => b - a));
    assert.deepEqual(
      findings.toSorted((a, b) =>
        String(a["day"]).localeCompare(String(b["day"]))
      ).map((
        one,
      ) => [one["cause"], one["day"], one["line"], one["request_id"]]),
      [
        ["theirs_missing", dayOf(removed), null, removed.requestId],
        // The head is line 1, and the removed line precedes it.
        ["doubled", dayOf(doubled), 4321 + 1, null],
        ["price_changed", dayOf(repriced), 8001 + 2, repriced.requestId],
      ],
    );
    assert.equal(objects(reply["data"]).length, 3);
  });
});

Deno.test("a line is paired with the call of its amount and model, and what costs nothing is left out", async () => {
  const none = { cacheRead: 0, cacheWrite: 0 };
  const charge = (name: string, factor: number): PastCharge => ({
    requestId: `req_${name}`,
    model: "opus",
    tokens: { input: 100, output: 10, ...none },
    price: {
      input: PRICE.input * factor,
      output: PRICE.output * factor,
      ...none,
    },
    atMs: MONTH_MS,
  });
  const charges = [
    charge("cheap", 1),
    charge("dear", 2),
    charge("repriced", 3),
    { ...charge("failed", 1), tokens: { input: 0, output: 0, ...none } },
  ];
  await withBooks(charges, async (compare) => {
    // The dear call is first in the file, and last the one whose price is another one.
    const lines = [2, 5, 1].map((factor) => lineOf(charge("", 1), factor));
    const { findings } = await compare([HEAD, ...lines].join("\n"));
    assert.deepEqual(
      objects(findings).map((
        one,
      ) => [one["cause"], one["line"], one["request_id"]]),
      [["price_changed", 3, "req_repriced"]],
    );
  });
});

Deno.test("a call at another price is found where a day's calls could differ by as much by rounding", async () => {
  const tokens = { input: 10, cacheRead: 0, cacheWrite: 0, output: 1 };
  const charges = Array.from({ length: 1000 }, (_, at): PastCharge => ({
    ...chargeAt(0),
    requestId: `req_${at}`,
    tokens,
    atMs: MONTH_MS,
  }));
  const more = 2 * costMicroUsd(PRICE, tokens);
  assert.ok(more > 100 && more < charges.length);
  await withBooks(charges, async (compare) => {
    const { findings } = await compare(
      [HEAD, ...charges.map((one, at) => lineOf(one, at === 500 ? 3 : 1))]
        .join("\n"),
    );
    assert.deepEqual(
      objects(findings).map((
        one,
      ) => [one["cause"], one["line"], one["micro_usd"]]),
      [["price_changed", 502, more]],
    );
  });
});

Deno.test("an export by day and model is split by its sums", async () => {
  const charges = Array.from({ length: 600 }, (_, at) => ({
    ...chargeAt(at * 16),
    estimated: at === 7,
  }));
  await withBooks(charges, async (compare) => {
    const sums = new Map<string, number[]>();
    for (const charge of charges) {
      const sum = sums.get(dayOf(charge)) ?? [0, 0, 0, 0];
      const { input, cacheRead, output } = charge.tokens;
      const cost = costMicroUsd(PRICE, charge.tokens);
      const values = [input, cacheRead, output, cost];
      sums.set(dayOf(charge), values.map((one, at) => one + (sum[at] ?? 0)));
    }
    const rows = [...sums].map((
      [day, [input, read, output, micro]],
    ) => [day, "claude-opus", input, read, output, (micro ?? 0) / 1e6]);
    const head = HEAD.replace("timestamp", "usage_date_utc");
    const file = (all: readonly (readonly unknown[])[]): string =>
      [head, ...all.map((row) => row.join(","))].join("\n");
    assert.deepEqual((await compare(file(rows)))["data"], []);
    const [first, second, third, fourth] = rows;
    assert.ok(first && second && third && fourth);
    const reply = await compare(
      file([
        // Estimated calls of the first day: 40 output tokens more.
        [...first.slice(0, 4), Number(first[4]) + 40, Number(first[5]) + 0.001],
        [...second.slice(0, 5), Number(second[5]) * 1.5],
        third,
        third,
        ["2026-10-20", "unknown-model", 10, 0, 5, 0.5],
        ...rows.slice(4),
      ]),
      { fromDay: "2026-10-01", toDay: "2026-10-31" },
    );
    const causes = new Map(
      objects(reply["data"]).map(({ day, name, causes }) => {
        assert.ok(isObject(causes));
        const found = Object.entries(causes).filter(([name, value]) =>
          value !== 0 && name !== "rounding"
        );
        return [`${day} ${name}`, found];
      }),
    );
    const micro = (row: readonly unknown[]): number =>
      Math.round(Number(row[5]) * 1e6);
    const price = causes.get("2026-10-02 opus")?.[0];
    assert.equal(price?.[0], "price_changed");
    assert.ok(Math.abs(Number(price?.[1]) - micro(second) / 2) < 100);
    for (
      const [line, cause, microUsd] of [
        ["2026-10-01 opus", "ours_estimated", 1000],
        ["2026-10-03 opus", "doubled", micro(third)],
        ["2026-10-04 opus", "theirs_missing", -micro(fourth)],
        ["2026-10-20 unknown-model", "ours_missing", 500_000],
      ] as const
    ) assert.deepEqual(causes.get(line), [[cause, microUsd]]);
    assert.equal(causes.size, 5);
  });
});

Deno.test("the causes add up to the difference, whatever the file has", () =>
  withBooks(
    Array.from({ length: 40 }, (_, at) => chargeAt(at * 250)),
    (compare) =>
      fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.tuple(
              fc.integer({ min: 0, max: 39 }),
              fc.constantFrom(1, 1, 1, 0.3, 3),
              fc.integer({ min: 1, max: 2 }),
            ),
            { maxLength: 60 },
          ),
          fc.boolean(),
          async (picks, hasAmounts) => {
            const lines = picks.flatMap(([at, factor, times]) =>
              Array(times).fill(lineOf(chargeAt(at * 250), factor))
            );
            const head = hasAmounts ? HEAD : HEAD.replace("cost_usd", "note");
            const reply = await compare([head, ...lines].join("\n"), {
              fromDay: "2026-10-01",
              toDay: "2026-10-31",
              vendor: "east",
            });
            for (
              const part of [inner(reply, "totals"), ...objects(reply["data"])]
            ) {
              assert.ok(isObject(part) && isObject(part["causes"]));
              const causes = Object.values(part["causes"]).map(Number);
              const sum = causes.reduce((a, b) => a + b, 0);
              assert.equal(sum, part["difference_micro_usd"]);
            }
            if (hasAmounts) {
              const [theirs, ours, difference] = [
                "theirs",
                "ours",
                "difference",
              ]
                .map((of) => Number(inner(reply, "totals", `${of}_micro_usd`)));
              assert.equal(difference, (theirs ?? NaN) - (ours ?? NaN));
            }
          },
        ),
        { numRuns: 30 },
      ),
  ));

Deno.test("columns of vendors and of FOCUS are read", () => {
  const tokens = { input: 1000, cacheRead: 200, cacheWrite: 30, output: 50 };
  return withBooks(
    [{ ...chargeAt(0), tokens }],
    async (compare) => {
      const usd = costMicroUsd(PRICE, tokens) / 1e6;
      const meters = [
        ["Input tokens", "1", 0.005],
        ["Cache read tokens", "0.2", 0.0001],
        ["Cache write tokens", "0.03", 0.0001875],
        ["Output tokens", "0.05", 0.00125],
      ] as const;
      for (
        const file of [
          "usage_date_utc,model_version,workspace,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens\n" +
          "2026-10-01,claude-opus-20260528,w,1000,30,0,200,50",
          "start_time\tstart_time_iso\tmodel\tinput_tokens\toutput_tokens\tinput_cached_tokens\tcache_write_tokens\n" +
          "1790812800\t2026-10-01T00:00:00+00:00\tclaude-opus\t1200\t50\t200\t30\n" +
          "1790899200\t2026-10-02T00:00:00+00:00\t\t\t\t\t",
          `\ufeffDate;Model;Cost;Currency\n2026-10-01;opus;"$${usd}";usd\n`,
          "ChargePeriodStart,x_Model,SkuMeter,ConsumedQuantity,ConsumedUnit,BilledCost,BillingCurrency\n" +
          meters.map(([of, count, cost]) =>
            `2026-10-01T00:00:00Z,opus,${of},${count},1K Tokens,${cost},USD`
          ).join("\n"),
        ]
      ) {
        const reply = await compare(file);
        assert.deepEqual(reply["data"], [], file);
        assert.equal(reply["agreeing"], 1, file);
      }
    },
  );
});

Deno.test("a wrong file is refused with its line and column", () =>
  withBooks([], async (compare) => {
    const refusal = async (
      file: string,
      query?: ReconcileQuery,
    ): Promise<string> => {
      const error: unknown = await compare(file, query).catch((one) => one);
      assert.ok(error instanceof ApiError, String(error));
      assert.equal(error.kind, "invalid_request");
      return error.message;
    };
    const head = "day,model,input_tokens,output_tokens,cost_usd,currency\n";
    const cases: readonly (readonly [string, RegExp])[] = [
      ["", /file: is empty/],
      [
        "model,cost\na,1",
        /line 1 names no column with a day; known are day, date/,
      ],
      ["day,cost\n2026-01-01,1", /line 1 names no column with a model/],
      ["day,model\n2026-01-01,a", /no column with tokens or an amount/],
      [head, /file: has no line with figures/],
      [
        `${head}2026-01-01,a,1,2,1,USD\n2026-02-31,a,1,2,1,USD`,
        /line 3, column day: expected a day .*not "2026-02-31"/,
      ],
      [
        `${head}2026-01-01,a,1.5,2,1,USD`,
        /line 2, column input_tokens: .*"1\.5"/,
      ],
      [`${head}2026-01-01,a,-1,2,1,USD`, /line 2, column input_tokens/],
      [
        `${head}2026-01-01,a,1,2,much,USD`,
        /line 2, column cost_usd: .*dollars.*"much"/,
      ],
      [
        `${head}2026-01-01,a,1,2,1,EUR`,
        /line 2, column currency: expected USD/,
      ],
      [
        `${head},a,1,2,1,USD`,
        /line 2, column day: the line has figures but no day/,
      ],
      [`${head}2026-01-01,"a"b,1,2,1,USD`, /line \d is not valid CSV/],
      [
        `${head}2026-01-01,${"a".repeat(70_000)},1,2,1,USD`,
        /is longer than 65536/,
      ],
      [
        `${head}2024-01-01,a,1,2,1,USD\n2026-01-01,a,1,2,1,USD`,
        /covers more than 366 days/,
      ],
    ];
    for (const [file, expected] of cases) {
      assert.match(await refusal(file), expected);
    }
    const byNobody = await refusal(head, { vendor: "nobody" });
    assert.match(byNobody, /vendor: serves no model/);
  }));

Deno.test("a file without an end is read no further than to the limit of lines", async () => {
  let made = 0;
  async function* endless(): AsyncGenerator<string, void, void> {
    yield "day,model,cost_usd\n";
    for (;; made += 100) {
      yield await Promise.resolve("2026-01-01,a,1\n".repeat(100));
    }
  }
  await assert.rejects(readInvoice(endless(), 2000), /more than 2000 lines/);
  // Some are in the buffers of the streams.
  assert.ok(made < 20_000, `${made} lines were read`);
});

/** A call that the ledger has, as the upstream reported it. */
function callAs(at: number, usage: Usage): PastCharge {
  return {
    ...chargeAt(at * 2),
    tokens: { input: 1000 + at, cacheRead: 0, cacheWrite: 400, output: 100 },
    price: CARD,
    usage,
  };
}

const BILLED_HEAD =
  "timestamp,model,input_tokens,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,output_tokens,service_tier,speed,inference_geo,web_search_count";

function costOf(price: RateCard, tokens: Tokens, usage: Usage): number {
  const lines = chargeLines(price, tokens, usage);
  return lines === undefined ? costMicroUsd(price, tokens) : costOfLines(lines);
}

/** The vendor's line of a call, billed by `usage`. */
function billedLine(
  { atMs, tokens, price }: PastCharge,
  usage: Usage,
  isWithAmount: boolean,
): string {
  const { cacheWrite1h = 0, tier, speed, region, uses } = usage;
  const micro = costOf(price, tokens, usage);
  return [
    new Date(atMs).toISOString(),
    "claude-opus",
    tokens.input,
    tokens.cacheWrite - cacheWrite1h,
    cacheWrite1h,
    tokens.output,
    tier ?? "standard",
    speed ?? "standard",
    region ?? "global",
    uses?.["web_search"] ?? 0,
    ...(isWithAmount ? [(micro / 1e6).toFixed(6)] : []),
  ].join(",");
}

/** What the upstream reported, what the vendor billed, and the words of the finding. */
const OTHERWISE: Readonly<Record<string, readonly [Usage, Usage, string]>> = {
  "another cache life": [
    {},
    { cacheWrite1h: 400 },
    "cache write, 1 hour: 0, 400 in the file",
  ],
  "another tier": [
    { tier: "priority" },
    {},
    "tier: priority, standard in the file",
  ],
  "another speed": [{}, { speed: "fast" }, "speed: standard, fast in the file"],
  "another region": [{}, { region: "us" }, "region: standard, us in the file"],
  "more searches": [
    { uses: { web_search: 1 } },
    { uses: { web_search: 3 } },
    "web searches: 1, 3 in the file",
  ],
};

Deno.test("a call that the vendor bills otherwise is found, in a line per call and in sums", async (t) => {
  const all: Usage = {
    cacheWrite1h: 300,
    tier: "priority",
    speed: "fast",
    region: "us",
    uses: { web_search: 2 },
  };
  for (const [name, [sent, billed, words]] of Object.entries(OTHERWISE)) {
    for (const isWithAmount of [true, false]) {
      for (const isOneLine of [true, false]) {
        const amounts = isWithAmount ? "with amounts" : "without amounts";
        const lines = isOneLine ? "a line per call" : "in sums";
        await t.step(`${name}, ${amounts}, ${lines}`, async () => {
          // The call at hand is one of its day's.
          const others = [callAs(1, isOneLine ? all : sent), callAs(2, sent)];
          const call = callAs(3, sent);
          const head = isWithAmount ? `${BILLED_HEAD},cost_usd` : BILLED_HEAD;
          const fileOf = (usage: Usage): string => {
            const lines = [
              ...others.map((one) =>
                billedLine(one, one.usage ?? {}, isWithAmount)
              ),
              billedLine(call, usage, isWithAmount),
            ];
            return [head, ...isOneLine ? lines : summed(lines)].join("\n");
          };
          await withBooks([...others, call], async (compare) => {
            const same = await compare(fileOf(sent));
            assert.deepEqual([same["data"], same["findings"]], [[], []]);
            const reply = await compare(fileOf(billed));
            const [finding, ...more] = objects(reply["findings"]);
            assert.ok(finding !== undefined);
            assert.deepEqual(more, []);
            assert.equal(finding["cause"], "billed_otherwise");
            if (isOneLine) {
              assert.equal(finding["request_id"], call.requestId);
              assert.equal(finding["line"], 4);
              assert.deepEqual(finding["otherwise"], [words]);
            }
            const expected = costOf(CARD, call.tokens, billed) -
              costOf(CARD, call.tokens, sent);
            const causes = inner(reply, "totals", "causes");
            assert.ok(isObject(causes));
            const found = Number(causes["billed_otherwise"]);
            const isNear = Math.abs(found - expected) <= 3;
            assert.ok(isNear, `${found}, not ${expected}`);
            assert.equal(causes["price_changed"], 0);
          });
        });
      }
    }
  }
});

/** Lines of one day and model as the sums of each tier, speed and region. */
function summed(lines: readonly string[]): readonly string[] {
  const groups = Map.groupBy(
    lines.map((line) => line.split(",")),
    (cells) => cells.slice(6, 9).join(),
  );
  return [...groups.values()].map((group) =>
    (group[0] ?? []).map((first, column) =>
      Number.isNaN(Number(first))
        ? first
        : group.reduce((sum, cells) => sum + Number(cells[column]), 0)
    ).join(",")
  );
}
