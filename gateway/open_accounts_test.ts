import assert from "node:assert/strict";
import { readConfig } from "./config.ts";
import { openConfiguredAccounts } from "./open_accounts.ts";

Deno.test({
  name:
    "without a store that can be written, nothing but the ledger is in memory",
  permissions: { read: true, env: true, sys: true },
  async fn() {
    const config = readConfig({
      env: { GATEWAY_KEY: "sk-0123456789abcdef0" },
      readFile: () => "{}",
    });
    const { accounts, isInMemory, replies } = await openConfiguredAccounts(
      config,
      () => {},
    );
    await accounts.close();
    assert.equal(isInMemory, true);
    assert.equal(replies, undefined);
  },
});
