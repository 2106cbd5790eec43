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

const matches = (found: readonly string[], text: RegExp): void =>
  assert.match(found.join("\n"), text);

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
    matches(withRoute({ path }), /^routes\.rerank\.path: must be/);
    matches(
      withRoute({ vendor_paths: { vendorb: path } }),
      /^routes\.rerank\.vendor_paths\.vendorb: must be/,
    );
  }
});

Deno.test("paths with settings, a fixed query and colons are paths", () => {
  const paths = ["/v1/models/{model}:predict", "/a.b/c?api-version=2024-10-21"];
  for (const path of paths) assert.deepEqual(withRoute({ path }), []);
});

Deno.test("what is wrong with a row is named", () => {
  const table: readonly (readonly [object, RegExp])[] = [
    [{ endpoint: "/v1/chat/other" }, /endpoint: the gateway has endpoints/],
    [{ endpoint: "/v1/Rerank" }, /rerank\.endpoint: must be a path/],
    [{ endpoint: "/admin/v1/x" }, /rerank\.endpoint: must be a path/],
    [{ endpoint: "/v1/:x" }, /rerank\.endpoint: must be a path/],
    [{ vendor_paths: { nobody: "/x" } }, /_paths: there is no vendor nobody/],
    [{ counts: { minute: {} } }, /there is no field minute/],
    [
      { counts: { second: { reply: ["a..b"] } } },
      /must be the names of fields/,
    ],
    [{ pth: "/x" }, /there is no field pth; did you mean path/],
  ];
  for (const [row, text] of table) matches(withRoute(row), text);
  matches(
    problems({ routes: { a: ROUTE, b: ROUTE } }),
    /routes\.b\.endpoint: the same as of an earlier route/,
  );
  matches(
    problems({ routes: { embeddings: ROUTE } }),
    /routes\.embeddings: the gateway has this operation itself/,
  );
});

Deno.test("no route without a price", () => {
  assert.deepEqual(withModel({}), []);
  assert.deepEqual(withModel({ free: true, price: undefined }), []);
  assert.deepEqual(withModel({ price: { input: 1, output: 0 } }), []);
  const counts = { counts: { second: {} } };
  assert.deepEqual(withModel({ price: { second: 1 } }, counts), []);
  matches(
    withModel({ price: { image: 1 } }, counts),
    /models\.m\.price: has no price for rerank: needs input or call or second/,
  );
  const noInput = /models\.m\.price\.input: .*number/;
  matches(withModel({ price: { version: "1" } }), noInput);
  const price = { input: 1 };
  assert.deepEqual(withModel({ operations: ["embeddings"], price }), []);
  matches(
    withModel({ operations: ["generation"], price }),
    /models\.m\.price\.output: .*number/,
  );
  matches(withModel({ operations: ["generation", "rerank"] }), noInput);
});

Deno.test("what is wrong with a model of a route is named", () => {
  matches(
    withModel({ operations: ["rernk"] }),
    /models\.m\.operations\.0: there is no operation rernk; did you mean rerank/,
  );
  matches(
    problems({ models: { m: { vendor: "vendorb", allowed: { n: [1] } } } }),
    /models\.m\.allowed: is for models of configured routes only/,
  );
  matches(
    withModel({}, { path: "/x/{api_version}" }),
    /routes\.rerank\.path: \{api_version\} is no setting of vendorb/,
  );
});
