import assert from "node:assert/strict";
import { catalogue } from "./catalogue.ts";
import { parseCatalogueFile } from "./catalogue_file.ts";

const ROUTE = { endpoint: "/v1/rerank", path: "/rerank" };
const MODEL = {
  vendor: "vendorb",
  operations: ["rerank"],
  price: { call: 2_000 },
};

function problems(file: object): readonly string[] {
  const parsed = parseCatalogueFile(JSON.stringify(file));
  return parsed.ok ? [] : parsed.problems;
}

const withRoute = (row: object) =>
  problems({ routes: { rerank: { ...ROUTE, ...row } } });
const withModel = (row: object, route: object = {}) =>
  problems({
    routes: { rerank: { ...ROUTE, ...route } },
    models: { m: { ...MODEL, ...row } },
  });

Deno.test("a row and a model of it are a route of the catalogue", () => {
  const parsed = parseCatalogueFile(JSON.stringify({
    routes: { rerank: { ...ROUTE, vendor_paths: { vendorc: "/v2/rerank" } } },
    models: { m: MODEL },
  }));
  assert.ok(parsed.ok);
  const { routes, models } = catalogue(parsed.overrides);
  const route = routes.get("/v1/rerank");
  assert.equal(route?.name, "rerank");
  assert.equal(route?.pathAt("vendorb"), "/rerank");
  assert.equal(route?.pathAt("vendorc"), "/v2/rerank");
  assert.deepEqual(models.find(({ id }) => id === "m")?.operations, ["rerank"]);
});

const OTHER_PLACES = [
  "https://other.example/rerank",
  "//other.example/rerank",
  "/a//b",
  "/../admin",
  "/a/../../admin",
  "/a/..",
  "/./a",
  "@other.example/",
  "rerank",
  "/rerank#part",
  "/rerank?x=/../y",
  "/re rank",
  "/%2e%2e/admin",
  "/a\\b",
  "",
];

Deno.test("no row leads to another place", () => {
  for (const path of OTHER_PLACES) {
    assert.match(withRoute({ path }).join(), /^routes\.rerank\.path: must be/);
    assert.match(
      withRoute({ vendor_paths: { vendorb: path } }).join(),
      /^routes\.rerank\.vendor_paths\.vendorb: must be/,
    );
  }
});

Deno.test("paths with settings, a fixed query and colons are paths", () => {
  for (
    const path of [
      "/v1/models/{model}:predict",
      "/a.b/c?api-version=2024-10-21",
    ]
  ) {
    assert.deepEqual(withRoute({ path }), []);
  }
});

Deno.test("what is wrong with a row is named", () => {
  const table: readonly (readonly [object, RegExp])[] = [
    [
      { endpoint: "/v1/chat/other" },
      /rerank\.endpoint: the gateway has endpoints/,
    ],
    [{ endpoint: "/v1/Rerank" }, /rerank\.endpoint: must be a path/],
    [{ endpoint: "/admin/v1/x" }, /rerank\.endpoint: must be a path/],
    [{ endpoint: "/v1/:x" }, /rerank\.endpoint: must be a path/],
    [
      { vendor_paths: { nobody: "/x" } },
      /vendor_paths: there is no vendor nobody/,
    ],
    [{ counts: { minute: {} } }, /there is no field minute/],
    [
      { counts: { second: { reply: ["a..b"] } } },
      /must be the names of fields/,
    ],
    [{ pth: "/x" }, /there is no field pth; did you mean path/],
  ];
  for (const [row, text] of table) {
    assert.match(withRoute(row).join("\n"), text);
  }
  assert.match(
    problems({ routes: { a: ROUTE, b: ROUTE } }).join(),
    /routes\.b\.endpoint: the same as of an earlier route/,
  );
  assert.match(
    problems({ routes: { embeddings: ROUTE } }).join(),
    /routes\.embeddings: the gateway has this operation itself/,
  );
});

Deno.test("no route without a price", () => {
  assert.deepEqual(withModel({}), []);
  assert.deepEqual(withModel({ free: true, price: undefined }), []);
  assert.deepEqual(withModel({ price: { input: 1, output: 0 } }), []);
  const counts = { counts: { second: {} } };
  assert.deepEqual(withModel({ price: { second: 1 } }, counts), []);
  assert.match(
    withModel({ price: { image: 1 } }, counts).join(),
    /models\.m\.price: has no price for rerank: needs input or call or second/,
  );
  assert.match(
    withModel({ price: { version: "1" } }).join(),
    /models\.m\.price\.input: .*number/,
  );
  assert.deepEqual(
    withModel({ operations: ["embeddings"], price: { input: 1 } }),
    [],
  );
  assert.match(
    withModel({ operations: ["generation"], price: { input: 1 } }).join(),
    /models\.m\.price\.output: .*number/,
  );
  assert.match(
    withModel({ operations: ["generation", "rerank"] }).join(),
    /models\.m\.price\.input: .*number/,
  );
});

Deno.test("what is wrong with a model of a route is named", () => {
  assert.match(
    withModel({ operations: ["rernk"] }).join(),
    /models\.m\.operations\.0: there is no operation rernk; did you mean rerank/,
  );
  assert.match(
    problems({ models: { m: { vendor: "vendorb", allowed: { n: [1] } } } })
      .join(),
    /models\.m\.allowed: is for models of configured routes only/,
  );
  assert.match(
    withModel({}, { path: "/x/{api_version}" }).join(),
    /routes\.rerank\.path: \{api_version\} is no setting of vendorb/,
  );
});
