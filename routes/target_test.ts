import assert from "node:assert/strict";
import { ApiError } from "../translate/model/error.ts";
import { requireNoNul, targetOf } from "./target.ts";

function request(host: string, path: string = "/v1/models"): Request {
  return new Request(`http://gateway${path}`, { headers: { host } });
}

Deno.test("targetOf() accepts the host forms of browsers, proxies and programs", () => {
  for (
    const host of [
      "",
      "gateway",
      "models.example.com",
      "MODELS.EXAMPLE.COM:443",
      "127.0.0.1:8787",
      "[::1]",
      "[::ffff:127.0.0.1]:8787",
      "my_service",
      "a-b.c:",
    ]
  ) {
    assert.equal(targetOf(request(host)).path, "/v1/models", host);
  }
});

Deno.test("a NUL in the query is refused with the name of its field", () => {
  assert.throws(
    () => requireNoNul(targetOf(request("", "/v1/usage?model=a%00b")).query),
    /model: must not contain a NUL/,
  );
  const { query } = targetOf(request("", "/v1/usage?model=a%2500b"));
  requireNoNul(query);
  assert.equal(query.get("model"), "a%00b");
});

Deno.test("targetOf() refuses a malformed host", () => {
  for (
    const host of [
      "a b",
      "a/b",
      "a?b",
      "a#b",
      "a@b",
      "a\\b",
      "a:b",
      "a:80:80",
      "[::1",
      "::1",
      "a,b",
      "%41",
      "\u00e4",
    ]
  ) {
    assert.throws(
      () => targetOf(request(host)),
      (error) => error instanceof ApiError && error.kind === "invalid_request",
      host,
    );
  }
});
