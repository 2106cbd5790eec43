import assert from "node:assert/strict";
import { KNOWN_KEYS, oneSpelling } from "./key_names.ts";
import { translateRequest } from "../../mod.ts";
import { generateContentRequest } from "./wire.ts";
import { schemaKeys } from "../../testing/schema_keys.ts";
import {
  functionCall,
  functionResponse,
} from "../../testing/request_samples.ts";

Deno.test("KNOWN_KEYS has every key of the request", () => {
  for (const name of schemaKeys(generateContentRequest)) {
    assert.ok(KNOWN_KEYS.has(name), name);
  }
});

Deno.test("oneSpelling() refuses keys that only some readers take for known ones", () => {
  for (
    const key of ["maxoutputtokens", "MaxOutputTokens", "max_Output_tokens"]
  ) {
    assert.throws(
      () => oneSpelling({ generationConfig: { [key]: 1 } }),
      new RegExp(
        `^ApiError: generationConfig\\.${key}: must be spelled maxOutputTokens$`,
      ),
    );
  }
  const own = functionCall("f", { MimeType: 1 });
  assert.equal(oneSpelling(own).body, own);
});

Deno.test("oneSpelling() changes keys of the format and none of the client's own", () => {
  const { body, written } = oneSpelling({
    system_instruction: { parts: { text: "a_b" } },
    contents: [{
      parts: [
        { function_call: { name: "f", args: { my_key: { x_y: 1 } } } },
        { function_response: { name: "f", response: { my_key: 1 } } },
      ],
    }],
    tools: { function_declarations: [{ parameters: { any_of: [] } }] },
    labels: { my_team: "x" },
    generation_config: { thinking_config: { thinking_budget: 1 } },
  });
  assert.deepEqual(body, {
    systemInstruction: { parts: [{ text: "a_b" }] },
    contents: [{
      parts: [
        functionCall("f", { my_key: { x_y: 1 } }),
        functionResponse("f", { my_key: 1 }),
      ],
    }],
    tools: [{ functionDeclarations: [{ parameters: { any_of: [] } }] }],
    labels: { my_team: "x" },
    generationConfig: { thinkingConfig: { thinkingBudget: 1 } },
  });
  assert.equal(
    written("generationConfig.thinkingConfig.thinkingLevel"),
    "generation_config.thinking_config.thinkingLevel",
  );
});

Deno.test("oneSpelling() returns a body in the usual spelling as it is", () => {
  const body = { contents: [{ parts: [{ text: "x" }] }], __proto__: null };
  assert.equal(oneSpelling(body).body, body);
});

Deno.test("oneSpelling() refuses a field in both spellings, in any order", () => {
  for (
    const config of [{ topK: 1, top_k: 2 }, { top_k: 2, topK: 1 }]
  ) {
    assert.throws(
      () => oneSpelling({ generationConfig: config }),
      /^ApiError: generationConfig\.top_?[kK]: is given twice/,
    );
  }
});

const FILE = "gs://b/x.png";
const REFUSED: readonly (readonly [
  string,
  { readonly parts?: readonly object[]; readonly tools?: readonly object[] },
])[] = [
  ["fileData", { parts: [{ fileData: { fileUri: FILE } }] }],
  ["file_data", { parts: [{ file_data: { file_uri: FILE } }] }],
  ["executable_code", { parts: [{ executable_code: { code: "1" } }] }],
  ["code_execution", { tools: [{ code_execution: {} }] }],
];
for (const [word, { parts = [{ text: "x" }], ...more }] of REFUSED) {
  Deno.test(`an error names ${word} as its client spells it`, () => {
    const body = { contents: [{ role: "user", parts }], ...more };
    assert.throws(
      () =>
        translateRequest({
          body: new TextEncoder().encode(JSON.stringify(body)),
          from: "generate_content",
          to: "messages",
          model: "u",
          target: { model: "m", stream: false },
        }),
      new RegExp(`"${word}"`),
    );
  });
}

Deno.test("a key called __proto__ stays a key", () => {
  const { body } = oneSpelling(
    JSON.parse('{"top_k":1,"__proto__":{"polluted":true}}'),
  );
  assert.deepEqual(Object.keys(body), ["topK", "__proto__"]);
  assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
});
