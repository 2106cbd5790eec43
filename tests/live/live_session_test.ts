/** The live list ends with the session or credential that opened it. */
import assert from "node:assert/strict";
import {
  credentialOf,
  startConsole,
  visit,
  visitAs,
} from "../support/console/visitor.ts";
import { withTimeout } from "../support/with_timeout.ts";
import { bearer } from "../support/clients/bearer.ts";

async function wholeText(reply: Response): Promise<string> {
  assert.equal(reply.status, 200);
  return await withTimeout(reply.text(), "the end of the list");
}

Deno.test("a live list ends with its session, its key or its token", async () => {
  await using gateway = await startConsole();
  const { url, accounts: { admin } } = gateway;
  const manage = await credentialOf(gateway, "manage");
  const token = await credentialOf(gateway, "read");
  const key = await credentialOf(gateway, "key");
  const visitor = await visit(url, "manage", manage.text);
  const watch = (text: string): Promise<Response> =>
    fetch(`${url}/v1/calls/live`, bearer(text));
  const lists = await Promise.all([
    visitor.get("/console/calls/live"),
    watch(token.text),
    watch(key.text),
  ]);
  await admin.tokens.revoke(manage.id);
  await admin.tokens.revoke(token.id);
  await admin.keys.revoke(key.id);
  for (const list of lists) {
    assert.match(
      await wholeText(list),
      /event: end\ndata: {"reason":"signed_out"}\n\n$/,
    );
  }
});

Deno.test("a page of another origin cannot open a live list, and HEAD opens none", async () => {
  await using gateway = await startConsole();
  const { cookie } = await visitAs(gateway, "manage");
  for (const site of ["same-site", "cross-site", "none"]) {
    const reply = await fetch(`${gateway.url}/console/calls/live`, {
      headers: { cookie, "sec-fetch-site": site },
    });
    await reply.body?.cancel();
    assert.equal(reply.status, 403, site);
  }
  for (let times = 0; times < 6; times++) {
    const { status } = await fetch(`${gateway.url}/console/calls/live`, {
      method: "HEAD",
      headers: { cookie },
    });
    assert.equal(status, 200);
  }
});
