/** The house rules that reading the tree can check: who imports whom, and what README states. */
import assert from "node:assert/strict";
import { z } from "zod";
import { catalogueShape } from "./gateway/upstream/catalogue/catalogue_shape.ts";
import { readArguments } from "./tests/support/run_grouped.ts";
import { SETTING_DESCRIPTIONS } from "./gateway/settings/setting_descriptions.ts";
import { FILE_FORMS, SETTING_NAMES } from "./gateway/settings/setting_forms.ts";
import { VERSION } from "./gateway/version.ts";

const ROOT = new URL("./", import.meta.url);

/** What a part's modules may import, beside npm and their own part. Tests may import more. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "main.ts": ["compose.ts", "routes", "gateway", "replay"],
  "compose.ts": ["gateway"],
  routes: ["gateway", "translate"],
  gateway: ["translate"],
  translate: [],
  replay: [],
  conformance: ["replay"],
  bench: ["gateway", "replay"],
  deploy: [],
};

async function modules(folder: URL): Promise<URL[]> {
  const found: URL[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (
      entry.isDirectory && !entry.name.startsWith(".") &&
      !["data", "dist", "cov"].includes(entry.name)
    ) {
      found.push(...await modules(new URL(`${entry.name}/`, folder)));
    } else if (/\.tsx?$/.test(entry.name)) {
      found.push(new URL(entry.name, folder));
    }
  }
  return found;
}

function pathOf(url: URL): string {
  return url.href.slice(ROOT.href.length);
}

function isForTests(path: string): boolean {
  return /_test\.ts$/.test(path) || path.startsWith("tests/") ||
    path.startsWith("translate/testing/");
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
        /(?:from|import\()\s*"(\.[^"]+|@model-gateway\/[^"]+)"/g,
      )
    ) {
      const target = specifier.startsWith(".")
        ? pathOf(new URL(specifier, url)).split("/")[0] ?? ""
        : specifier.split("/")[1] ?? "";
      assert.ok(
        target === part || allowed.includes(target),
        `${path} imports ${specifier}`,
      );
      looked++;
    }
  }
  assert.ok(looked > 100, "hardly any import was found");
});

Deno.test("a start loads neither the pages of the console nor the replay upstream", async () => {
  const loaded = new Set<string>();
  const load = async (url: URL): Promise<void> => {
    if (loaded.has(pathOf(url))) return;
    loaded.add(pathOf(url));
    const statements = (await Deno.readTextFile(url)).matchAll(
      /^(?:import|export)(?! type\b)[^;]*?\sfrom\s+"(\.[^"]+)"/gm,
    );
    for (const [, specifier = ""] of statements) {
      await load(new URL(specifier, url));
    }
  };
  await load(new URL("main.ts", ROOT));
  assert.ok(loaded.has("routes/health.ts"), "hardly any import was found");
  assert.deepEqual(
    [...loaded].filter((path) => /^replay\/|\.tsx$/.test(path)),
    [],
  );
});

Deno.test("a workspace member imports only itself and what its deno.json names", async () => {
  const members: string[] = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", ROOT)),
  ).workspace;
  const configs = new Map<
    string,
    { name: string; version: string; imports?: object }
  >();
  for (const member of members) {
    const folder = new URL(`${member}/`, ROOT);
    configs.set(
      folder.href,
      JSON.parse(await Deno.readTextFile(new URL("deno.json", folder))),
    );
  }
  const names = [...configs.values()].map(({ name }) => name);
  let looked = 0;
  for (const [folder, { version, imports = {} }] of configs) {
    assert.equal(version, VERSION, folder);
    for (const url of await modules(new URL(folder))) {
      // The pure library's tests also read recordings; they are not published.
      if (isForTests(pathOf(url)) && folder.endsWith("/translate/")) continue;
      const text = await Deno.readTextFile(url);
      for (
        const [, specifier = ""] of text.matchAll(
          /^(?:import|export)[^;]*?from\s+"([^"]+)"/gm,
        )
      ) {
        looked++;
        const isInside = specifier.startsWith(".")
          ? new URL(specifier, url).href.startsWith(folder)
          : specifier.startsWith("node:") || specifier in imports ||
            names.some((name) => `${specifier}/`.startsWith(`${name}/`));
        assert.ok(isInside, `${pathOf(url)} imports ${specifier}`);
      }
    }
  }
  assert.ok(looked > 500, "hardly any import was found");
});

/** The family of each format that shares words with another one. */
const FAMILIES: Readonly<Record<string, string>> = {
  chat_completions: "chat",
  responses: "chat",
  messages: "messages",
  converse: "messages",
};

Deno.test("a format imports no other format, and no other family's part", async () => {
  const folders = ["translate/formats/", "translate/families/"].map((path) =>
    modules(new URL(path, ROOT))
  );
  let looked = 0;
  for (const url of (await Promise.all(folders)).flat()) {
    if (isForTests(pathOf(url))) continue;
    const [, folder, own = ""] = pathOf(url).split("/");
    const family = folder === "families" ? own : FAMILIES[own];
    for (
      const [, specifier = ""] of (await Deno.readTextFile(url)).matchAll(
        /from\s+"(\.[^"]+)"/g,
      )
    ) {
      const target = pathOf(new URL(specifier, url)).split("/");
      const isAllowed = target[1] === "formats"
        ? folder === "formats" && target[2] === own
        : target[1] !== "families" || target[2] === family;
      assert.ok(isAllowed, `${pathOf(url)} imports ${specifier}`);
      looked++;
    }
  }
  assert.ok(looked > 50, "hardly any import was found");
});

/** The folders of the console, and those that each may import. */
const CONSOLE_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  operator: ["pages", "plots", "forms", "parts", "csv", "http"],
  pages: ["plots", "forms", "parts", "csv", "http"],
  plots: ["parts"],
  forms: ["parts", "http"],
  parts: ["http", "assets"],
  csv: ["http"],
  assets: ["http"],
  http: [],
};

Deno.test("the console's files are in folders, and pages import parts, never the reverse", async () => {
  const console = new URL("routes/console/", ROOT);
  let looked = 0;
  for (const url of await modules(console)) {
    const folder = pathOf(url).split("/").slice(2, -1).join("/");
    if (folder === "") {
      assert.match(pathOf(url), /\/(mod\.ts|jsx\.d\.ts)$/);
      continue;
    }
    const allowed = CONSOLE_FOLDERS[folder];
    assert.ok(
      allowed !== undefined,
      `${pathOf(url)} is in no folder of the list`,
    );
    for (
      const [, specifier = ""] of (await Deno.readTextFile(url)).matchAll(
        /from\s+"(\.[^"]+)"/g,
      )
    ) {
      const target = new URL(specifier, url).href;
      if (!target.startsWith(console.href)) continue;
      const [to = ""] = target.slice(console.href.length).split("/");
      assert.ok(
        to === folder || to === "jsx.d.ts" || allowed.includes(to),
        `${pathOf(url)} imports ${specifier}`,
      );
      looked++;
    }
  }
  assert.ok(looked > 150, "hardly any import was found");
});

/**
 * The files of a format folder. A missing one means that the format has no such thing; what only
 * one format needs is listed with it.
 */
const FORMAT_FILES: readonly string[] = [
  "mod wire error usage stop_reason signatures",
  "decode_request decode_messages decode_content decode_reasoning decode_tools",
  "settings encode_request encode_config encode_messages encode_content encode_media",
  "encode_reasoning encode_tools encode_tool_result",
  "decode_reply decode_stream reply_reader encode_reply encode_stream",
  "check_passable clean_request billed_fields cache_marks logprobs stream_ending sample_models",
].flatMap((line) => line.split(" "));
const OWN_FILES: Readonly<Record<string, readonly string[]>> = {
  converse: [],
  messages: ["citations", "strict_schema", "reply_config", "search_blocks"],
  chat_completions: [
    "block_writer",
    "call_arguments",
    "host_forms",
    "include_usage",
    "json_scan",
    "reply_parts",
    "think_tags",
  ],
  generate_content: [
    "function_names",
    "grounding",
    "json_schema",
    "key_names",
    "openapi_schema",
    "partial_args",
  ],
  responses: [
    "client_calls",
    "client_tools",
    "free_text",
    "item_reader",
    "item_state",
    "open_item",
    "pair_items",
    "ran_code",
    "reply_config",
    "reply_end",
    "reply_writer",
    "state",
    "state_errors",
    "stream_grammar",
    "tool_names",
  ],
};

Deno.test("all formats use one list of file names", async () => {
  const formats = new URL("translate/formats/", ROOT);
  for await (const { name: format } of Deno.readDir(formats)) {
    const own = OWN_FILES[format];
    assert.ok(own !== undefined, `${format} is not listed`);
    const folder = new URL(`${format}/`, formats);
    for await (const { name } of Deno.readDir(folder)) {
      if (name.endsWith("_test.ts")) continue;
      const file = name.replace(/\.ts$/, "");
      assert.ok(
        FORMAT_FILES.includes(file) || own.includes(file),
        `translate/formats/${format}/${name} is not in the list`,
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
      path === "gateway/cli/cli.ts" || path === "gateway/settings/config.ts" ||
      path === "bench/mod.ts" || path === "deploy/image/build.ts" ||
      path === "deploy/image/health_check.ts"
    ) continue;
    assert.doesNotMatch(
      await Deno.readTextFile(url),
      /Deno\.env|process\.env/,
      path,
    );
  }
});

Deno.test("every request leaves by the gateway's own client, which knows the proxies", async () => {
  const own = "gateway/upstream/http/";
  let looked = 0;
  for (const url of await modules(ROOT)) {
    const path = pathOf(url);
    if (isForTests(path) || path.startsWith(own)) continue;
    if (!/^(gateway|routes|translate|main\.ts|compose\.ts)/.test(path)) {
      continue;
    }
    looked++;
    assert.doesNotMatch(
      await Deno.readTextFile(url),
      // As a call, a value or a member's shorthand; `fetch: …`, types and `#fetch` are others'.
      /(?<!typeof |[.#\w`"'-])fetch(?:\(|,|\s*\}|\s*;)|globalThis\.fetch|createHttpClient\((?!\{ caCerts)|from "node:https?"/,
      path,
    );
  }
  assert.ok(looked > 300);
});

Deno.test("docs/configuration.md has a row for every setting, with the texts of the console", async () => {
  const page = await Deno.readTextFile(
    new URL("docs/configuration.md", ROOT),
  );
  const rows = [
    ...page.matchAll(/^\| `([A-Z_]+)`\s+\| (.*?)\s+\| (.*?)\s+\|$/gm),
  ].map(([, ...cells]) => cells);
  assert.deepEqual(
    rows,
    Object.entries(SETTING_DESCRIPTIONS).map((
      [name, description],
    ) => [name, description.meaning, description.default]),
  );
  assert.deepEqual(
    rows.map(([name]) => name).toSorted(),
    [...SETTING_NAMES].toSorted(),
  );
  const [, section = ""] = page.split("## Secrets in files");
  assert.deepEqual(
    [...section.matchAll(/`([A-Z_]+_FILE)`/g)].map(([, name]) => name),
    [...FILE_FORMS.keys()],
  );
});

Deno.test("the pages have every field of the configuration file, apart from capabilities", async () => {
  const names = new Set<string>();
  const collect = (schema: unknown): void => {
    if (Array.isArray(schema)) return schema.forEach(collect);
    if (typeof schema !== "object" || schema === null) return;
    for (const [key, value] of Object.entries(schema)) {
      if (key === "properties") {
        Object.keys(value).forEach((one) => names.add(one));
      }
      if (key !== "capabilities") collect(value);
    }
  };
  collect(z.toJSONSchema(catalogueShape, {
    io: "input",
    unrepresentable: "any",
  }));
  // It is refused wherever it stands.
  names.delete("api_key");
  assert.ok(names.size > 60);
  let pages = "";
  for await (const { name } of Deno.readDir(new URL("docs/", ROOT))) {
    if (!name.endsWith(".md")) continue;
    pages += await Deno.readTextFile(new URL(`docs/${name}`, ROOT));
  }
  assert.deepEqual(
    [...names].filter((name) => !new RegExp(`[\`"]${name}[\`"]`).test(pages)),
    [],
  );
});

Deno.test("the program's version is that of deno.json, and CHANGELOG.md has it", async () => {
  const { version } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", ROOT)),
  );
  assert.equal(VERSION, version);
  assert.match(
    await Deno.readTextFile(new URL("CHANGELOG.md", ROOT)),
    new RegExp(`^## ${VERSION.replaceAll(".", "\\.")}`, "m"),
  );
});

Deno.test("every file that a page names exists", async () => {
  const pages = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "tests/README.md",
    "replay/README.md",
    "bench/README.md",
    "conformance/README.md",
  ];
  for (const folder of ["docs/", "docs/decisions/"]) {
    for await (const { name } of Deno.readDir(new URL(folder, ROOT))) {
      if (name.endsWith(".md")) pages.push(folder + name);
    }
  }
  let named = 0;
  for (const page of pages) {
    const text = await Deno.readTextFile(new URL(page, ROOT));
    for (
      const [, path = ""] of text.matchAll(
        /[`(]((?:[\w.]+\/)+[\w.]+\.(?:ts|md))(?:#[\w-]+)?[`)]/g,
      )
    ) {
      // A placeholder, such as NAME.ts.
      if (/[A-Z]{4}/.test(path) && !path.endsWith(".md")) continue;
      named++;
      const places = [new URL(path, ROOT), new URL(path, new URL(page, ROOT))];
      const found = await Promise.all(
        places.map((url) => Deno.stat(url).catch(() => undefined)),
      );
      assert.ok(found.some((one) => one?.isFile), `${page} names ${path}`);
    }
  }
  assert.ok(named > 40, "hardly any path was found");
});

Deno.test("an exported value is named in another file too", async () => {
  const files = new Map<string, number>();
  const exports: string[] = [];
  for (const url of await modules(ROOT)) {
    if (url.pathname.endsWith(".d.ts")) continue;
    const text = await Deno.readTextFile(url);
    for (const word of new Set(text.match(/\w+/g))) {
      files.set(word, (files.get(word) ?? 0) + 1);
    }
    const declared = text.matchAll(
      /^export (?:async )?(?:const|function\*?|class) (\w+)/gm,
    );
    for (const [, name = ""] of declared) exports.push(name);
  }
  assert.ok(exports.length > 1000, "hardly any export was found");
  assert.deepEqual(exports.filter((name) => files.get(name) === 1), []);
});

Deno.test("no imports go in a circle, those of types included", async () => {
  const imports = new Map<string, readonly string[]>();
  for (const url of await modules(ROOT)) {
    const path = pathOf(url);
    if (isForTests(path) || /\/(testing|specs)\//.test(path)) continue;
    const text = await Deno.readTextFile(url);
    imports.set(
      path,
      [...text.matchAll(/^(?:import|export)[^;]*?from\s+"(\.[^"]+)"/gm)].map((
        [, specifier = ""],
      ) => pathOf(new URL(specifier, url))),
    );
  }
  const clear = new Set<string>();
  const visit = (path: string, way: readonly string[]): void => {
    assert.ok(!way.includes(path), [...way, path].join(" → "));
    if (clear.has(path)) return;
    for (const next of imports.get(path) ?? []) visit(next, [...way, path]);
    clear.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  assert.ok(clear.size > 400, "hardly any module was found");
});

/** A task's command, and the commands of the tasks that it depends on. */
type Task = string | { dependencies: string[]; command?: string };

async function denoJson(): Promise<{
  lock: unknown;
  tasks: Record<string, Task>;
  imports: Record<string, string>;
}> {
  return JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
}

Deno.test("every task resolves packages by the lock", async () => {
  const { lock, tasks } = await denoJson();
  assert.equal(lock, false, "`deno task` downloads every package of this lock");
  for (const [name, task] of Object.entries(tasks)) {
    const { command = "" } = typeof task === "string"
      ? { command: task }
      : task;
    for (
      const [part] of command.matchAll(/deno (run|test|check|compile)[^&]*/g)
    ) {
      assert.match(part, / --(lock=deno\.lock|no-lock) /, `task ${name}`);
    }
  }
});

Deno.test("the import map names no package that only tests import", async () => {
  const { imports } = await denoJson();
  const imported = new Set<string>();
  for (const url of await modules(ROOT)) {
    if (isForTests(pathOf(url))) continue;
    const text = await Deno.readTextFile(url);
    for (
      const [, name = ""] of text.matchAll(/(?:from|import\()\s*"([^"]+)"/g)
    ) imported.add(name);
  }
  // Pages are compiled to imports of the runtime.
  const packages = Object.entries(imports).filter(([name, target]) =>
    target.startsWith("npm:") && !name.endsWith("/jsx-runtime") &&
    imports[`${name}/jsx-runtime`] === undefined
  ).map(([name]) => name);
  assert.ok(packages.length > 10, "hardly any package was found");
  const unused = packages.filter((name) => !imported.has(name));
  assert.deepEqual(unused, [], "such packages have a file in tests/packages/");
});

Deno.test("deno task test runs every test file once", async () => {
  const { tasks } = await denoJson();
  const files = (await modules(ROOT)).map(pathOf).filter((path) =>
    path.endsWith("_test.ts")
  );
  const run = ["test:pure", "test:rest"].flatMap((name) => {
    const [, , , ...words] = `${tasks[name]}`.split(" ");
    // As the task's shell does.
    const args = words.flatMap((word) => {
      if (!word.includes("*")) return [word];
      const glob = new RegExp(`^${word.replaceAll("*", "[^/]*")}$`);
      return files.filter((path) => glob.test(path));
    });
    return readArguments(args).groups.flat();
  });
  assert.deepEqual(run.toSorted(), files.toSorted());
});
