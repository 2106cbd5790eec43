/** The names in the registries match, and every quoted sentence is in the specification. */
import assert from "node:assert/strict";
import { CHECKS } from "./areas/checks.ts";
import { SCENARIOS } from "./areas/scenarios.ts";
import { mutantsOf } from "./suite/check.ts";

const SPECIFICATION = plain(
  await Deno.readTextFile(new URL("specification.md", import.meta.url)),
);

/** The text with collapsed whitespace: the layout of tables does not matter. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

function assertUnique(names: readonly string[]): void {
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  assert.deepEqual(twice, []);
}

Deno.test("ids of checks and names of scenarios are unique", () => {
  assertUnique(CHECKS.map(({ id }) => id));
  assertUnique(SCENARIOS.map(({ name }) => name));
});

Deno.test("${id} reads ${name}, which is not a scenario", () => {
  for (const { id, mode, reads, provedBy = [] } of CHECKS) {
    for (const name of reads === "everything" ? provedBy : reads) {
      const scenario = SCENARIOS.find((each) => each.name === name);
      assert.ok(scenario, `${id} reads ${name}, which is no scenario`);
      assert.ok(
        scenario.mode === "both" || scenario.mode === mode,
        `${id} (${mode}) reads ${name} (${scenario.mode})`,
      );
    }
  }
});

Deno.test("every scenario is used", () => {
  const read = new Set(
    CHECKS.flatMap(({ reads, provedBy = [] }) =>
      reads === "everything" ? provedBy : reads
    ),
  );
  assert.deepEqual(SCENARIOS.filter(({ name }) => !read.has(name)), []);
});

Deno.test("every check has a fault, and no name of a fault is unknown", () => {
  const known = new Set(mutantsOf(CHECKS).map(({ name }) => name));
  for (const { id, faults } of CHECKS) {
    const names = Object.keys(faults);
    assert.notEqual(names.length, 0, id);
    assert.deepEqual(names.filter((name) => !known.has(name)), [], id);
  }
});

/** Each area's folder, with the text of its files by name. */
async function folders(): Promise<Map<string, Map<string, string>>> {
  const areas = new URL("areas/", import.meta.url);
  const found = new Map<string, Map<string, string>>();
  for await (const { name: area, isDirectory } of Deno.readDir(areas)) {
    if (!isDirectory) continue;
    const files = new Map<string, string>();
    for await (const { name } of Deno.readDir(new URL(`${area}/`, areas))) {
      const url = new URL(`${area}/${name}`, areas);
      files.set(name, await Deno.readTextFile(url));
    }
    found.set(area, files);
  }
  return found;
}

/** The strings inside the brackets that follow a word. */
function stringsAfter(word: RegExp, text: string): string[] {
  return [...text.matchAll(word)].flatMap(([, inside = ""]) =>
    [...inside.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name)
  );
}

Deno.test("nothing is linked by strings across folders", async () => {
  let looked = 0;
  for (const [area, files] of await folders()) {
    const all = [...files.values()].join("\n");
    const requests = [...files].filter(([name]) => name.startsWith("scenarios"))
      .map(([, text]) => text).join("\n");
    for (const name of stringsAfter(/\bshared\(([^)]*)\)/g, all)) {
      looked++;
      assert.ok(all.includes(`"${name}": `), `${area} shares ${name}`);
    }
    for (
      const name of stringsAfter(/\b(?:reads|provedBy): \[([^\](]*)\]/g, all)
    ) {
      looked++;
      // Some names are made of a prefix and a kind.
      const [, prefix = name] = /^(.*)-[a-z]+$/.exec(name) ?? [];
      assert.ok(
        requests.includes(`"${name}"`) || requests.includes(`\`${prefix}-$`),
        `${area} reads ${name}`,
      );
    }
  }
  assert.ok(looked > 100, "hardly any name was found");
});

Deno.test("every quoted sentence is verbatim in its section of the specification", () => {
  const sections = SPECIFICATION.split(/(?<= )(?=#{2,3} )/);
  for (const { id, rule, level } of CHECKS) {
    if (!("section" in rule)) {
      assert.notEqual(level, "documented", `${id} quotes no specification`);
      continue;
    }
    const section = sections.find((text) =>
      text.replace(/^#+ /, "").startsWith(plain(rule.section))
    );
    assert.ok(section, `${id}: there is no section "${rule.section}"`);
    assert.ok(
      section.includes(plain(rule.text)),
      `${id}: "${rule.text}" is not in "${rule.section}"`,
    );
  }
});

Deno.test("what only clients need is a convention, and what this gateway promises a contract", () => {
  const wanted = { clients: "convention", gateway: "contract" } as const;
  let looked = 0;
  for (const { id, rule, level } of CHECKS) {
    if (!("section" in rule)) continue;
    const after = SPECIFICATION.split(plain(rule.text))[1] ?? "";
    const tag = /^\W{0,2}\((clients|gateway)\)/.exec(after)?.[1];
    if (tag !== "clients" && tag !== "gateway") continue;
    looked++;
    assert.equal(level, wanted[tag], id);
  }
  assert.ok(looked > 50, "hardly any source was found");
});
