/** The example that README.md gives for several upstreams, loaded and called. */
import assert from "node:assert/strict";
import { readConfig } from "../gateway/config.ts";
import { startScriptedUpstream } from "./scripted_upstream.ts";
import { startTestGateway } from "./test_gateway.ts";

async function examples(): Promise<readonly string[]> {
  const readme = await Deno.readTextFile(
    new URL("../README.md", import.meta.url),
  );
  return [...readme.matchAll(/```json\n([^]*?)```/g)].map(([, text = ""]) =>
    text
  );
}

Deno.test("every JSON example of the README is a file that GATEWAY_CONFIG may name", async () => {
  const texts = await examples();
  assert.ok(texts.length >= 2);
  for (const text of texts) {
    readConfig({ env: { GATEWAY_CONFIG: "x" }, readFile: () => text });
  }
});

Deno.test("the README's candidates are called in the order that it tells", async () => {
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
      GATEWAY_CONFIG: "x",
      EAST_API_KEY: "k-east",
      WEST_API_KEY: "k-west",
      VENDORA_API_KEY: "k-a",
      VENDORA_BASE_URL: spare.url,
    },
    configFile: example.replace("https://east.example.com", east.url)
      .replace("https://west.example.com", west.url),
  });
  try {
    const said = async (): Promise<string> => {
      const response = await gateway.post("/v1/messages", {
        model: "vendorb-5",
        max_tokens: 50,
        messages: [{ role: "user", content: "Hi" }],
      });
      return await response.text();
    };
    assert.match(await said(), /from east/);
    east.play([], { status: 503 });
    assert.match(await said(), /from west/);
    west.play([], "reset");
    assert.match(await said(), /from spare/);
    assert.equal(east.calls[0]?.headers["authorization"], "Bearer k-east");
    assert.equal(west.calls[0]?.body["model"], "gpt-5-west");
    assert.equal(spare.calls[0]?.body["model"], "claude-sonnet-4-6");
  } finally {
    await gateway.close();
    for (const upstream of [east, west, spare]) await upstream.close();
  }
});
