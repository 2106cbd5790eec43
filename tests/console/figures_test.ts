/** Every sum of the console is the sum of the lines that it leads to, in pages and files. */
import assert from "node:assert/strict";
import {
  ADMIN_TOKEN,
  credentialOf,
  startConsole,
  visit,
  type Visitor,
} from "../support/console/visitor.ts";
import { csvRows, sumOf } from "../support/console/csv_rows.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import { bearer } from "../support/clients/bearer.ts";

const CALLS = 1000;
const AT_ONCE = 20;
const MODELS = [
  "vendora-opus-4-8",
  "vendorb-5.5",
  "vendorc-3-pro",
  "no-such-model",
];

/** Calls of two accounts and three keys: formats, models, streams, end users, refusals. */
async function makeCalls(
  gateway: TestGateway,
  keys: readonly string[],
): Promise<void> {
  let at = 0;
  const worker = async (): Promise<void> => {
    for (let call = at++; call < CALLS; call = at++) {
      const path = call % 3 === 0 ? "/v1/chat/completions" : "/v1/messages";
      const user = `user ${call % 17}`;
      const reply = await gateway.post(path, {
        model: MODELS[call % MODELS.length],
        max_tokens: 50 + call % 100,
        stream: call % 2 === 0,
        ...(call % 5 === 0
          ? {}
          : path === "/v1/messages"
          ? { metadata: { user_id: user } }
          : { user }),
        messages: [{ role: "user", content: `Hello ${call}` }],
      }, { "x-api-key": keys[call % keys.length] ?? "" });
      await reply.text();
      const id = reply.headers.get("request-id");
      await gateway.logEntry(({ request_id }) => request_id === id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await gateway.accounts.flush();
  await gateway.recorded();
}

async function textOf(reply: Promise<Response>): Promise<string> {
  const { status } = await reply;
  const text = await (await reply).text();
  assert.equal(status, 200, text.slice(0, 500));
  return text;
}

async function json(
  url: string,
  credential: string,
): Promise<Record<string, Record<string, number>>> {
  return await (await fetch(url, bearer(credential))).json();
}

/** Amounts on a page, each with the address that it leads to. */
function linkedAmounts(
  html: string,
): readonly { readonly href: string; readonly microUsd: number }[] {
  return [...html.matchAll(
    /<a href="([^"]+)">(?:<span[^>]*>)?<data value="(-?\d+)"/g,
  )].map(([, href = "", value]) => ({
    href: href.replaceAll("&amp;", "&"),
    microUsd: Number(value),
  }));
}

/** Follows each amount of a page to the file of its lines. */
async function followAmounts(visitor: Visitor, path: string): Promise<number> {
  const amounts = linkedAmounts(await visitor.read(path));
  for (const { href, microUsd } of amounts) {
    const file = href.replace(/\/(ledger|usage|calls)\?/, "/$1.csv?");
    assert.notEqual(file, href);
    const rows = csvRows(await visitor.read(file));
    const sum = sumOf(rows, "micro_usd");
    assert.equal(
      file.includes("/ledger.csv") ? 0 - sum : sum,
      microUsd,
      `${path}: ${file}`,
    );
  }
  return amounts.length;
}

Deno.test("overview, usage, GET /v1/usage, calls, ledger and metrics agree after 1,000 mixed calls", async (t) => {
  await using gateway = await startConsole();
  const { url, accounts: { admin } } = gateway;
  for (const id of ["acme", "other"]) {
    await admin.accounts.create({ id, billing: "postpaid" });
  }
  const limited = await credentialOf(gateway, "key", "acme");
  const keys = [
    limited.text,
    (await credentialOf(gateway, "key", "acme")).text,
    (await credentialOf(gateway, "key", "other")).text,
  ];
  await makeCalls(gateway, keys);
  await admin.keys.update(limited.id, { spendPerDayMicroUsd: 1_000_000_000 });
  const { text: token } = await credentialOf(gateway, "manage", "acme");
  const owner = await visit(url, "manage", token);
  const operator = await visit(url, "operator", ADMIN_TOKEN);

  await t.step("the sums", async () => {
    const usage = (await json(`${url}/v1/usage?limit=1`, token))["totals"];
    const all = (await json(`${url}/admin/v1/usage`, ADMIN_TOKEN))["totals"];
    assert.ok(usage !== undefined && all !== undefined);
    const cost = usage["micro_usd"] ?? 0;
    assert.ok(cost > 0 && cost < (all["micro_usd"] ?? 0));
    assert.equal(all["requests"], CALLS * 3 / 4);
    const ofKeys = await Promise.all(
      keys.map(async (key) =>
        (await json(`${url}/v1/usage`, key))["totals"]?.["micro_usd"] ?? 0
      ),
    );
    assert.equal((ofKeys[0] ?? 0) + (ofKeys[1] ?? 0), cost);
    assert.equal(cost + (ofKeys[2] ?? 0), all["micro_usd"]);
    for (const page of ["", "usage", "usage?by=user"]) {
      const html = await owner.read(`/console/${page}`);
      assert.ok(html.includes(`<data value="${cost}"`), page);
    }
    for (
      const [visitor, base, sums] of [
        [owner, "/console", usage],
        [operator, "/console/operator", all],
      ] as const
    ) {
      const ledger = csvRows(await visitor.read(`${base}/ledger.csv`));
      const calls = csvRows(await visitor.read(`${base}/calls.csv`));
      assert.equal(sumOf(ledger, "micro_usd"), -(sums["micro_usd"] ?? 0));
      assert.equal(sumOf(calls, "micro_usd"), sums["micro_usd"]);
      assert.equal(ledger.length, sums["requests"]);
      assert.equal(
        calls.filter((row) => row["ledger_seq"] !== "").length,
        sums["requests"],
      );
      for (const name of ["input", "cache_read", "cache_write", "output"]) {
        const column = `${name}_tokens`;
        assert.equal(sumOf(ledger, column), sums[column]);
        assert.equal(sumOf(calls, column), sums[column]);
      }
      if (visitor === operator) assert.equal(calls.length, CALLS);
    }
    const metrics = await (await fetch(`${url}/metrics`, bearer(ADMIN_TOKEN)))
      .text();
    const counted = (name: string, label = ""): number =>
      metrics.split("\n").filter((line) =>
        line.startsWith(`${name}{`) && line.includes(label)
      ).reduce(
        (sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))),
        0,
      );
    assert.equal(counted("gateway_cost_micro_usd_total"), all["micro_usd"]);
    assert.equal(
      counted("gateway_tokens_total", `kind="output"`),
      all["output_tokens"],
    );
    assert.equal(
      counted("gateway_requests_total", `status="200"`),
      all["requests"],
    );
  });

  await t.step("each figure leads to its lines", async () => {
    const day = (ago: number): string =>
      new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    // The calls may have been made before midnight.
    const days = `from=${day(1)}&to=${day(0)}`;
    const followed: number[] = [];
    for (
      const path of [
        "/console/usage",
        "/console/usage?by=model",
        "/console/usage?by=key&model=vendorb-5.5",
        "/console/usage?by=user",
        `/console/usage?by=user&${days}&model=vendora-opus-4-8`,
        `/console/keys/${limited.id}`,
      ]
    ) followed.push(await followAmounts(owner, path));
    for (
      const path of [
        "/console/operator/",
        "/console/operator/usage?by=account",
        "/console/operator/usage?by=model&account=acme",
        `/console/operator/keys/${limited.id}`,
      ]
    ) followed.push(await followAmounts(operator, path));
    // Each page has at least a line and a sum.
    assert.ok(followed.every((count) => count >= 2), String(followed));
  });

  await t.step("files have what the filters show", async () => {
    const rows = async (query: string) =>
      csvRows(await owner.read(`/console/calls.csv?${query}`));
    const refused = await rows("ended=refused");
    assert.ok(refused.length > 100);
    assert.ok(refused.every((row) => row["code"] === "model_not_found"));
    const some = await rows("model=vendorb-5.5&user=user%203");
    assert.ok(some.length > 0);
    assert.ok(
      some.every((row) =>
        row["model"] === "vendorb-5.5" && row["user"] === "user 3"
      ),
    );
    assert.deepEqual(await rows("model=nothing"), []);
    const names = async (visitor: Visitor, path: string) =>
      csvRows(await visitor.read(path));
    assert.equal((await names(owner, "/console/keys.csv")).length, 2);
    const base = "/console/operator";
    assert.equal((await names(operator, `${base}/keys.csv`)).length, 3);
    assert.equal(
      (await names(operator, `${base}/keys.csv?account=other`)).length,
      1,
    );
    assert.ok((await names(operator, `${base}/accounts.csv`)).length >= 3);
    assert.ok((await names(operator, `${base}/plans.csv`)).length >= 1);
    assert.equal(
      (await names(owner, "/console/access/tokens.csv"))[0]?.["scope"],
      "manage",
    );
    assert.ok((await names(owner, "/console/models.csv")).length > 3);
  });

  await t.step(
    "a vendor's file agrees with the books until a line is removed",
    async () => {
      const focus = await textOf(
        operator.get("/console/operator/ledger.csv?format=focus"),
      );
      const lines = focus.trim().split("\r\n");
      const send = async (file: string): Promise<Response> =>
        await fetch(`${url}/admin/v1/reconciliations?vendor=vendorb`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${ADMIN_TOKEN}`,
            "content-type": "text/csv",
          },
          body: file,
        });
      const clean = await (await send(focus)).json();
      assert.deepEqual([clean.data, clean.totals.difference_micro_usd], [
        [],
        0,
      ]);
      const at = lines.findIndex((line) =>
        line.includes("Output tokens of vendorb-5.5")
      );
      const cost = Math.round(Number(lines[at]?.split(",")[0]) * 1e6);
      lines.splice(at, 1);
      const reply = await (await send(lines.join("\n"))).json();
      assert.equal(reply.totals.difference_micro_usd, -cost);
      assert.ok(reply.totals.causes.theirs_missing < 0);
      assert.equal(reply.data[0].name, "vendorb-5.5");
      const wrong = await send("day,model,cost\n2026-11-01,a,dear");
      assert.equal(wrong.status, 400);
      assert.match(
        await wrong.text(),
        /line 2, column cost: expected an amount/,
      );

      const form = new FormData();
      const page = await operator.read("/console/operator/reconcile");
      form.set(
        "form_token",
        /name="form_token" value="(\w+)"/.exec(page)?.[1] ?? "",
      );
      form.set("file", new File([lines.join("\n")], "invoice.csv"));
      form.set("vendor", "vendorb");
      const shown = await fetch(`${url}/console/operator/reconcile`, {
        method: "POST",
        headers: { cookie: operator.cookie, "sec-fetch-site": "same-origin" },
        body: form,
      });
      assert.equal(shown.status, 200);
      const html = await shown.text();
      assert.match(html, /1 of \d+ days and models differ/);
      assert.ok(html.includes(`<data value="${-cost}"`));
      const pasted = await operator.post("/console/operator/reconcile", {
        text: "day,model,cost\n2026-11-01,<b>a</b>,1",
      });
      assert.match(await pasted.text(), /&lt;b>a&lt;\/b>/);
    },
  );

  await t.step("what it would have cost", async () => {
    const { totals, price } = await json(
      `${url}/v1/usage/comparison?at=vendora-opus-4-8&model=vendora-opus-4-8`,
      token,
    );
    const usage = (await json(
      `${url}/v1/usage?model=vendora-opus-4-8`,
      token,
    ))["totals"];
    assert.ok(totals && price && usage);
    const count = (name: string): number => usage[`${name}_tokens`] ?? 0;
    const pico = ["input", "cache_read", "cache_write", "output"]
      .reduce((sum, name) => sum + count(name) * (price[name] ?? 0), 0);
    assert.equal(totals["would_be_micro_usd"], Math.ceil(pico / 1e6));
    assert.equal(totals["micro_usd"], usage["micro_usd"]);
    const rounding = (totals["micro_usd"] ?? 0) -
      (totals["would_be_micro_usd"] ?? 0);
    assert.ok(rounding >= 0 && rounding <= (usage["requests"] ?? 0));
    const html = await textOf(
      owner.get("/console/usage?model=vendora-opus-4-8&at=vendora-opus-4-8"),
    );
    assert.ok(
      html.includes(`<data value="${totals["would_be_micro_usd"]}"`),
    );
    assert.match(html, /counts a prompt differently/);
    const unknown = await fetch(
      `${url}/v1/usage/comparison?at=nothing`,
      bearer(token),
    );
    assert.equal(unknown.status, 400);
    assert.match(await unknown.text(), /at: is no model/);
  });
});
