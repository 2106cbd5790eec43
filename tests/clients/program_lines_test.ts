/**
 * The lines that connect programs: `docs/clients.md` has them, each is what it claims to be, and
 * each program that takes the size of a context is given it.
 */
import assert from "node:assert/strict";
import { parseConfigYaml } from "continue-config";
import { parse as parseToml } from "toml";
import { parseAllDocuments } from "yaml";
import { type Connection, PROGRAMS } from "../../gateway/console/programs.ts";
import { objectOr } from "../../translate/bytes/json.ts";

/** What the documentation is filled with. */
const DOCUMENTED: Connection = {
  url: "http://127.0.0.1:8787",
  model: "vendora-opus-4-8",
  smallModel: "vendora-haiku-4-5",
  contextTokens: 1_000_000,
  outputTokens: 128_000,
  passed: [],
  hasWebSockets: true,
  pickerIds: [],
};

const AGENTS = PROGRAMS.filter(({ id, form }) =>
  id !== "curl" && form !== "py" && form !== "js"
);

/** Fails for lines that are not of the form; code of libraries is not judged. */
const PARSE: Readonly<Record<string, (text: string) => void>> = {
  json: (text) => assert.ok(Object.keys(objectOr(JSON.parse(text))).length > 0),
  toml: (text) => assert.ok(Object.keys(parseToml(text)).length > 0),
  yaml: (text) =>
    parseAllDocuments(text).forEach(({ errors }) =>
      assert.deepEqual(errors, [])
    ),
  fields: (text) =>
    text.split("\n").forEach((line) => assert.match(line, /^[\w ]+: \S+$/)),
  sh(text) {
    const { success, stderr } = new Deno.Command("bash", {
      args: ["-nc", text],
    }).outputSync();
    assert.ok(success, new TextDecoder().decode(stderr));
  },
};

Deno.test("the lines of each program are what they claim to be", () => {
  for (const { id, form, lines } of AGENTS) {
    const parse = PARSE[form];
    assert.ok(parse !== undefined, id);
    parse(lines(DOCUMENTED));
  }
});

Deno.test("Continue reads its lines by its own schema", () => {
  const program = PROGRAMS.find(({ id }) => id === "continue");
  const { models } = parseConfigYaml(program?.lines(DOCUMENTED) ?? "");
  assert.equal(models?.length, 1);
});

/** Programs without a setting for the size of a context. */
const NO_CONTEXT = new Set(["gemini-cli", "open-webui"]);

Deno.test("each program that takes the size of a context is given the model's", () => {
  for (const { id, lines } of AGENTS) {
    assert.equal(
      lines(DOCUMENTED).includes(String(DOCUMENTED.contextTokens)),
      !NO_CONTEXT.has(id),
      id,
    );
  }
});

Deno.test("docs/clients.md has the lines of each program", async () => {
  const page = await Deno.readTextFile(
    new URL("../../docs/clients.md", import.meta.url),
  );
  for (const { name, form, lines } of AGENTS) {
    const [, section = ""] = page.split(
      new RegExp(`^##+ ${RegExp.escape(name)}$`, "m"),
    );
    assert.ok(section !== "", `no section ${name}`);
    const [, block = ""] = /^```(?:\w*)\n(.*?)\n```$/ms.exec(section) ?? [];
    const shown = form === "json" ? JSON.parse(block) : block;
    const expected = lines(DOCUMENTED);
    assert.deepEqual(
      shown,
      form === "json" ? JSON.parse(expected) : expected,
      name,
    );
  }
});
