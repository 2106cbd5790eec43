import assert from "node:assert/strict";
import { join } from "node:path";

Deno.test("files are begun in the order given, however deep their folders are", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const names = ["second", "first/of/all", "a"];
    const files = names.map((name) => join(folder, `${name}_test.ts`));
    await Deno.mkdir(join(folder, "first/of"), { recursive: true });
    for (const [at, file] of files.entries()) {
      await Deno.writeTextFile(file, `Deno.test("${names[at]}", () => {});`);
    }
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--no-lock", "--allow-all"],
        ...[join(import.meta.dirname ?? "", "run_grouped.ts"), ...files],
      ],
      env: { DENO_JOBS: "1", NO_COLOR: "1" },
    }).output();
    const text = new TextDecoder().decode(stdout);
    assert.deepEqual(
      [...text.matchAll(/^(\S+) \.\.\. ok/gm)].map(([, name]) => name),
      names,
      text,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
