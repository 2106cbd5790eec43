import { deepStrictEqual } from "node:assert/strict";
import type { Route } from "./route.ts";
import { routeTable } from "./route_table.ts";

const route = (method: "GET" | "POST", path: string): Route => ({
  access: "open",
  method,
  path,
  handle: () => ({ status: 200, headers: {}, body: null }),
});

const find = routeTable([
  route("POST", "/models/:model:write"),
  route("POST", "/models/:model:writeAll"),
  route("GET", "/models/:model"),
  route("GET", "/models"),
  route("GET", "/files/:id/parts"),
]);

const CASES: readonly (readonly [string, readonly string[]])[] = [
  ["/models", ["GET /models"]],
  ["/models/a", ["GET /models/:model a"]],
  ["/models/a/b", ["GET /models/:model a/b"]],
  ["/models/a%2Fb:write", [
    "POST /models/:model:write a/b",
    "GET /models/:model a/b:write",
  ]],
  ["/models/a/b:c:writeAll", [
    "POST /models/:model:writeAll a/b:c",
    "GET /models/:model a/b:c:writeAll",
  ]],
  ["/models/:write", ["GET /models/:model :write"]],
  ["/files/7/parts", ["GET /files/:id/parts 7"]],
  ["/files/7/other", []],
  ["/models/%", []],
];

for (const [path, expected] of CASES) {
  Deno.test(`the routes of ${path}`, () => {
    deepStrictEqual(
      find(path).map(({ route, parameters }) =>
        [`${route.method} ${route.path}`, ...Object.values(parameters)].join(
          " ",
        )
      ),
      expected,
    );
  });
}
