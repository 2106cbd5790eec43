import assert from "node:assert/strict";
import { parseCatalogueFile } from "./catalogue_file.ts";

/** The problems of a file; none if it is valid. */
function problemsOf(file: unknown): readonly string[] {
  const parsed = parseCatalogueFile(
    typeof file === "string" ? file : JSON.stringify(file),
  );
  return parsed.ok ? [] : parsed.problems;
}

const GROQ = {
  kind: "openai_compatible",
  base_url: "https://api.example.com/v1",
  api_key_env: "GROQ_KEY",
};

Deno.test("parseCatalogueFile() refuses a row or field that occurs twice", () => {
  const row = '{"vendor":"vendora","upstream_model":"m","price":"free"}';
  assert.deepEqual(
    problemsOf(`{"models":{"g":${row},"h":${row},"g":${row}}}`),
    ["models.g: appears more than once"],
  );
});

Deno.test("parseCatalogueFile() accepts a byte order mark", () => {
  assert.deepEqual(problemsOf("\ufeff{}"), []);
});

const EMBEDDING_CANDIDATES = [
  { vendor: "vendorb", upstream_model: "a", vector_space: "s" },
  { vendor: "vendorc", upstream_model: "b", vector_space: "s" },
];

/** The problems of candidates of a model that makes embeddings. */
function spaceProblems(candidates: readonly unknown[]): readonly string[] {
  const operations = ["embeddings"];
  return problemsOf({ models: { m: { free: true, operations, candidates } } });
}

Deno.test("parseCatalogueFile() wants one vector space for a model that makes embeddings", () => {
  const [first, second] = EMBEDDING_CANDIDATES;
  assert.deepEqual(spaceProblems(EMBEDDING_CANDIDATES), []);
  const alone = { vendor: "vendorb", upstream_model: "a" };
  assert.deepEqual(spaceProblems([alone]), []);
  for (
    const other of [
      { ...second, vector_space: "t" },
      { vendor: "vendorc", upstream_model: "b" },
    ]
  ) {
    const [problem, ...more] = spaceProblems([first, other]);
    assert.match(problem ?? "", /^models\.m\.candidates\.1\.vector_space: /);
    assert.deepEqual(more, []);
  }
});

const withModel = (m: object) => ({ models: { m } });
const withCandidate = (candidate: object) =>
  withModel({ free: true, candidates: [candidate] });

const AWS = { aws: "chain" };

const MISTAKES: Readonly<Record<string, readonly [unknown, string]>> = {
  "a misspelt section": [
    { vendor: {} },
    "top level: there is no field vendor; did you mean vendors?",
  ],
  "a misspelt field of a vendor": [
    { vendors: { g: { ...GROQ, api_key_evn: "K" } } },
    "vendors.g: there is no field api_key_evn; did you mean api_key_env?",
  ],
  "a misspelt field inside a model": [
    { models: { "vendora-opus-4-8": { timeouts: { first_byte_second: 3 } } } },
    "models.vendora-opus-4-8.timeouts: there is no field first_byte_second; did you mean first_byte_seconds?",
  ],
  "a misspelt field of a candidate": [
    withCandidate({ vendor: "vendora", upstream_model: "x", wait: 3 }),
    "models.m.candidates.0: there is no field wait",
  ],
  "a capability that is like no other": [
    { models: { "vendora-opus-4-8": { capabilities: { telepathy: true } } } },
    "models.vendora-opus-4-8.capabilities: there is no field telepathy",
  ],
  "a misspelt price field": [
    withModel({
      vendor: "vendora",
      price: { input: 1, output: 1, cach_read: 1 },
    }),
    "models.m.price: there is no field cach_read; did you mean cache_read?",
  ],
  "another word for a price": [
    { models: { m: { vendor: "vendora", price: "fre" } } },
    'models.m.price: must be "free", an object of micro-dollars per million tokens, a list of such objects, or null',
  ],
  "the removal of a model that does not exist": [
    { models: { "vendora-fabel-5": null } },
    "models.vendora-fabel-5: there is no such model to remove; did you mean vendora-fable-5?",
  ],
  "a new model that says nothing of where it is": [
    { models: { m: { free: true } } },
    "models.m: is not a built-in model, so it needs vendor, candidates or alias",
  ],
  "a misspelt vendor": [
    {
      vendors: { "az-we": GROQ },
      ...withModel({ vendor: "az-ww", free: true }),
    },
    "models.m.vendor: there is no vendor az-ww; did you mean az-we?",
  ],
  "a misspelt vendor of a candidate": [
    withCandidate({ vendor: "vendor-a", upstream_model: "x" }),
    "models.m.candidates.0.vendor: there is no vendor vendor-a; did you mean vendora?",
  ],
  "an alias of a misspelt model": [
    { models: { m: { alias: "vendora-opus-4.8" } } },
    "models.m.alias: there is no model vendora-opus-4.8; did you mean vendora-opus-4-8?",
  ],
  "a vendor's name with a blank": [
    { vendors: { "my vendor": GROQ } },
    "vendors.my vendor: must be a name of letters, digits, dots, dashes and underscores",
  ],
  "a credential of another cloud": [
    { vendors: { az: { kind: "azure_openai", auth: AWS, resource: "r" } } },
    "vendors.az.auth: azure_openai takes entra or api_key_env",
  ],
  "a key that travels unencrypted": [
    { vendors: { g: { ...GROQ, base_url: "http://api.example.com/v1" } } },
    'vendors.g.base_url: without https only loopback, unless "allow_http" is true: prompts and the credential can be read on the way',
  ],
};

for (const [name, [file, problem]] of Object.entries(MISTAKES)) {
  Deno.test(`parseCatalogueFile() explains ${name}`, () => {
    assert.deepEqual(problemsOf(file), [problem]);
  });
}

Deno.test("parseCatalogueFile() reports mistakes of shape and of meaning together", () => {
  assert.deepEqual(
    problemsOf({
      vendors: { g: { ...GROQ, kind: "openai_compat" } },
      models: {
        ...withCandidate({ vendor: "g", upstream_model: "x", weight: "x" })
          .models,
        n: { free: true, vendor: "g" },
        o: { free: true, vendor: "h" },
      },
    }),
    [
      "models.m.candidates.0.weight: must be a number",
      "vendors.g.kind: there is no kind openai_compat; did you mean openai_compatible?",
      "models.o.vendor: there is no vendor h; did you mean g?",
    ],
  );
});

for (
  const base_url of ["http://127.0.0.1:8000/v1", "http://[::1]:8000/v1"]
) {
  Deno.test(`parseCatalogueFile() lets a key go to ${base_url}`, () => {
    assert.deepEqual(problemsOf({ vendors: { g: { ...GROQ, base_url } } }), []);
  });
}

Deno.test("parseCatalogueFile() accepts another machine without https where the row allows it", () => {
  const row = { ...GROQ, base_url: "http://vllm:8000/v1", allow_http: true };
  const { api_key_env: _, ...open } = row;
  assert.deepEqual(
    problemsOf({ vendors: { g: row, h: { ...open, auth: "none" } } }),
    [],
  );
});
