/** A client that puts its key where it does not belong: the key is kept nowhere. */
import assert from "node:assert/strict";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";
import { newKey } from "../../gateway/accounts/key.ts";

Deno.test("a key in a path, a name or an end user's id is in no log line, record or report", async () => {
  await using gateway = await startTestGateway();
  const keys = [TEST_KEY, newKey()];
  const headers = { "x-api-key": TEST_KEY };
  const ask = async (path: string): Promise<void> => {
    await (await fetch(gateway.url + path, { headers })).text();
  };
  for (const key of keys) {
    for (
      const path of [
        `/v1/models/${key}`,
        `/v1/${key}/models`,
        `/v1/calls/${key}`,
        `/v1/models/${key.replace("-", "%2D")}`,
        `/console/calls/${key}`,
        `/v1/usage?key=${key}`,
      ]
    ) await ask(path);
    const messages = [{ role: "user", content: "hello" }];
    for (
      const body of [
        { model: key, max_tokens: 9, messages },
        {
          model: "vendorb-5",
          max_tokens: 9,
          messages,
          metadata: { user_id: key },
          [key]: 1,
        },
      ]
    ) await (await gateway.post("/v1/messages", body)).text();
  }
  await gateway.accounts.flush();
  const kept = [JSON.stringify(gateway.logged)];
  for (
    const path of [
      "/v1/calls",
      "/v1/usage?by=user",
      "/v1/calls?ended=refused",
    ]
  ) {
    kept.push(await (await fetch(gateway.url + path, { headers })).text());
  }
  for (const key of keys) {
    const secret = key.slice(3);
    for (const text of kept) assert.ok(!text.includes(secret), text);
  }
  assert.ok(kept[0]?.includes("/v1/sk-[removed]/models"), kept[0]);
});
