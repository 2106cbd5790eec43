/** Forms that no page of the console sent: each is refused and changes nothing. */
import assert from "node:assert/strict";
import { ALL_ROUTES } from "../support/all_routes.ts";
import {
  startConsole,
  visitAs,
  type Visitor,
} from "../support/console/visitor.ts";
import { statusOf } from "../support/status_of.ts";

const FORGED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "another port of the same host": { "sec-fetch-site": "same-site" },
  "another site": { "sec-fetch-site": "cross-site" },
  "an address typed by hand": { "sec-fetch-site": "none" },
  "a browser that lies about its site": {
    "sec-fetch-site": "same-origin",
    origin: "http://127.0.0.1:1",
  },
  "an old browser, another origin": {
    "sec-fetch-site": "",
    origin: "https://evil.example",
  },
  "an origin that is no web address": {
    "sec-fetch-site": "",
    origin: "file://x",
  },
  "no browser": { "sec-fetch-site": "" },
};

Deno.test("a form of another origin is refused on every page, also where one signs in", async (t) => {
  await using gateway = await startConsole();
  const visitors: Readonly<Record<string, Visitor>> = {
    account: await visitAs(gateway, "manage"),
    operator: await visitAs(gateway, "operator"),
  };
  for (const [name, headers] of Object.entries(FORGED)) {
    await t.step(name, async () => {
      for (const route of ALL_ROUTES) {
        if (route.access !== "page" || route.method !== "POST") continue;
        const visitor = visitors[
          route.area === "operator" || route.area === "operator_sign_in"
            ? "operator"
            : "account"
        ];
        assert.ok(visitor !== undefined);
        assert.equal(
          await statusOf(
            visitor.post(route.path.replace(/:\w+/, "x"), {}, headers),
          ),
          403,
          route.path,
        );
      }
    });
  }
  assert.equal(
    (await gateway.accounts.admin.keys.list({ accountId: "default" })).data
      .length,
    0,
  );
});

Deno.test("a form with the token of another session, or without one, is refused", async () => {
  await using gateway = await startConsole();
  const visitor = await visitAs(gateway, "manage");
  for (const form_token of ["", "x", "0".repeat(32), "é".repeat(32)]) {
    assert.equal(
      await statusOf(
        visitor.post("/console/keys/new", { form_token, name: "x" }),
      ),
      403,
    );
  }
  const origin = gateway.url;
  assert.equal(
    await statusOf(
      visitor.post("/console/keys/new", { name: "x" }, {
        "sec-fetch-site": "",
        origin,
      }),
    ),
    200,
  );
});
