/** The examples of docs/clients.md, run against a gateway. */
import assert from "node:assert/strict";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const ROOT = new URL("../../", import.meta.url);

/** The models beside the built-in ones in the page's examples: embeddings, and docs/routes.md's. */
async function configFile(): Promise<string> {
  const page = await Deno.readTextFile(new URL("docs/routes.md", ROOT));
  const { routes, models } = JSON.parse(
    /^```json\n([^]*?)^```$/m.exec(page)?.[1] ?? "",
  );
  return JSON.stringify({
    routes,
    models: {
      ...models,
      "house-embed": {
        vendor: "vendorb",
        upstream_model: "text-embedding-3-small",
        operations: ["embeddings"],
        price: { input: 20_000_000 },
      },
    },
  });
}

Deno.test("the examples of docs/clients.md work", async (t) => {
  const page = await Deno.readTextFile(new URL("docs/clients.md", ROOT));
  const examples = [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map((found) =>
    found[1] ?? ""
  );
  assert.equal(examples.length, 6);
  await using folder = await temporaryFolder();
  await using gateway = await startTestGateway({
    env: {
      DATABASE_URL: `sqlite:${folder.path}/store.sqlite3`,
    },
    configFile: await configFile(),
  });
  for (const [index, example] of examples.entries()) {
    await t.step(/new \w+/.exec(example)?.[0] ?? "example", async () => {
      const program = example
        .replaceAll("http://127.0.0.1:8787", gateway.url)
        .replaceAll("sk-…", TEST_KEY);
      const file = `${folder.path}/${index}.ts`;
      await Deno.writeTextFile(file, program);
      const config = new URL("deno.json", ROOT).pathname;
      const { success, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--check", "--allow-all", `--config=${config}`, file],
      }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
    });
  }
});
