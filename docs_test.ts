/**
 * Documentation: the surface of the `translate/` library is documented completely; elsewhere a
 * docstring is written where it adds to the name, and one that only repeats it is refused.
 */
import assert from "node:assert/strict";
import { SETTINGS as chat } from "./translate/formats/chat_completions/settings.ts";
import { SETTINGS as converse } from "./translate/formats/converse/settings.ts";
import { SETTINGS as generateContent } from "./translate/formats/generate_content/settings.ts";
import { SETTINGS as messages } from "./translate/formats/messages/settings.ts";
import { SETTINGS as responses } from "./translate/formats/responses/settings.ts";
import {
  type Setting,
  SETTING_RULES,
  SETTINGS,
} from "./translate/model/settings.ts";
import type { SettingsTable } from "./translate/model/settings_table.ts";

const ROOT = new URL("./", import.meta.url);

/** Words that add nothing to a name. */
const EMPTY_WORDS = new Set(
  "the a an of its this all one for in to with and as by on each".split(" "),
);

/** A docstring of one line, and the name that it documents. */
const DOCUMENTED =
  /^[ \t]*\/\*\* ([^*\n]*?) \*\/\n[ \t]*(?:(?:export|readonly|static|override|async|abstract|declare|function\*?|class|interface|type|const|let) )*([A-Za-z_]\w*)/gm;

function stem(word: string): string {
  return word.toLowerCase().replace(/(?:ies|es|s|ed|ing)$/, "");
}

/** Whether a docstring consists of words of the name alone. */
function repeats(docstring: string, name: string): boolean {
  if (/\d|@/.test(docstring)) return false;
  const own = new Set(
    (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map(stem),
  );
  return (docstring.match(/[A-Za-z]+/g) ?? []).every((word) =>
    EMPTY_WORDS.has(word.toLowerCase()) || own.has(stem(word))
  );
}

async function files(folder: URL, suffix: RegExp): Promise<URL[]> {
  const found: URL[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (name.startsWith(".") || ["data", "dist", "cov"].includes(name)) {
      continue;
    }
    const url = new URL(isDirectory ? `${name}/` : name, folder);
    if (isDirectory) found.push(...await files(url, suffix));
    else if (suffix.test(name)) found.push(url);
  }
  return found;
}

Deno.test("no docstring only repeats the name that it documents", async () => {
  const repeated: string[] = [];
  let read = 0;
  for (const url of await files(ROOT, /\.tsx?$/)) {
    const text = await Deno.readTextFile(url);
    for (const [, docstring = "", name = ""] of text.matchAll(DOCUMENTED)) {
      read++;
      if (repeats(docstring, name)) {
        repeated.push(
          `${url.href.slice(ROOT.href.length)}: ${name}: ${docstring}`,
        );
      }
    }
  }
  assert.ok(read > 1000, "hardly any docstring was found");
  assert.deepEqual(repeated, []);
});

Deno.test("the surface of translate/ is documented", async () => {
  const { stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: [
      "doc",
      "--lint",
      "--quiet",
      new URL("translate/mod.ts", ROOT).href,
    ],
    env: { NO_COLOR: "1" },
  }).output();
  const text = new TextDecoder().decode(stderr);
  const sum = /^error: Found \d+ documentation lint errors?\.$/m;
  assert.ok(success || sum.test(text), text);
  // Types of npm packages count as private.
  const errors = text.replace(sum, "").match(
    /^error(?!\[private-type-ref\]).*\n.*/gm,
  ) ?? [];
  assert.deepEqual(errors, []);
});

/** The settings tables in the order of the columns of `docs/translation.md`. */
const TABLES = [messages, chat, responses, generateContent, converse];

/** How a format expresses a setting: its names, and its own bounds. */
function cell(
  { steps }: Pick<SettingsTable<never>, "steps">,
  setting: Setting,
): string {
  const row = steps.find((step) => step.setting === setting);
  if (row === undefined) return "–";
  const names = [row.path, ...row.newer?.slice(0, 1) ?? []];
  return names.map((name) => `\`${name}\``).join(", ") +
    (row.range === undefined ? "" : ` (${row.range.join(" to ")})`);
}

Deno.test("docs/translation.md has the settings of every format and what they need", async () => {
  const page = await Deno.readTextFile(new URL("docs/translation.md", ROOT));
  const rows = page.split("\n## ").find((part) => part.startsWith("Settings\n"))
    ?.split("\n").filter((line) => line.startsWith("| `")).map((line) =>
      line.split("|").slice(1, -1).map((text) => text.trim())
    );
  const expected = SETTINGS.map((setting) => {
    const { needs = [], least = [], most = [] } = SETTING_RULES[setting];
    return [
      `\`${setting}\``,
      ...TABLES.map((table) => cell(table, setting)),
      [needs, least, most].flat().map((name) => `\`${name}\``).join(", "),
    ];
  });
  const text = expected.map((row) => `| ${row.join(" | ")} |`).join("\n");
  assert.deepEqual(rows, expected, `the rows should be\n${text}`);
});

/** The anchors of a page's headings, as GitHub makes them. */
function anchors(page: string): ReadonlySet<string> {
  const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) =>
    text.toLowerCase().replaceAll(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-")
  );
  return new Set(headings);
}

Deno.test("links in pages lead to a file, and to a heading of it", async () => {
  const pages = await files(ROOT, /\.md$/);
  assert.ok(pages.length > 30);
  const textOf = async (url: URL): Promise<string> =>
    (await Deno.readTextFile(url)).replaceAll(/^ *```[^]*?^ *```/gm, "");
  const broken: string[] = [];
  for (const base of pages) {
    const links = (await textOf(base)).matchAll(/\]\((?!https?:)([^)\s]+)\)/g);
    for (const [, link = ""] of links) {
      const { hash, href } = new URL(link, base);
      const file = new URL(href.slice(0, href.length - hash.length));
      const exists = await Deno.stat(file).then(() => true, () => false);
      const isFound = exists &&
        (hash === "" || anchors(await textOf(file)).has(hash.slice(1)));
      if (!isFound) broken.push(`${base.pathname}: ${link}`);
    }
  }
  assert.deepEqual(broken, []);
});
