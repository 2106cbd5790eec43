/** Numbers in a chat request that no double holds, as other formats' upstreams receive them. */
import assert from "node:assert/strict";
import { ApiError, translateRequest } from "../mod.ts";

const ENCODER = new TextEncoder();

/** Translates a chat request with the fields, given as JSON text. */
function translated(
  fields: string,
  to: "messages" | "generate_content" | "responses",
): ReturnType<typeof translateRequest> {
  const body =
    `{"model":"m","messages":[{"role":"user","content":"hi"}],${fields}}`;
  return translateRequest({
    body: ENCODER.encode(body),
    from: "chat_completions",
    to,
    model: "m",
  });
}

Deno.test("a seed of 64 bits is dropped and named, not refused", () => {
  for (const to of ["messages", "generate_content", "responses"] as const) {
    for (const seed of ["9223372036854775807", "-9223372036854775808"]) {
      assert.deepEqual(translated(`"seed":${seed}`, to).dropped, ["seed"]);
    }
  }
});

Deno.test("a number that is too large is refused as one", () => {
  const rows = {
    '"max_tokens":99999999999999999999': /^max_tokens: too big/,
    '"temperature":99999999999999999999': /^temperature: too big/,
    '"max_tokens":1e400': /^max_tokens: expected number/,
    '"seed":1.5': /^seed: /,
  };
  for (const [fields, message] of Object.entries(rows)) {
    assert.throws(
      () => translated(fields, "messages"),
      (error) => error instanceof ApiError && message.test(error.message),
      fields,
    );
  }
});
