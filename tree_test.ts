/** The house rules that can be checked by reading the tree: who imports whom, and that the README keeps up. */
import assert from "node:assert/strict";
import { SETTING_NAMES } from "./gateway/config.ts";

const ROOT = new URL("./", import.meta.url);

/** What the modules of a part may import, beside npm packages and their own part. Tests may import more. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "main.ts": ["routes", "gateway", "conformance"],
  routes: ["gateway", "translate"],
  gateway: ["translate"],
  translate: [],
  conformance: [],
  bench: ["gateway"],
};

async function modules(folder: URL): Promise<URL[]> {
  const found: URL[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (
      entry.isDirectory && !entry.name.startsWith(".") &&
      !["data", "dist", "cov"].includes(entry.name)
    ) {
      found.push(...await modules(new URL(`${entry.name}/`, folder)));
    } else if (entry.name.endsWith(".ts")) {
      found.push(new URL(entry.name, folder));
    }
  }
  return found;
}

function pathOf(url: URL): string {
  return url.href.slice(ROOT.href.length);
}

function isForTests(path: string): boolean {
  return /_test\.ts$/.test(path) || path.startsWith("end_to_end/") ||
    path === "translate/recordings.ts";
}

Deno.test("data flows one way: main → routes → gateway → translate, and conformance knows nobody", async () => {
  let looked = 0;
  for (const url of await modules(ROOT)) {
    const path = pathOf(url);
    const part = path.split("/")[0] ?? "";
    const allowed = MAY_IMPORT[part];
    if (isForTests(path) || allowed === undefined) continue;
    for (
      const [, specifier = ""] of (await Deno.readTextFile(url)).matchAll(
        /(?:from|import\()\s*"(\.[^"]+)"/g,
      )
    ) {
      const target = pathOf(new URL(specifier, url)).split("/")[0] ?? "";
      assert.ok(
        target === part || allowed.includes(target),
        `${path} imports ${specifier}`,
      );
      looked++;
    }
  }
  assert.ok(looked > 100, "hardly any import was found");
});

Deno.test("a dialect imports no other dialect", async () => {
  for (const url of await modules(new URL("translate/", ROOT))) {
    const [, dialect, file] = pathOf(url).split("/");
    if (file === undefined || isForTests(pathOf(url))) continue;
    for (
      const [, specifier = ""] of (await Deno.readTextFile(url)).matchAll(
        /from\s+"(\.\.[^"]+)"/g,
      )
    ) {
      const [, folder, inner] = pathOf(new URL(specifier, url)).split("/");
      assert.ok(
        inner === undefined || folder === dialect,
        `${pathOf(url)} imports ${specifier}`,
      );
    }
  }
});

Deno.test("translate/ touches neither the platform, the clock nor chance", async () => {
  for (const url of await modules(new URL("translate/", ROOT))) {
    const path = pathOf(url);
    if (isForTests(path)) continue;
    const code = (await Deno.readTextFile(url)).replaceAll(
      /\/\*[^]*?\*\/|\/\/.*/g,
      "",
    );
    assert.doesNotMatch(
      code,
      /\bDeno\.|\bfetch\(|Date\.now|new Date\(\)|Math\.random|crypto\.|console\.|setTimeout/,
      path,
    );
  }
});

Deno.test("only config.ts and the programs read the environment", async () => {
  for (const url of await modules(ROOT)) {
    const path = pathOf(url);
    if (
      isForTests(path) || path === "main.ts" ||
      path === "gateway/cli.ts" || path === "gateway/config.ts" ||
      path === "bench/mod.ts"
    ) continue;
    assert.doesNotMatch(
      await Deno.readTextFile(url),
      /Deno\.env|process\.env/,
      path,
    );
  }
});

Deno.test("the README has a row for every setting", async () => {
  const readme = await Deno.readTextFile(new URL("README.md", ROOT));
  const rows = [...readme.matchAll(/^\| `([A-Z_]+)`\s+\|/gm)].map(([, name]) =>
    name
  );
  assert.deepEqual(rows.toSorted(), [...SETTING_NAMES].toSorted());
});
