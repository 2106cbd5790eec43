/** No field of a request, in any body or form, widens what a credential may do. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { z } from "zod";
import { LIMIT_NAMES } from "../../gateway/accounts/records.ts";
import { ADMIN_OPERATIONS } from "../../gateway/admin/mod.ts";
import { ACCOUNT_OPERATIONS } from "../../gateway/console/account_operation.ts";
import { ALL_ROUTES } from "../support/all_routes.ts";
import { isObject } from "../../translate/bytes/json.ts";
import {
  credentialOf,
  startConsole,
  visit,
} from "../support/console/visitor.ts";
import { bearer } from "../support/clients/bearer.ts";

/** Every field that any operation takes, those of operators included, and some that none takes. */
const FIELDS: readonly string[] = [
  ...new Set([
    ...[...ADMIN_OPERATIONS, ...ACCOUNT_OPERATIONS].flatMap(({ request }) => {
      if (request === undefined) return [];
      const schema: unknown = z.toJSONSchema(request, {
        io: "input",
        unrepresentable: "any",
      });
      return isObject(schema) && isObject(schema["properties"])
        ? Object.keys(schema["properties"])
        : [];
    }),
    "account_id",
    "kind",
    "role",
    "permission",
    "allowed_routes",
    "hash",
    "key",
    "revoked_at",
    "created_at",
    "balance_micro_usd",
    "days",
    "model",
    "__proto__",
    "constructor",
  ]),
];

/** What an account's credential may change, by page and by API. */
const CHANGING = ALL_ROUTES.filter((route) =>
  route.method === "POST" &&
  (route.access === "account" ||
    route.access === "page" && route.area === "account" &&
      route.path !== "/console/sign-out")
);

const value = fc.oneof(
  fc.constantFrom<unknown>(
    "manage",
    "operator",
    "other",
    "active",
    "unlimited",
    "2027-01-01",
    "none",
    "vendorc-3-pro",
    ["/*"],
    ["vendora-opus-4-8"],
    true,
    null,
    { scope: "manage" },
  ),
  fc.constantFrom(0, 1, 100, 1e12),
);

Deno.test("no field of any body or form widens what a credential may do", async () => {
  assert.ok(FIELDS.length > 25, `only ${FIELDS.length} fields`);
  assert.ok(CHANGING.length > 10, `only ${CHANGING.length} routes`);
  await using gateway = await startConsole();
  const { url, accounts: { admin } } = gateway;
  const plan = await admin.plans.create({
    id: "small",
    requestsPerMinute: 50,
    spendPerDayMicroUsd: 1_000_000,
    models: ["vendora-opus-4-8"],
  });
  await admin.accounts.create({ id: "acme", planId: "small" });
  await admin.accounts.create({ id: "other" });
  const theirs = [
    await credentialOf(gateway, "key", "other"),
    await credentialOf(gateway, "manage", "other"),
  ];
  const own = await credentialOf(gateway, "key", "acme");
  const state = async () => ({
    accounts: (await admin.accounts.list()).data,
    plans: (await admin.plans.list()).data,
    keys: (await admin.keys.list({ accountId: "other" })).data,
    tokens: (await admin.tokens.list({ accountId: "other" })).data,
    webhook: await admin.webhooks.get("acme"),
  });
  const credentials = async () => ({
    keys: (await admin.keys.list({ accountId: "acme" })).data,
    tokens: (await admin.tokens.list({ accountId: "acme" })).data
      .map(({ id, scope, revokedAtMs }) => ({ id, scope, revokedAtMs })),
  });
  for (const kind of ["key", "read", "manage"] as const) {
    const { text, id } = kind === "key"
      ? own
      : await credentialOf(gateway, kind, "acme");
    const visitor = await visit(url, kind, text);
    const victim = await credentialOf(gateway, "read", "acme");
    const ids = [own.id, victim.id, ...theirs.map((one) => one.id), "self"];
    const before = await state();
    const beforeOwn = await credentials();
    let applied = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...CHANGING),
        fc.constantFrom(...ids),
        fc.dictionary(fc.constantFrom(...FIELDS), value, { maxKeys: 4 }),
        fc.boolean(),
        async ({ path, access }, id, fields, isNamed) => {
          // Many bodies are complete only with a name.
          const body = isNamed ? { name: "n", ...fields } : fields;
          const address = path.replace(":id", id);
          const reply = access === "page"
            ? await visitor.post(
              address,
              Object.fromEntries(
                Object.entries(body).map((
                  [name, value],
                ) => [name, String(value)]),
              ),
            )
            : await fetch(`${url}${address}`, bearer(text, body));
          await reply.body?.cancel();
          assert.ok(reply.status < 500, `${address}: ${reply.status}`);
          if (reply.status < 400) applied++;
        },
      ),
      { numRuns: 150 },
    );
    assert.deepEqual(await state(), before, kind);
    const after = await credentials();
    if (kind !== "manage") {
      assert.equal(applied, 0, kind);
      assert.deepEqual(after, beforeOwn, kind);
      continue;
    }
    assert.ok(applied > 0, "no body was valid");
    assert.deepEqual(
      after.tokens.filter(({ scope }) => scope === "manage")
        .map((one) => one.id),
      [id],
    );
    for (const key of after.keys) {
      for (const name of LIMIT_NAMES) {
        const most = plan[name];
        if (most === undefined) continue;
        assert.ok((key[name] ?? 0) <= most, `${key.id}: ${name}`);
      }
    }
  }
});
