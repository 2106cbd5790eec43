/** Every export says what it is for: `deno doc --lint` over the tree, tests and fixtures apart. */
import assert from "node:assert/strict";

const ROOT = new URL("./", import.meta.url);

async function modules(folder: URL): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const url = new URL(isDirectory ? `${name}/` : name, folder);
    if (isDirectory) {
      const isFixtures = url.href === `${ROOT.href}conformance/fixtures/`;
      if (!isFixtures) found.push(...await modules(url));
    } else if (name.endsWith(".ts") && !name.endsWith("_test.ts")) {
      found.push(url.href);
    }
  }
  return found;
}

Deno.test("every export is documented", async () => {
  const paths = [new URL("main.ts", ROOT).href];
  for (
    const part of [
      "routes",
      "gateway",
      "translate",
      "conformance",
      "bench",
      "end_to_end",
    ]
  ) {
    paths.push(...await modules(new URL(`${part}/`, ROOT)));
  }
  assert.ok(paths.length > 100, "hardly any module was found");
  const { stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--lint", "--quiet", ...paths],
    env: { NO_COLOR: "1" },
  }).output();
  const text = new TextDecoder().decode(stderr);
  const sum = /^error: Found \d+ documentation lint errors?\.$/m;
  assert.ok(success || sum.test(text), text);
  // Types of npm packages count as private, so that report says nothing.
  const told = text.replace(sum, "").match(
    /^error(?!\[private-type-ref\]).*\n.*/gm,
  ) ?? [];
  assert.ok(told.length === 0, `\n${told.join("\n")}`);
});
