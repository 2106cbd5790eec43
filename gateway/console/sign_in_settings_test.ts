import assert from "node:assert/strict";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { claimOf, grantsOf, signInSettings } from "./sign_in_settings.ts";

const SETTINGS = { issuer: "https://login.example.com", client_id: "console" };

/** The grants of claims by rules, as `operator` or `SCOPE ACCOUNT`. */
function granted(rules: readonly object[], claims: JsonObject): string[] {
  const settings = signInSettings.parse({ ...SETTINGS, rules });
  return grantsOf(settings, claims).map((grant) =>
    grant.kind === "operator" ? grant.kind : `${grant.kind} ${grant.accountId}`
  );
}

Deno.test("grantsOf() gives what the claims permit, the wider of two", () => {
  const rules = [
    { claim: "groups", value: "a", account: "x" },
    { claim: "groups", value: "b", account: "x", scope: "manage" },
    { claim: "groups", value: "c", account: "x", scope: "read" },
    { claim: "groups", value: "c", account: "y" },
    { claim: "role", value: "admin", operator: true },
  ];
  const all = granted(rules, { groups: ["a", "b", "c"] });
  assert.deepEqual(all, ["manage x", "read y"]);
  assert.deepEqual(granted(rules, { groups: "a" }), ["read x"]);
  assert.deepEqual(granted(rules, { role: "admin" }), ["operator"]);
  for (
    const claims of [
      {},
      { groups: ["A", "ab", " a"] },
      { groups: "a,b" },
      { groups: { a: true } },
      { role: true },
      { constructor: "admin" },
    ]
  ) assert.deepEqual(granted(rules, claims), []);
});

Deno.test("grantsOf() ignores an address of mail that is not verified", () => {
  const rules = [{ claim: "email", value: "a@b", operator: true }];
  const verified = { email: "a@b", email_verified: true };
  assert.deepEqual(granted(rules, verified), ["operator"]);
  for (const email_verified of [undefined, false, "true", 1]) {
    assert.deepEqual(granted(rules, { ...verified, email_verified }), []);
  }
});

Deno.test("claimOf() reads a name, with its dots or as a path", () => {
  assert.equal(claimOf({ "https://x.example/g": 1 }, "https://x.example/g"), 1);
  assert.deepEqual(claimOf({ realm: { roles: ["r"] } }, "realm.roles"), ["r"]);
  assert.equal(claimOf({ realm: "r" }, "realm.length"), undefined);
  assert.equal(claimOf({}, "constructor.name"), undefined);
});

Deno.test("signInSettings refuses a table that could mean two things, and an issuer that others can read", () => {
  const rule = { claim: "g", value: "a", account: "x" };
  const operator = { claim: "g", value: "a", operator: true };
  const faulty = [
    { ...SETTINGS, rules: [] },
    { ...SETTINGS, rules: [{ ...rule, operator: true }] },
    { ...SETTINGS, rules: [{ claim: "g", value: "a" }] },
    { ...SETTINGS, rules: [{ ...operator, scope: "read" }] },
    { ...SETTINGS, rules: [{ ...rule, scope: "operator" }] },
    { ...SETTINGS, rules: [rule], scopes: ["email"] },
    { ...SETTINGS, rules: [rule], session_minutes: 0 },
    { ...SETTINGS, rules: [rule], issuer: "http://login.example.com" },
    { ...SETTINGS, rules: [rule], issuer: "https://user@login.example.com" },
    { ...SETTINGS, rules: [rule], secret: "x" },
  ];
  for (const settings of faulty) {
    const { success } = signInSettings.safeParse(settings);
    assert.ok(!success, JSON.stringify(settings));
  }
  assert.ok(signInSettings.safeParse({ ...SETTINGS, rules: [rule] }).success);
});
