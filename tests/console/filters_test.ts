/** Filters in a page's address: a wrong one is refused by name, on the page and in its file. */
import assert from "node:assert/strict";
import { ALL_ROUTES } from "../support/all_routes.ts";
import {
  ADMIN_TOKEN,
  credentialOf,
  startConsole,
  visit,
  visitAs,
} from "../support/console/visitor.ts";

/** Pages with the filters that have a form of their own. */
const FILTERS: Readonly<Record<string, readonly string[]>> = {
  usage: ["from", "to", "by"],
  "usage.csv": ["from", "to", "by"],
  calls: ["from", "to", "status", "ended", "after"],
  "calls.csv": ["from", "to", "status", "ended"],
  ledger: ["from", "to", "kind", "after"],
  "ledger.csv": ["from", "to", "kind"],
  changes: ["from", "to", "action", "actor", "after"],
  "changes.csv": ["from", "to", "action", "actor"],
};
const DAYS = ["x", "2026-02-31", "9999-99-99", "0000-00-00", "+275760-09-14"];
/** Values that some reader of a query stumbles over. */
const ODD = ["9999-99-99", `-1"><b>'😀`.repeat(60)];

Deno.test("a wrong filter is refused by its name, and no address makes a page fail", async (t) => {
  await using gateway = await startConsole();
  const { url } = gateway;
  const account = await visit(
    url,
    "manage",
    (await credentialOf(gateway, "manage")).text,
  );
  const operator = await visit(url, "operator", ADMIN_TOKEN);
  for (const [page, names] of Object.entries(FILTERS)) {
    await t.step(page, async () => {
      const areas = page.startsWith("operator/")
        ? [[operator, `/console/${page}`]] as const
        : [[account, `/console/${page}`], [
          operator,
          `/console/operator/${page}`,
        ]] as const;
      for (const [visitor, path] of areas) {
        for (const name of names) {
          for (const value of name === "from" || name === "to" ? DAYS : "x") {
            const at = `${path}?${new URLSearchParams({ [name]: value })}`;
            const reply = await visitor.get(at);
            const text = await reply.text();
            assert.equal(reply.status, 400, at);
            const [, alert = ""] = /role="alert">([^<]*)/.exec(text) ?? [];
            assert.match(alert.toLowerCase(), new RegExp(`^${name}\\b`), at);
            assert.match(
              text,
              /Clear the filters|Open the page without these values/,
            );
          }
        }
      }
    });
  }
  await t.step("odd values in every field of every page", async () => {
    const names = [...new Set(Object.values(FILTERS).flat())].concat(
      ["at", "model", "key", "account", "user", "id", "vendor", "format"],
    );
    for (const route of ALL_ROUTES) {
      const { method, path } = route;
      if (
        method !== "GET" || route.access !== "page" || "isBackground" in route
      ) continue;
      const visitor = path.startsWith("/console/operator") ? operator : account;
      for (const value of ODD) {
        const fields = names.map((name) => [name, value]);
        // The first wrong field hides those behind it, so wrong days are sent alone as well.
        const alone = value === ODD[0] && path.slice(9) in FILTERS
          ? fields.map((field) => [field])
          : [];
        for (const some of [fields, ...alone]) {
          const at = `${path.replaceAll(/:\w+/g, "x")}?${new URLSearchParams(
            some,
          )}`;
          const reply = await visitor.get(at);
          await reply.text();
          assert.ok(reply.status < 500, at);
        }
      }
    }
  });
});

Deno.test("keys are listed from the newest on, over all pages", async () => {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  await admin.accounts.create({ id: "many" });
  const ids: string[] = [];
  for (let i = 0; i < 120; i++) {
    const { record } = await admin.keys.issue({ accountId: "many" });
    ids.push(record.id);
  }
  const { text } = await credentialOf(gateway, "manage", "many");
  const visitor = await visit(gateway.url, "manage", text);
  const shown: string[] = [];
  for (
    let path: string | undefined = "/console/keys";
    path !== undefined;
  ) {
    const page: string = await visitor.read(path);
    shown.push(
      ...[...page.matchAll(/keys\/rotate\/(\w+)/g)].map(([, id = ""]) => id),
    );
    path = /href="(\/console\/keys\?page=[^"]*)"/.exec(page)?.[1];
  }
  assert.deepEqual(shown, ids.toSorted().toReversed());
});

Deno.test("two tabs lose no change of a plan, and of one field only knowingly", async () => {
  await using gateway = await startConsole();
  const { admin } = gateway.accounts;
  await admin.plans.create({ id: "team", requestsPerMinute: 10 });
  const operator = await visitAs(gateway, "operator");
  const path = "/console/operator/plans/team";
  const fields = async (): Promise<Record<string, string>> => {
    const [, form = ""] =
      /<form[^>]*action="\/console\/operator\/plans\/team"([^]*?)<\/form>/
        .exec(await operator.read(path)) ?? [];
    return Object.fromEntries(
      [...form.matchAll(/<input[^>]*>/g)].filter(([tag]) =>
        !tag.includes("checkbox") || tag.includes(" checked")
      ).map(([tag]) => [
        /name="([^"]*)"/.exec(tag)?.[1] ?? "",
        /value="([^"]*)"/.exec(tag)?.[1] ?? "",
      ]).filter(([name]) => name !== "form_token"),
    );
  };
  const [one, other] = [await fields(), await fields()];
  const changes: readonly Record<string, string>[] = [
    { ...one, requests_per_minute: "20" },
    { ...other, concurrent_requests: "5" },
    await fields(),
  ];
  for (const form of changes) {
    const reply = await operator.post(path, {
      ...form,
      idempotency_key: crypto.randomUUID(),
    });
    await reply.body?.cancel();
    assert.equal(reply.status, 303);
  }
  // The same field: the second one sees the first one's value before it replaces it.
  const late = { ...one, requests_per_minute: "30" };
  const refused = await operator.post(path, late);
  const html = await refused.text();
  assert.equal(refused.status, 400);
  assert.match(html, /was changed meanwhile to 20; send the form again/);
  assert.match(
    html,
    /name="requests_per_minute"[^>]*value="30"|value="30"[^>]*name="requests_per_minute"/,
  );
  const plan = await admin.plans.get("team");
  assert.equal(plan.requestsPerMinute, 20);
  assert.equal(plan.concurrentRequests, 5);
  const again = await operator.post(path, {
    ...late,
    was_requests_per_minute: "20",
  });
  await again.body?.cancel();
  assert.equal((await admin.plans.get("team")).requestsPerMinute, 30);
});
