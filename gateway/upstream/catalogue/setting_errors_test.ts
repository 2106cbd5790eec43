import assert from "node:assert/strict";
import { parseJson } from "../../../translate/bytes/json.ts";
import { isObject } from "../../../translate/bytes/json.ts";
import { parseCatalogueFile } from "./catalogue_file.ts";

function problems(file: unknown): readonly string[] {
  const parsed = parseCatalogueFile(JSON.stringify(file));
  return parsed.ok ? [] : parsed.problems;
}

const withCandidates = (...candidates: object[]) => ({
  models: { m: { candidates } },
});

const ROWS: readonly [object, string][] = [
  [
    withCandidates({ vendor: 1, upstream_model: "x" }),
    "models.m.candidates.0.vendor: must be a text",
  ],
  [
    withCandidates({ vendor: "vendora" }),
    "models.m.candidates.0.upstream_model: is missing; it must be a text",
  ],
  [
    withCandidates({ vendor: "vendora", upstream_model: "x", priority: -1 }),
    "models.m.candidates.0.priority: must be 0 or more",
  ],
  [{ routes: [] }, "routes: must be an object"],
  [withCandidates(), "models.m.candidates: must not be empty"],
];

Deno.test("a problem of the configuration file states what is allowed", () => {
  for (const [file, expected] of ROWS) {
    assert.ok(
      problems(file).includes(expected),
      `${problems(file).join("\n")}\nnot\n${expected}`,
    );
  }
});

/** The configuration files of the documentation, and the pieces of them. */
async function documentedFiles(): Promise<object[]> {
  const docs = new URL("../../../docs/", import.meta.url);
  const files: object[] = [];
  for await (const { name } of Deno.readDir(docs)) {
    if (!name.endsWith(".md")) continue;
    const page = await Deno.readTextFile(new URL(name, docs));
    for (const [, text = ""] of page.matchAll(/^```json\n([^]*?)^```/gm)) {
      const file = parseJson(text) ?? parseJson(`{${text}}`);
      if (
        isObject(file) &&
        ["models", "vendors", "routes", "sign_in"].some((key) => key in file)
      ) files.push(file);
    }
  }
  return files;
}

/** Every copy of a value in which one part is replaced. */
function* spoilt(value: unknown, wrong: unknown): Generator<unknown> {
  yield wrong;
  if (Array.isArray(value)) {
    for (const [at, part] of value.entries()) {
      for (const one of spoilt(part, wrong)) yield value.with(at, one);
    }
  } else if (isObject(value)) {
    for (const [key, part] of Object.entries(value)) {
      for (const one of spoilt(part, wrong)) yield { ...value, [key]: one };
    }
  }
}

Deno.test("no problem of a configuration file has the words of the schema library", async () => {
  const files = await documentedFiles();
  assert.ok(files.length > 10, "hardly any file was found");
  let found = 0;
  for (const file of files) {
    for (
      const wrong of [-1, 1.5, 2 ** 60, "", "x y", true, null, [], {}, [5]]
    ) {
      for (const one of spoilt(file, wrong)) {
        for (const problem of problems(one)) {
          found++;
          assert.doesNotMatch(
            problem,
            /\b(?:Invalid|Unrecognized|Too (?:big|small)|expected|received|undefined|NaN)\b|must have another form/,
            `${problem} in ${JSON.stringify(one)}`,
          );
        }
      }
    }
  }
  assert.ok(found > 1_000, "hardly any problem was found");
});
