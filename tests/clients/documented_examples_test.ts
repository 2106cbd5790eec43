/** The examples of docs/clients.md, run against a gateway. */
import assert from "node:assert/strict";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";

const ROOT = new URL("../../", import.meta.url);

/** The model for embeddings that the page uses as an example. */
const CONFIG = JSON.stringify({
  models: {
    "house-embed": {
      vendor: "vendorb",
      upstream_model: "text-embedding-3-small",
      operations: ["embeddings"],
      price: { input: 20_000_000, output: 0 },
    },
  },
});

Deno.test("the examples of docs/clients.md work", async (t) => {
  const page = await Deno.readTextFile(new URL("docs/clients.md", ROOT));
  const examples = [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map((found) =>
    found[1] ?? ""
  );
  assert.equal(examples.length, 4);
  const folder = await Deno.makeTempDir();
  const gateway = await startTestGateway({
    env: {
      DATABASE_URL: `sqlite:${folder}/store.sqlite3`,
      GATEWAY_CONFIG: "models.json",
    },
    configFile: CONFIG,
  });
  try {
    for (const [index, example] of examples.entries()) {
      await t.step(/new \w+/.exec(example)?.[0] ?? "example", async () => {
        const program = example
          .replaceAll("http://127.0.0.1:8787", gateway.url)
          .replaceAll("sk-…", TEST_KEY);
        const file = `${folder}/${index}.ts`;
        await Deno.writeTextFile(file, program);
        const config = new URL("deno.json", ROOT).pathname;
        const { success, stderr } = await new Deno.Command(Deno.execPath(), {
          args: ["run", "--check", "--allow-all", `--config=${config}`, file],
        }).output();
        assert.ok(success, new TextDecoder().decode(stderr));
      });
    }
  } finally {
    await gateway.close();
    await Deno.remove(folder, { recursive: true });
  }
});
