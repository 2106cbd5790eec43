/** The settings in force, by page and by API: to read, and without a secret. */
import assert from "node:assert/strict";
import { SETTING_NAMES } from "../../gateway/settings/setting_forms.ts";
import {
  ADMIN_TOKEN,
  startConsole,
  visitAs,
} from "../support/console/visitor.ts";
import { bearer } from "../support/clients/bearer.ts";

Deno.test("page and API list every setting with its value and source, and secrets as set or not", async () => {
  const vendorKey = "canary-vendor-key";
  await using gateway = await startConsole({
    env: { VENDORA_API_KEY: vendorKey, GATEWAY_PING_SECONDS: "7" },
  });
  const text =
    await (await fetch(`${gateway.url}/admin/v1/settings`, bearer(ADMIN_TOKEN)))
      .text();
  const { data } = JSON.parse(text);
  const of = (name: string) =>
    data.find((one: { name: string }) => one.name === name);
  assert.deepEqual(
    data.map(({ name }: { name: string }) => name).toSorted(),
    [...SETTING_NAMES].toSorted(),
  );
  assert.equal(of("GATEWAY_PING_SECONDS").value, "7");
  assert.equal(of("GATEWAY_PING_SECONDS").source, "environment");
  assert.equal(of("GATEWAY_PING_SECONDS").default, "`10`");
  assert.equal(of("GATEWAY_ADMIN_TOKEN").value, null);
  assert.equal(of("GATEWAY_ADMIN_TOKEN").is_set, true);
  assert.equal(of("VENDORB_API_KEY").is_set, false);
  const operator = await visitAs(gateway, "operator");
  const html = await operator.read("/console/operator/settings");
  for (const name of SETTING_NAMES) assert.ok(html.includes(`id="${name}"`));
  assert.match(
    html,
    /GATEWAY_PING_SECONDS<\/code><\/th><td class="wrap"[^>]*><code>7<\/code><\/td><td[^>]*><b>environment<\/b>/,
  );
  assert.match(
    html,
    /GATEWAY_ADMIN_TOKEN<\/code><\/th><td class="wrap"[^>]*><span class="tag ok">set</,
  );
  for (const shown of [text, html]) {
    assert.ok(!shown.includes(vendorKey) && !shown.includes(ADMIN_TOKEN));
  }
  // Nothing changes a setting.
  const post = await operator.post("/console/operator/settings", {
    GATEWAY_PING_SECONDS: "1",
  });
  assert.equal(post.status, 405);
  await post.body?.cancel();
});
