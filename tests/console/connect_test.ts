/** The page *Connect*: the ids that the picker of a coding agent shows. */
import assert from "node:assert/strict";
import {
  credentialOf,
  startConsole,
  visit,
  type Visitor,
} from "../support/console/visitor.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

const ALIASES = {
  "claude-opus-4-8": { alias: "vendora-opus-4-8" },
  "anthropic/vendorb-5.5": { alias: "vendorb-5.5" },
  "claude-not-in-plan": { alias: "vendorb-5" },
};

async function withAccount(
  gateway: TestGateway,
  run: (visitor: Visitor) => Promise<void>,
): Promise<void> {
  try {
    const { admin } = gateway.accounts;
    await admin.plans.create({
      id: "some",
      models: [
        "vendora-opus-4-8",
        "claude-opus-4-8",
        "anthropic/vendorb-5.5",
      ].filter((id) => gateway.gateway.models.model(id) !== undefined),
    });
    await admin.accounts.create({
      id: "acme",
      planId: "some",
      billing: "postpaid",
    });
    const { text } = await credentialOf(gateway, "manage", "acme");
    await run(await visit(gateway.url, "manage", text));
  } finally {
    await gateway.close();
  }
}

async function page(visitor: Visitor, program: string): Promise<string> {
  return await visitor.read(`/console/connect/${program}`);
}

Deno.test("Connect lists the ids that Claude Code's picker shows this account, and switches it on", async () => {
  const gateway = await startTestGateway({
    configFile: JSON.stringify({ models: ALIASES }),
  });
  await withAccount(gateway, async (visitor) => {
    const shown = await page(visitor, "claude-code");
    assert.match(shown, /CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY=1/);
    assert.match(
      shown,
      /Its picker shows .*<code>claude-opus-4-8<\/code>, <code>anthropic\/vendorb-5\.5<\/code>/,
    );
    assert.doesNotMatch(shown, /claude-not-in-plan/);
    assert.doesNotMatch(await page(visitor, "codex"), /picker/);
  });
});

Deno.test("Connect says how models get into the picker where none of their ids is shown there", async () => {
  await withAccount(await startConsole(), async (visitor) => {
    const shown = await page(visitor, "claude-code");
    assert.doesNotMatch(shown, /MODEL_DISCOVERY/);
    assert.match(
      shown,
      /Its picker shows ids that begin with <code>claude<\/code> or <code>anthropic<\/code>: none of this gateway/,
    );
  });
});
