/**
 * The words of comments and pages: idioms that puzzle a first-time reader are refused. The terms to
 * use are in ARCHITECTURE.md.
 */
import assert from "node:assert/strict";

const ROOT = new URL("./", import.meta.url);

/** Patterns that are refused, and what to write instead. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/\b(?:tells?|told|telling)\b/i, "send, report, return, name, receive"],
  [/\b(?:says?|said|saying)\b/i, "state, mean, contain, report"],
  [/\b(?:stands? for|stands? in for|stood)\b/i, "is, represents, replaces"],
  [/\b(?:whoever|whosoever)\b/i, "the client, the operator, the caller"],
  [/\bnobody\b/i, "no client, no process, nothing"],
  [/\b(?:of which|of whom)\b/i, "a sentence of its own"],
  [/\bmend(?:s|ed|ing)?\b/i, "fix"],
  [/\bpurses?\b/i, "the balance of a model"],
  [/\bdoors?\b/i, "sign-in, the area"],
  [/\/\*\* Of /, "the noun first: Path of, Name of"],
];

/** Words that are refused in names, and what to write instead. */
const REFUSED_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^(?:deed|fate)s?$/i, "action, behaviour"],
  [/unwell/i, "hasProblem, withProblems"],
  [/^told$/, "reported, found, problems"],
  [/unmapped/i, "unknownFields"],
];

/** Texts of others: the suite's copy of the specification, and replies of models. */
const QUOTED = /^(?:conformance\/specification\.md|replay\/fixtures\/)/;

async function files(folder: URL): Promise<URL[]> {
  const found: URL[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (name.startsWith(".") || ["data", "dist", "cov"].includes(name)) {
      continue;
    }
    const url = new URL(isDirectory ? `${name}/` : name, folder);
    if (isDirectory) found.push(...await files(url));
    else if (/\.(?:tsx?|md)$/.test(name)) found.push(url);
  }
  return found;
}

/** The prose of a file: comments of code, and pages without code, links and quotations. */
function prose(path: string, text: string): string {
  if (/\.tsx?$/.test(path)) {
    return [
      ...text.matchAll(/(?:^|[ \t({])\/\*\*?[^]*?\*\/|(?<![:"'`/\w])\/\/ .*/gm),
    ]
      .map(([comment]) => comment.replaceAll(/`[^`]*`|"[^"]*"/g, ""))
      .join("\n");
  }
  return text.replaceAll(/```[^]*?```|^ {4}.*$|`[^`\n]*`|"[^"\n]*"/gm, "");
}

Deno.test("comments and pages use plain words", async () => {
  const faults: string[] = [];
  let read = 0;
  for (const url of await files(ROOT)) {
    const path = url.href.slice(ROOT.href.length);
    if (QUOTED.test(path) || path === "words_test.ts") continue;
    read++;
    const text = prose(path, await Deno.readTextFile(url));
    for (const [pattern, instead] of REFUSED) {
      const hit = new RegExp(`.*${pattern.source}.*`, "i").exec(text);
      if (hit !== null) {
        faults.push(`${path}: ${hit[0].trim()} (use: ${instead})`);
      }
    }
  }
  assert.ok(read > 500, "hardly any file was found");
  assert.deepEqual(faults, []);
});

/** The names in code: without comments, texts and patterns, as far as lines show. */
function names(text: string): Set<string> {
  const code = text.replaceAll(/\/\*[^]*?\*\/|(?<![:"'`/\w])\/\/ .*/g, "")
    .replaceAll(/"(?:[^"\\\n]|\\.)*"/g, "");
  return new Set(code.match(/[A-Za-z_$][\w$]*/g));
}

Deno.test("names use plain words", async () => {
  const faults: string[] = [];
  let read = 0;
  for (const url of await files(ROOT)) {
    const path = url.href.slice(ROOT.href.length);
    if (!/\.tsx?$/.test(path) || path === "words_test.ts") continue;
    if (QUOTED.test(path)) continue;
    for (const name of names(await Deno.readTextFile(url))) {
      read++;
      for (const [pattern, instead] of REFUSED_NAMES) {
        if (pattern.test(name)) {
          faults.push(`${path}: ${name} (use: ${instead})`);
        }
      }
    }
  }
  assert.ok(read > 50_000, "hardly any name was read");
  assert.deepEqual(faults, []);
});

/** Functions that are named by what was done instead of what they do: `joined()`. */
const PARTICIPLE =
  /(?:function\*?|const) ((?!embed|feed|need)[a-z]+ed|made|taken|told|shown|given|kept)(?:[(<]| = (?:async )?\([^)]*\)(?:: [^=]*)? =>)/g;

Deno.test("functions of the product are named by verbs", async () => {
  const faults: string[] = [];
  for (const folder of ["routes/", "gateway/", "translate/"]) {
    for (const { href } of await files(new URL(folder, ROOT))) {
      if (/_test\.ts$|\/(?:testing|specs)\/|\.md$/.test(href)) continue;
      const code = await Deno.readTextFile(new URL(href));
      for (const [, name] of code.matchAll(PARTICIPLE)) {
        faults.push(`${href.slice(ROOT.href.length)}: ${name}`);
      }
    }
  }
  assert.deepEqual(faults, []);
});
