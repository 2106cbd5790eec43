/** The configuration files that the pages in docs/ show, loaded; the one with several upstreams, called. */
import assert from "node:assert/strict";
import { readConfig } from "../../gateway/settings/config.ts";
import { startScriptedUpstream } from "../support/upstreams/scripted_upstream.ts";
import { startTestGateway } from "../support/test_gateway.ts";

async function examples(): Promise<readonly string[]> {
  const pages = ["configuration.md", "failover.md"].map((name) =>
    Deno.readTextFile(new URL(`../../docs/${name}`, import.meta.url))
  );
  return (await Promise.all(pages)).flatMap((page) =>
    [...page.matchAll(/```json\n([^]*?)```/g)].map(([, text = ""]) => text)
  );
}

Deno.test("every JSON example in docs/ is a valid configuration file", async () => {
  const texts = await examples();
  assert.ok(texts.length >= 2);
  for (const text of texts) {
    readConfig({ env: { GATEWAY_CONFIG: "x" }, readFile: () => text });
  }
});

Deno.test("the candidates in docs/failover.md are called in the documented order", async () => {
  const example = (await examples()).find((text) =>
    text.includes("candidates")
  );
  assert.ok(example !== undefined);
  const east = startScriptedUpstream("east");
  const west = startScriptedUpstream("west");
  const spare = startScriptedUpstream("spare");
  const gateway = await startTestGateway({
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
  try {
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
  } finally {
    await gateway.close();
    for (const upstream of [east, west, spare]) await upstream.close();
  }
});
