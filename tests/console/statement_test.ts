/** What a month cost, will cost and was saved by caches; what was replaced at a start. */
import assert from "node:assert/strict";
import { dayNumber } from "../../gateway/accounts/reports/days.ts";
import { openStore } from "../../gateway/accounts/store/open_store.ts";
import { storeCharges } from "../../gateway/accounts/testing/stored_charges.ts";
import { readConfig } from "../../gateway/settings/config.ts";
import type { ModelPrice } from "../../gateway/accounts/charges/money.ts";
import { recordConfiguration } from "../../gateway/settings/record_configuration.ts";
import { forecastOf } from "../../routes/console/plots/forecast.tsx";
import {
  ADMIN_TOKEN,
  credentialOf,
  startConsole,
  visitAs,
} from "../support/console/visitor.ts";
import { csvRows } from "../support/console/csv_rows.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const DAY_MS = 86_400_000;

Deno.test("a month's statement leads from the opening to the closing balance, on the page and in the file", async () => {
  await using folder = await temporaryFolder();
  const url = `sqlite:${folder.path}/books.sqlite3`;
  await using gateway = await startConsole({ env: { DATABASE_URL: url } });
  const { admin } = gateway.accounts;
  const nowMs = Date.now();
  const month = (back: number): string => {
    const now = new Date(nowMs);
    return new Date(
      Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1),
    ).toISOString().slice(0, 7);
  };
  await admin.accounts.topUp("default", {
    microUsd: 50_000_000,
    note: "invoice 7",
  });
  const { id: keyId } = await credentialOf(gateway, "key");
  const store = await openStore(url);
  const charge = (
    requestId: string,
    day: string,
    output: number,
  ) => ({
    requestId,
    keyId,
    model: "vendorb-5.5",
    tokens: { input: 0, cacheRead: 0, cacheWrite: 0, output },
    price: { input: 0, cacheRead: 0, cacheWrite: 0, output: 1_000_000 },
    atMs: dayNumber("day", day) * DAY_MS,
  });
  // The balance of the test's own charges is not part of the account's row.
  await storeCharges(store, [
    charge("req_a", `${month(1)}-03`, 3_000_000),
    charge("req_b", `${month(1)}-28`, 1_000_000),
    charge("req_c", `${month(0)}-01`, 500_000),
  ]);
  await store.close();
  const { balanceMicroUsd: now } = await admin.accounts.get("default");
  const owner = await visitAs(gateway, "manage");
  const operator = await visitAs(gateway, "operator");
  for (
    const [visitor, path] of [
      [owner, "/console/statement"],
      [operator, "/console/operator/statement"],
    ] as const
  ) {
    const ofAccount = visitor === operator ? "account=default&" : "";
    const search = (back: number): string =>
      `?${ofAccount}month=${month(back)}`;
    const read = async (back: number): Promise<
      readonly (readonly [string, number])[]
    > => {
      const rows = csvRows(
        await visitor.read(`${path}.csv${search(back)}`),
      );
      for (const row of rows) {
        assert.equal(Number(row["usd"]), Number(row["micro_usd"]) / 1e6);
      }
      return rows.map((row) =>
        [row["what"] ?? "", Number(row["micro_usd"])] as const
      );
    };
    const last = await read(1);
    assert.deepEqual(last, [
      ["opening balance", now - 50_000_000 + 4_500_000],
      ["charged by model", -4_000_000],
      ["of that by key", -4_000_000],
      ["closing balance", now - 50_000_000 + 500_000],
    ]);
    const present = await read(0);
    assert.deepEqual(present, [
      ["opening balance", now - 50_000_000 + 500_000],
      ["paid in", 50_000_000],
      ["charged by model", -500_000],
      ["of that by key", -500_000],
      ["closing balance", now],
    ]);
    const html = await visitor.read(`${path}${search(0)}`);
    assert.match(html, /The month is not over/);
    assert.match(html, /invoice 7/);
    assert.match(
      html,
      /ledger\?[^"]*&model=vendorb-5.5&kind=charge"><data value="500000"/,
    );
    const wrong = await visitor.get(`${path}?${ofAccount}month=2026-13`);
    assert.equal(wrong.status, 400);
    assert.match(await wrong.text(), /Month: must be a month such as/);
  }
  const none = await operator.get("/console/operator/statement");
  assert.match(await none.text(), /Account: choose one/);
});

Deno.test("the forecast goes on as the last seven days did", async () => {
  const nowMs = Date.parse("2026-11-20T12:00:00Z");
  const usage = (byDay: Readonly<Record<string, number>>) => ({
    usage: (
      { fromDay = "", toDay = "" }: {
        readonly fromDay?: string;
        readonly toDay?: string;
      },
    ) => {
      const data = Object.entries(byDay)
        .filter(([day]) => day >= fromDay && day <= toDay)
        .map(([day, microUsd]) => ({ day, microUsd }));
      return Promise.resolve({
        data,
        totals: {
          microUsd: data.reduce((sum, { microUsd }) => sum + microUsd, 0),
        },
        // Only these are read.
      } as never);
    },
  });
  const of = async (byDay: Readonly<Record<string, number>>) => {
    const { spentMicroUsd, forecastMicroUsd } = await forecastOf(
      usage(byDay),
      {},
      nowMs,
    );
    return [spentMicroUsd, forecastMicroUsd];
  };
  const week = Object.fromEntries(
    [13, 14, 15, 16, 17, 18, 19].map((day) => [`2026-11-${day}`, 10]),
  );
  // Ten days and a half are left.
  assert.deepEqual(await of(week), [70, 175]);
  assert.deepEqual(await of({ "2026-11-18": 10, "2026-11-19": 30 }), [40, 250]);
  assert.deepEqual(await of({ "2026-11-20": 5 }), [5, 110]);
  assert.deepEqual(await of({}), [0, 0]);
});

Deno.test("a replaced admin token or vendor's key is a change, without the secret", async () => {
  await using folder = await temporaryFolder();
  const env = {
    DATABASE_URL: `sqlite:${folder.path}/books.sqlite3`,
    GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
  };
  const started = async (token: string) => {
    await using gateway = await startConsole({
      env: { ...env, GATEWAY_ADMIN_TOKEN: token },
    });
    const { admin } = gateway.accounts;
    await recordConfiguration(
      admin,
      readConfig({
        env: { ...env, GATEWAY_ADMIN_TOKEN: token },
        readFile: () => "{}",
      }),
      { type: "started" },
    );
    const { data } = await admin.changes.list({
      action: "configuration.load",
    });
    return data;
  };
  const first = await started(ADMIN_TOKEN);
  assert.equal((await started(ADMIN_TOKEN)).length, first.length);
  const [change, ...others] = await started(`${ADMIN_TOKEN}-two`);
  assert.equal(others.length, first.length);
  const { before = {}, after = {} } = change ?? {};
  assert.match(String(before["GATEWAY_ADMIN_TOKEN"]), /^set, mark \w{4}$/);
  assert.match(String(after["GATEWAY_ADMIN_TOKEN"]), /^set, mark \w{4}$/);
  assert.notEqual(
    before["GATEWAY_ADMIN_TOKEN"],
    after["GATEWAY_ADMIN_TOKEN"],
  );
  assert.doesNotMatch(JSON.stringify(change), /an-admin-token/);
});

Deno.test("changes are listed without sign-ins, with names as written and prices in dollars", async () => {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  const operator = await visitAs(gateway, "operator");
  await admin.changes.configurationLoaded("hash", {
    VENDORA_API_KEY: "set",
    "model big-1": "input 1000000, output 2500000 (tier priority), factor 2",
  });
  const read = async (search: string): Promise<string> =>
    await operator.read(`/console/operator/changes?${search}`);
  const html = await read("");
  assert.match(html, /<code>VENDORA_API_KEY<\/code>/);
  assert.match(
    html,
    /<code>model big-1<\/code>: <bdi>input \$1\.00, output \$2\.50 \(tier priority\), factor 2/,
  );
  assert.doesNotMatch(html, />session: start<\/td>/);
  assert.match(await read("sign_ins=yes"), />session: start<\/td>/);
  assert.match(
    await read("action=session.start"),
    />session: start<\/td>/,
  );
  const csv = await operator.read("/console/operator/changes.csv");
  assert.doesNotMatch(csv, /session\.start/);
});

/** The base rates of a model, as its callers read them. */
async function priceOf(
  url: string,
  key: string,
  model: string,
): Promise<ModelPrice> {
  const reply = await fetch(`${url}/v1/account/models`, {
    headers: { "x-api-key": key },
  });
  const { data } = await reply.json();
  const { price_micro_usd: price } = data.find(({ id }: { id: string }) =>
    id === model
  );
  return {
    input: price.input,
    cacheRead: price.cache_read,
    cacheWrite: price.cache_write,
    output: price.output,
  };
}

Deno.test("usage by model and by key has the share that came from caches, and what it saved", async () => {
  await using folder = await temporaryFolder();
  const url = `sqlite:${folder.path}/books.sqlite3`;
  await using gateway = await startConsole({ env: { DATABASE_URL: url } });
  const { id: keyId, text } = await credentialOf(gateway, "key");
  const store = await openStore(url);
  const price = await priceOf(gateway.url, text, "vendora-opus-4-8");
  await storeCharges(store, [{
    requestId: "req_a",
    keyId,
    model: "vendora-opus-4-8",
    tokens: {
      input: 200_000,
      cacheRead: 700_000,
      cacheWrite: 100_000,
      output: 1,
    },
    price,
    atMs: Date.now(),
  }]);
  await store.close();
  const saved = Math.round(
    (700_000 * (price.input - price.cacheRead) -
      100_000 * (price.cacheWrite - price.input)) / 1e6,
  );
  assert.ok(saved > 0);
  const operator = await visitAs(gateway, "operator");
  for (const by of ["model", "key"]) {
    const html = await operator.read(`/console/operator/usage?by=${by}`);
    assert.match(
      html,
      new RegExp(
        `<td class="n"[^>]*>70\\.0 %</td><td class="n"[^>]*><data value="${saved}">`,
      ),
    );
  }
});
