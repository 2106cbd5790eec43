/** The commands of docs/billing.md in order on a new store, and its backup, as their task runs. */
import assert from "node:assert/strict";
import { taskFlags } from "../support/programs/task_flags.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const ROOT = new URL("../../", import.meta.url);

async function commands(
  page: string,
  pattern: RegExp,
): Promise<readonly string[]> {
  const text = await Deno.readTextFile(new URL(page, ROOT));
  return [...text.matchAll(pattern)].map(([, line = ""]) =>
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
Deno.test("the commands of docs/billing.md work in their order, and so does the backup of docs/operations.md", async () => {
  const lines = await commands("docs/billing.md", /^deno task admin (.+)$/gm);
  const backups = await commands(
    "docs/operations.md",
    /`deno task admin (store [^`]+)`/g,
  );
  assert.ok(lines.length >= 6);
  assert.equal(backups.length, 1);
  const [file = ""] = await commands(
    "docs/billing.md",
    /^```csv\n(account,[^`]+)```$/gm,
  );
  const flags = await taskFlags("admin");
  await using folder = await temporaryFolder();
  await Deno.writeTextFile(`${folder.path}/accounts.csv`, file);
  let keyId = "";
  for (const line of [...lines, ...backups]) {
    const { success, stdout, stderr } = await new Deno.Command(
      Deno.execPath(),
      {
        args: [
          "run",
          ...flags,
          `--config=${new URL("deno.json", ROOT).pathname}`,
          new URL("gateway/cli/cli.ts", ROOT).pathname,
          ...words(line.replace("key_…", keyId)),
        ],
        cwd: folder.path,
        env: { DATABASE_URL: "sqlite:./data/gateway.sqlite3" },
      },
    ).output();
    const decoder = new TextDecoder();
    assert.ok(success, `${line}: ${decoder.decode(stderr)}`);
    const output = decoder.decode(stdout);
    assert.notEqual(output, "", line);
    keyId = /\bkey_\w+/.exec(output)?.[0] ?? keyId;
  }
});
