/** SECURITY.md promises what tests show: each that it names is there. */
import assert from "node:assert/strict";

const ROOT = new URL("./", import.meta.url);

Deno.test("every promise of SECURITY.md names a test that is there", async () => {
  const page = await Deno.readTextFile(new URL("SECURITY.md", ROOT));
  const [, section = ""] = page.split("\n## Threats and promises\n");
  const promises = (section.split("\n## ")[0] ?? "").split("\n- ").slice(1)
    .map((item) =>
      (item.split("\n\n")[0] ?? "").replaceAll(/\s+/g, " ").trim()
    );
  assert.ok(promises.length > 80, "hardly any promise was found");
  for (const promise of promises) {
    assert.match(promise, /^\*\*to .+?\*\*: /, promise);
    const [, path = "", name = ""] =
      / \(`([\w/]+\.ts)`: (.+)\)$/.exec(promise) ?? [];
    assert.notEqual(name, "", `names no test: ${promise}`);
    const text = await Deno.readTextFile(new URL(path, ROOT));
    assert.ok(text.includes(`"${name}"`), `${path} has no test "${name}"`);
  }
});
