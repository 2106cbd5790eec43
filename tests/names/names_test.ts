/**
 * Each codec uses every name that the pinned client library of its format declares, or it is
 * accepted with a reason. `deno task names` lists them.
 */
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { declaredNames } from "./declared_names.ts";
import { libraries } from "./libraries.ts";
import { usedWords } from "./used_words.ts";
import { unusedNames } from "./unused_names.ts";
import {
  betaName,
  isUnpricedBeta,
  OTHER_BETAS,
  PRICED_BETAS,
} from "../../translate/model/betas.ts";
import { ANTHROPIC_FOLDER } from "../packages/anthropic.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

async function withFolder(run: (folder: URL) => Promise<void>): Promise<void> {
  await using folder = await temporaryFolder();
  await run(pathToFileURL(`${folder.path}/`));
}

Deno.test("every declared name is used or accepted, and every accepted one is declared", (t) =>
  withFolder(async (into) => {
    for (const library of libraries("pinned")) {
      let folder: URL;
      try {
        folder = await library.folder(into);
      } catch (error) {
        const name = `${library.name}: SKIPPED, ${error}`;
        await t.step({ name, ignore: true, fn: () => {} });
        continue;
      }
      await t.step(library.name, async () => {
        const names = await declaredNames(folder, library.files);
        const isUsed = await usedWords(library.codecs);
        const found = unusedNames(names, isUsed, library.accepted);
        assert.ok(found.declared > 300, "hardly any name was found");
        assert.ok(found.unused < found.declared, "no name is used");
        assert.deepEqual(found.unexplained, []);
        assert.deepEqual(found.outdated, []);
        assert.deepEqual(found.needless, []);
      });
    }
  }));

Deno.test("every declared beta is in a table: sent, with a price, or of another endpoint", async () => {
  const declared = (await declaredNames(ANTHROPIC_FOLDER, /beta\/beta\.d\.ts$/))
    .filter(({ places }) =>
      [...places].some((place) => place.endsWith("#AnthropicBeta"))
    ).map(({ name }) => name);
  assert.ok(declared.length > 40, "hardly any beta was found");
  assert.deepEqual(
    declared.filter((beta) =>
      !isUnpricedBeta(beta) && !PRICED_BETAS.has(betaName(beta)) &&
      !OTHER_BETAS.has(betaName(beta))
    ),
    [],
  );
});

const DECLARATIONS = `
export interface Message { id: string; 'content-type': 'a' | 'b'; more?: { deep: Array<'c'> } }
/** A comment with old_name: 'none'. */
export declare namespace Message { interface Inner { kind: 'd' } }
export declare enum Reason { STOP = "STOP" }
export declare class Reply { text: string; get helper(): string; method(one: 'x'): 'y' }
export declare class Messages extends APIResource { batches: string }
export type Beta = 'e' | (string & {});
export declare const Tier: { readonly FLEX: 'f'; readonly FULL: 'g' };
export declare const configs: { depth: 'h'; width: number };
`;

Deno.test("fields and literals are read, with the declarations that contain them", () =>
  withFolder(async (folder) => {
    await Deno.mkdir(new URL("sub/", folder));
    await Deno.writeTextFile(new URL("sub/a.d.ts", folder), DECLARATIONS);
    await Deno.writeTextFile(new URL("a.js", folder), "const z = { z: 1 };");
    const names = await declaredNames(folder, /^sub\/.*\.d\.ts$/);
    const places = Object.fromEntries(
      names.map(({ name, places }) => [name, [...places].join()]),
    );
    assert.deepEqual(places, {
      id: "sub/a.d.ts#Message",
      "content-type": "sub/a.d.ts#Message",
      a: "sub/a.d.ts#Message",
      b: "sub/a.d.ts#Message",
      more: "sub/a.d.ts#Message",
      deep: "sub/a.d.ts#Message",
      c: "sub/a.d.ts#Message",
      kind: "sub/a.d.ts#Message.Inner",
      d: "sub/a.d.ts#Message.Inner",
      STOP: "sub/a.d.ts#Reason",
      text: "sub/a.d.ts#Reply",
      e: "sub/a.d.ts#Beta",
      f: "sub/a.d.ts#Tier",
      g: "sub/a.d.ts#Tier",
    });
  }));

Deno.test("a new name and an outdated acceptance are found", () => {
  const declared = (name: string, ...places: string[]) => ({
    name,
    places: new Set(places),
  });
  const names = [
    declared("used", "a.d.ts#Message"),
    declared("fresh", "a.d.ts#Message", "b.d.ts#Tool"),
    declared("tool_only", "b.d.ts#BetaTool.Part"),
    declared("old_file", "c.d.ts#X"),
    declared("named", "a.d.ts#Message"),
    declared("half", "a.d.ts#Message", "d.d.ts#Message"),
  ];
  const isUsed = (name: string, place: string): boolean =>
    name === "used" || name === "half" && place.startsWith("a");
  const reason = "why";
  assert.deepEqual(
    unusedNames(names, isUsed, [
      { reason, declarations: /Tool.*/, names: "named gone used" },
      { reason, files: /c\.d\.ts/, declarations: /Gone/, names: /g.*/ },
    ]),
    {
      declared: 6,
      unused: 4,
      unexplained: ["fresh (a.d.ts#Message)", "half (d.d.ts#Message)"],
      outdated: ["gone", "/^(?:Gone)$/", "/^(?:g.*)$/"],
      needless: ["used"],
    },
  );
});

Deno.test("a codec's words are whole words of its own code, without comments and tests", async () => {
  const code = (format: string, places: RegExp, isLowerCase?: true) => ({
    name: format,
    places,
    code: [`translate/formats/${format}`],
    ...(isLowerCase && { isLowerCase }),
  });
  const isUsed = await usedWords([
    code("messages", /m.*/),
    code("responses", /(?:r|both)/),
    code("generate_content", /(?:g|both)/),
    code("generate_content", /level/, true),
  ]);
  const cases: readonly (readonly [string, string, boolean])[] = [
    ["cache_control", "m.d.ts#Block", true],
    ["response.created", "r", true],
    ["response.created", "m", false],
    ["finishReason", "g", true],
    ["finishReason", "both", false],
    ["REASONING", "level", true],
    ["REASONING", "g", false],
    ["cache_contro", "m", false],
    ["esponse.created", "r", false],
    ["cache_control", "elsewhere", false],
  ];
  for (const [name, place, expected] of cases) {
    assert.equal(isUsed(name, place), expected, `${name} in ${place}`);
  }
});
