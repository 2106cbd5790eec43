/** Every query that a page of the console makes is bounded by an index, whatever its filters. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { ALL_ROUTES } from "../support/all_routes.ts";
import {
  credentialOf,
  startConsole,
  visit,
  visitAs,
  type Visitor,
} from "../support/console/visitor.ts";

/** Tables that grow with every call. */
const SCAN =
  /\bSCAN (?:ledger|usage_daily|calls|call_hours|call_days|failed_attempts)\b/;

/** Upper and lower bounds of the columns that pages are read along. */
const BOUNDS: readonly RegExp[] = [
  /\b(?:seq|request_id) <=? \?/g,
  /\b(?:seq|request_id) >=? \?/g,
];

/** Filters of pages, by the last part of their path. */
const FILTERS: Readonly<Record<string, readonly string[]>> = {
  usage: [
    "",
    "by=model&model=m",
    "by=key&key=k",
    "by=user&account=acme",
    "by=day&user=u&account=acme",
    "by=model&at=vendorb-5&from=2026-01-01&to=2026-02-01",
    "by=key&show=errors",
    "by=account&show=calls",
    "by=model&show=first_token&account=acme&key=k",
    "by=day&show=errors&key=k&from=2026-01-01T10:00&to=2026-01-02T10:00",
  ],
  calls: [
    "",
    "ended=refused&status=429",
    "outcome=rescued",
    "outcome=failed&account=acme&from=2026-01-01",
    "model=m&user=u&from=2026-01-01&to=2026-02-01",
    "key=k",
    "code=requests_per_minute",
    "account=acme",
    "sort=-cost",
    "sort=whole&account=acme&model=m",
    "sort=-whole&key=k&page=2",
  ],
  attempts: [
    "",
    "upstream=u&from=2026-01-01T10:00&to=2026-02-01",
    "model=m&error=503&account=acme&outcome=rescued",
  ],
  ledger: [
    "",
    "kind=charge&model=m",
    "kind=top_up",
    "key=k&user=u",
    "from=2026-01-01&to=2026-02-01",
    "kind=charge&model=m&from=2026-01-01&to=2026-02-01",
    "request_id=req_1",
    "account=acme",
    "sort=time",
    "sort=amount",
    "sort=-amount&account=acme&kind=top_up",
  ],
};

Deno.test("no query of a page scans a table that grows with every call", async () => {
  const folder = await Deno.makeTempDir();
  const statements = new Set<string>();
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (text: string) {
    statements.add(text);
    return prepare.call(this, text);
  };
  const gateway = await startConsole({
    env: { DATABASE_URL: `sqlite:${folder}/books.sqlite3` },
  });
  try {
    const { admin } = gateway.accounts;
    await admin.accounts.create({ id: "acme", billing: "postpaid" });
    const key = await credentialOf(gateway, "key", "acme");
    const reply = await gateway.call({}, key.text);
    await reply.text();
    const call = reply.headers.get("request-id") ?? "";
    await gateway.accounts.flush();
    const visitors: readonly (readonly [Visitor, string])[] = [
      [
        await visitAs(gateway, "manage", "acme"),
        "account",
      ],
      [await visit(gateway.url, "key", key.text), "account"],
      [await visitAs(gateway, "operator"), "operator"],
    ];
    let asked = 0;
    for (const [visitor, area] of visitors) {
      for (const route of ALL_ROUTES) {
        if (
          route.access !== "page" || route.method !== "GET" ||
          route.area !== area || route.path.endsWith("/live") ||
          route.path.endsWith("/events")
        ) continue;
        const path = route.path.replace(
          /:\w+$/,
          () =>
            route.path.includes("/calls/")
              ? call
              : route.path.includes("/keys/")
              ? key.id
              : "acme",
        );
        const kind = /\/(\w+)(?:\.csv)?$/.exec(route.path)?.[1] ?? "";
        for (const query of FILTERS[kind] ?? [""]) {
          const answer = await visitor.get(
            query === "" ? path : `${path}?${query}`,
          );
          await answer.text();
          assert.ok(answer.status !== 500, `${path}?${query}`);
          if (answer.status === 200) asked++;
        }
      }
    }
    const file = [...FILTERS["ledger"] ?? []].length;
    assert.ok(asked > 50 + file, `only ${asked} pages answered`);
    const operator = visitors.at(-1)?.[0];
    const compared = await operator?.post("/console/operator/reconcile", {
      text: "day,model,input_tokens,cost\n2026-01-01,vendora-opus-4-8,1,1",
      vendor: "vendora",
    });
    await compared?.body?.cancel();
    assert.equal(compared?.status, 200);
    const scans: string[] = [];
    using database = new DatabaseSync(`${folder}/books.sqlite3`);
    for (const text of statements) {
      if (!/^\s*(?:SELECT|WITH)\b/i.test(text)) continue;
      const plan = prepare.call(database, `EXPLAIN QUERY PLAN ${text}`).all()
        .map((row) => String(row["detail"]));
      if (plan.some((line) => SCAN.test(line))) {
        scans.push(`${text}\n  ${plan.join("\n  ")}`);
      }
    }
    assert.ok(statements.size > 50, `only ${statements.size} statements`);
    assert.deepEqual(scans, []);
    // Of two bounds in one direction, SQLite uses either one for the index: the other one's rows
    // would be walked past.
    const doubled = [...statements].filter((text) =>
      / FROM (?:ledger|calls)\b/.test(text) &&
      BOUNDS.some((bound) => (text.match(bound) ?? []).length > 1)
    );
    assert.deepEqual(doubled, []);
  } finally {
    DatabaseSync.prototype.prepare = prepare;
    await gateway.close();
    await Deno.remove(folder, { recursive: true });
  }
});
