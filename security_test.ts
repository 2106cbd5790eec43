/** SECURITY.md promises what tests show: each that it names is there. */
import assert from "node:assert/strict";

const ROOT = new URL("./", import.meta.url);

Deno.test("every promise of SECURITY.md names a test that is there", async () => {
  const page = await Deno.readTextFile(new URL("SECURITY.md", ROOT));
  const named = [...page.matchAll(/\| `([\w/]+\.ts)`: (.+?) +\|$/gm)];
  const rows = page.match(/^\| (?!who |-).+\|$/gm) ?? [];
  assert.equal(named.length, rows.length, "a row names no test");
  assert.ok(rows.length > 20);
  for (const [, path = "", name = ""] of named) {
    const text = await Deno.readTextFile(new URL(path, ROOT));
    assert.ok(text.includes(`"${name}"`), `${path} has no test "${name}"`);
  }
});
