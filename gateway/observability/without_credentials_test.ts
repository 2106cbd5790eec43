import assert from "node:assert/strict";
import { newKey } from "../accounts/key.ts";
import { withoutCredentials } from "./without_credentials.ts";

const clean = withoutCredentials(["my own key", undefined, ""]);

Deno.test("withoutCredentials() removes keys and tokens, also with percent signs, and the configured ones", () => {
  const key = newKey();
  assert.equal(clean(`/v1/${key}/models`), "/v1/sk-[removed]/models");
  assert.equal(clean(`/${key.replace("-", "%2D")}`), "/sk-[removed]");
  assert.equal(clean(`at-${key.slice(3)}`), "at-[removed]");
  assert.equal(clean("a my own key b"), "a [removed] b");
  assert.equal(clean("my%20own%20key"), "[removed]");
});

Deno.test("withoutCredentials() leaves other texts as they are", () => {
  for (
    const text of ["/v1/models/a%2Fb", "100%", "vendora-opus-4-8", "task-list"]
  ) assert.equal(clean(text), text);
});
