/** The commands of docs/billing.md, run in their order on a new store. */
import assert from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);

async function commands(): Promise<readonly string[]> {
  const page = await Deno.readTextFile(new URL("docs/billing.md", ROOT));
  return [...page.matchAll(/^deno task admin (.+)$/gm)].map(([, line = ""]) =>
    line.replace(/ +#.*$/, "")
  );
}

/** Splits a line at blanks outside double quotes. */
function words(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) =>
    quoted ?? bare ?? ""
  );
}

// `key_…` is the key of the command before.
Deno.test("the commands of docs/billing.md work in their order", async () => {
  const lines = await commands();
  assert.ok(lines.length >= 6);
  const folder = await Deno.makeTempDir();
  let keyId = "";
  try {
    for (const line of lines) {
      const { success, stdout, stderr } = await new Deno.Command(
        Deno.execPath(),
        {
          args: [
            "run",
            "--allow-all",
            `--config=${new URL("deno.json", ROOT).pathname}`,
            new URL("gateway/cli/cli.ts", ROOT).pathname,
            ...words(line.replace("key_…", keyId)),
          ],
          cwd: folder,
          env: { DATABASE_URL: `sqlite:${folder}/store.sqlite3` },
        },
      ).output();
      const decoder = new TextDecoder();
      assert.ok(success, `${line}: ${decoder.decode(stderr)}`);
      const output = decoder.decode(stdout);
      assert.notEqual(output, "", line);
      keyId = /\bkey_\w+/.exec(output)?.[0] ?? keyId;
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
