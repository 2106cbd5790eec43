/** Parameters of addresses: unknown and doubled ones are refused by name, filters in their form. */
import assert from "node:assert/strict";
import { ALL_ROUTES } from "../support/all_routes.ts";
import {
  ADMIN_TOKEN,
  startConsole,
  visitAs,
  type Visitor,
} from "../support/console/visitor.ts";
import { TEST_KEY, type TestGateway } from "../support/test_gateway.ts";

/** Client libraries, probes and Prometheus send parameters of their own. */
const OF_OTHERS =
  /^\/(?:$|api\/hello|v1\/(?:models|responses)|v1beta|openai\/|healthz|readyz|metrics|openapi)/;

const SPOILT: readonly (readonly [query: string, message: RegExp])[] = [
  ["foo=bar", /foo/i],
  ["fro%22m=2026-11-01", /fro/],
  ["limit=1&limit=2", /limit/i],
  ["q=a%00b", /\bq\b/i],
];

async function withVisitors(
  run: (
    gateway: TestGateway,
    visitorOf: (path: string) => Visitor,
  ) => Promise<void>,
): Promise<void> {
  await using gateway = await startConsole();
  const account = await visitAs(gateway, "manage");
  const operator = await visitAs(gateway, "operator");
  await run(
    gateway,
    (path) => path.startsWith("/console/operator") ? operator : account,
  );
}

Deno.test("an unknown parameter, one that is given twice and one with a NUL are refused by their name, by every page and every list of the API", () =>
  withVisitors(async (gateway, visitorOf) => {
    let asked = 0;
    for (
      const { method, path, access, query } of ALL_ROUTES.map((one) => ({
        query: undefined,
        ...one,
      }))
    ) {
      if (method !== "GET" || query === "any" || OF_OTHERS.test(path)) continue;
      if (path.startsWith("/console/") && /\.(?:js|css|svg)$/.test(path)) {
        continue;
      }
      for (const [spoilt, message] of SPOILT) {
        const at = `${path.replaceAll(/:\w+/g, "x")}?${spoilt}`;
        const reply = access === "page"
          ? await visitorOf(path).get(at)
          : await fetch(`${gateway.url}${at}`, {
            headers: path.startsWith("/admin")
              ? { authorization: `Bearer ${ADMIN_TOKEN}` }
              : { "x-api-key": TEST_KEY },
          });
        const text = await reply.text();
        // A key may not see every page.
        if (reply.status === 403 || reply.status === 404) continue;
        asked++;
        assert.equal(reply.status, 400, `${at}: ${text.slice(0, 300)}`);
        // One that is required is missed first.
        if (access !== "page" && text.includes("required field")) continue;
        const words = access === "page"
          ? /role="alert">([^<]*)/.exec(text)?.[1] ?? ""
          : text;
        assert.match(words, message, at);
      }
    }
    assert.ok(asked > 200, String(asked));
  }));

/** Pages with a wrong value of each filter that can be wrong. */
const WRONG: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  usage: { from: "2026-02-31", to: "x", by: "week", show: "x", at: "x" },
  calls: { from: "x", to: "2026-02-31", status: "x", outcome: "x" },
  ledger: { from: "x", to: "x", kind: "x", after: "x" },
  changes: { from: "x", to: "x", action: "x", actor: "x" },
  // No list is empty only because the days are in the wrong order.
  "usage?from=2026-11-20": { to: "2026-11-10" },
  "calls?from=2026-11-20": { to: "2026-11-10" },
  "ledger?from=2026-11-20": { to: "2026-11-10" },
  "changes?from=2026-11-20": { to: "2026-11-10" },
  "operator/attempts?from=2026-11-20": { to: "2026-11-10" },
  statement: { month: "2026-13" },
  "operator/attempts": { from: "x", to: "x", outcome: "x" },
  "operator/accounts": { status: "x", sort: "x" },
  "operator/keys": { sort: "x" },
};

Deno.test("a refused filter stands in its form, with all values, at its field and in the frame of the page", () =>
  withVisitors(async (_, visitorOf) => {
    for (const [page, wrong] of Object.entries(WRONG)) {
      for (const [name, value] of Object.entries(wrong)) {
        const path = `/console/${page}`;
        const others: Readonly<Record<string, string>> =
          page.endsWith("keys") || page.endsWith("accounts")
            ? { q: "kept value" }
            : page === "statement"
            ? {}
            : page.startsWith("changes")
            ? { target: "kept value" }
            : { model: "kept value" };
        const at = `${path}${
          path.includes("?") ? "&" : "?"
        }${new URLSearchParams({
          ...others,
          [name]: value,
        })}`;
        const reply = await visitorOf(path).get(at);
        const html = await reply.text();
        assert.equal(reply.status, 400, at);
        assert.match(html, /<nav aria-label="Pages">/, at);
        assert.match(html, /Clear the filters/, at);
        for (const kept of Object.values(others)) {
          assert.ok(html.includes(`value="${kept}"`), `${at}: ${kept}`);
        }
        const [, alert = ""] = /role="alert">([^<]*)/.exec(html) ?? [];
        assert.match(alert.toLowerCase(), new RegExp(`^${name}\\b`), at);
        const [field] = new RegExp(
          `<(?:input|select)[^>]* aria-describedby="problem-${name}"[^>]*>`,
        ).exec(html) ?? [];
        if (["by", "show", "at", "after", "sort"].includes(name)) continue;
        assert.match(field ?? "", /aria-invalid="true"/, at);
        assert.match(html, new RegExp(`id="problem-${name}"`), at);
        if (field?.startsWith("<input")) {
          assert.ok(field.includes(`value="${value}"`), at);
        }
      }
    }
  }));

Deno.test("the file of a list has what its filters show", () =>
  withVisitors(async (gateway, visitorOf) => {
    const { admin } = gateway.accounts;
    await admin.plans.create({ id: "team" });
    for (const id of ["one", "two"]) {
      await admin.accounts.create({ id, planId: "team" });
      await admin.keys.issue({ accountId: id, name: `of ${id}` });
    }
    for (const list of ["accounts", "keys"]) {
      const path = `/console/operator/${list}`;
      const visitor = visitorOf(path);
      const html = await visitor.read(`${path}?q=one&sort=-name`);
      const [, file = ""] = /href="([^"]*\.csv[^"]*)"/.exec(html) ?? [];
      assert.equal(file, `${path}.csv?q=one`);
      const csv = await visitor.read(file);
      assert.match(csv, /\bone\b/);
      assert.doesNotMatch(csv, /\btwo\b/);
    }
  }));
