/** The configuration files in docs/, loaded; the one with several upstreams is called. */
import assert from "node:assert/strict";
import { readConfig } from "../../gateway/settings/config.ts";
import { startScriptedUpstream } from "../support/upstreams/scripted_upstream.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const DOCS = new URL("../../docs/", import.meta.url);

/** The files, each with its page. */
async function examples(): Promise<readonly (readonly [string, string])[]> {
  const found: [string, string][] = [];
  for await (const { name } of Deno.readDir(DOCS)) {
    if (!name.endsWith(".md")) continue;
    // Other programs have files of their own.
    const [page = ""] = (await Deno.readTextFile(new URL(name, DOCS)))
      .split("## More programs");
    for (const [, text = ""] of page.matchAll(/```json\n(\{[^]*?)```/g)) {
      // Others are messages of webhooks.
      if (!text.includes('"timestamp"')) found.push([name, text]);
    }
  }
  return found;
}

Deno.test("every configuration file in docs/ is valid", async (t) => {
  const files = await examples();
  assert.ok(files.length >= 11);
  for (const [name, text] of files) {
    await t.step(
      `${name}: ${text.replaceAll(/\s+/g, " ").slice(0, 40)}`,
      () => {
        readConfig({
          env: { GATEWAY_CONFIG: "x", GATEWAY_SIGN_IN_SECRET: "secret" },
          readFile: () => text,
        });
      },
    );
  }
});

Deno.test("the candidates in docs/failover.md are called in the documented order", async () => {
  const [, example] =
    (await examples()).find(([name]) => name === "failover.md") ?? [];
  assert.ok(example !== undefined);
  await using east = startScriptedUpstream("east");
  await using west = startScriptedUpstream("west");
  await using spare = startScriptedUpstream("spare");
  await using gateway = await startTestGateway({
    realVendors: true,
    random: () => 0,
    env: {
      EAST_API_KEY: "k-east",
      WEST_API_KEY: "k-west",
      VENDORA_API_KEY: "k-a",
      VENDORA_BASE_URL: spare.url,
    },
    configFile: example.replace("https://east.example.com", east.url)
      .replace("https://west.example.com", west.url),
  });
  const replyText = async (): Promise<string> => {
    const response = await gateway.call({ model: "vendorb-5" });
    return await response.text();
  };
  assert.match(await replyText(), /from east/);
  east.play([], { status: 503 });
  assert.match(await replyText(), /from west/);
  west.play([], "reset");
  assert.match(await replyText(), /from spare/);
  assert.equal(east.calls[0]?.headers["authorization"], "Bearer k-east");
  assert.equal(west.calls[0]?.body["model"], "gpt-5-west");
  assert.equal(spare.calls[0]?.body["model"], "claude-sonnet-4-6");
});
