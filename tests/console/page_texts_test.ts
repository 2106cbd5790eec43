/** Texts and figures of pages. */
import assert from "node:assert/strict";
import {
  ADMIN_TOKEN,
  credentialOf,
  startConsole,
  visitAs,
} from "../support/console/visitor.ts";
import { moneyText } from "../../routes/console/parts/money.tsx";
import { startTestGateway } from "../support/test_gateway.ts";
import { withCandidates } from "../support/with_candidates.ts";

Deno.test("a new sign-in link says that it works once, until when, and with which scope", async () => {
  await using gateway = await startConsole();
  const operator = await visitAs(gateway, "operator");
  const reply = await operator.post(
    "/console/operator/accounts/link/default",
    { name: "Robin", scope: "manage" },
  );
  const html = await reply.text();
  assert.match(
    html,
    /opens the account <bdi>default<\/bdi> once, until <time datetime="/,
  );
  assert.match(html, /look and to manage its keys/);
  assert.match(html, /Robin/);
  assert.doesNotMatch(html, /only its programs can read|I have stored it/);
});

Deno.test("the breaker of a candidate that is not well says what it waits for", () =>
  withCandidates(
    { env: { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN }, random: () => 0 },
    async ({ gateway, ask, a }) => {
      a.play([], { status: 503 });
      for (let at = 0; at < 10; at++) await (await ask()).text();
      const operator = await visitAs(gateway, "operator");
      assert.match(
        await operator.read("/console/operator/upstreams"),
        />open<\/span> probe <time[^>]*>in \d+ s</,
      );
    },
  ));

Deno.test("a sum with estimates is marked, a call names its key and says once that nothing was charged", async () => {
  await using gateway = await startConsole();
  const key = await credentialOf(gateway, "key");
  const ids: string[] = [];
  for (const model of ["vendorb-5.5", "no-such-model"]) {
    const reply = await gateway.call({
      model,
      stream: true,
      text: "[[fx:cut]]",
    }, key.text);
    await reply.text().catch(() => "");
    ids.push(reply.headers.get("request-id") ?? "");
    await gateway.logEntry(({ request_id }) => request_id === ids.at(-1));
  }
  await gateway.recorded();
  const owner = await visitAs(gateway, "read");
  const usage = await owner.read("/console/usage?by=model");
  const sum = usage.split("<tfoot>").at(-1) ?? "";
  assert.match(sum, />≈\u00a0(?:&lt;)?\$/);
  const [line = ""] = usage.split("<tbody>").at(-1)?.split("</tr>") ?? [];
  assert.match(line, />≈\u00a0(?:&lt;)?\$/);
  const operator = await visitAs(gateway, "operator");
  for (const path of ["", "accounts/default"]) {
    const html = await operator.read(`/console/operator/${path}`);
    assert.match(html, />≈\u00a0(?:&lt;)?\$[\d.]+<\/data><\/a>/, path);
  }
  const refused = await owner.read(`/console/calls/${ids[1]}`);
  assert.equal(refused.match(/othing was charged/g)?.length, 1);
  assert.match(refused, />of a test</);
});

Deno.test("a first call is suggested with a model that may be called, until there is one", async () => {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  await admin.plans.create({
    id: "few",
    models: ["vendorb-5"],
    spendPerDayMicroUsd: 1,
  });
  await admin.accounts.create({
    id: "new",
    planId: "few",
    billing: "postpaid",
  });
  const owner = await visitAs(gateway, "manage", "new");
  assert.match(
    await owner.read("/console/"),
    /No calls yet[^]*model&quot;: &quot;vendorb-5&quot;/,
  );
  const made = await owner.post("/console/keys/new", { name: "laptop" });
  assert.match(await made.text(), /model&quot;: &quot;vendorb-5&quot;/);
  const { text } = await credentialOf(gateway, "key", "new");
  const refused = await gateway.call({ model: "vendorb-5" }, text);
  await refused.body?.cancel();
  assert.equal(refused.status, 429);
  await gateway.recorded();
  const after = await owner.read("/console/");
  assert.match(after, /Last calls/);
  assert.doesNotMatch(after, /No calls yet/);
});

Deno.test("prices of a column have as many decimals, and without an admin token the operators' sign-in says so", async () => {
  await using gateway = await startTestGateway();
  const owner = await visitAs(gateway, "read");
  const models = await owner.read("/console/models");
  const rows = models.split("<tbody>").at(1)?.split("</tbody>")[0]
    ?.split("</tr>").filter((row) => row.includes("<td")) ?? [];
  assert.ok(rows.length > 5);
  const columns = rows.map((row) =>
    row.split("<td").slice(1).map((cell) =>
      /\$[\d,]+\.(\d+)/.exec(cell)?.[1]?.length
    )
  );
  const widths = columns[0]?.map((_, at) =>
    new Set(
      columns.map((row) => row[at]).filter((width) => width !== undefined),
    ).size
  ) ?? [];
  assert.ok(widths.some((width) => width === 1));
  assert.ok(widths.every((width) => width <= 1), String(widths));
  const page = await fetch(`${gateway.url}/console/operator/sign-in`, {
    headers: { accept: "text/html" },
  });
  const html = await page.text();
  assert.equal(page.status, 404);
  assert.match(html, /GATEWAY_ADMIN_TOKEN/);
  assert.doesNotMatch(html, /href="\/console\/operator/);
});

Deno.test("an amount that is not zero is not shown as zero", () => {
  assert.deepEqual(
    ([[0, 2], [1, 2], [4_999, 2], [5_000, 2], [99, 4], [100, 4]] as const)
      .map(([microUsd, decimals]) => moneyText(microUsd, decimals)),
    ["$0.00", "<$0.0001", "<$0.01", "$0.01", "<$0.0001", "$0.0001"],
  );
  assert.equal(moneyText(-1_000, 2), "−<$0.01");
});
