import assert from "node:assert/strict";
import { main } from "../cli.ts";
import { readSettings, UsageError } from "./settings.ts";

Deno.test("readSettings() refuses what it does not know", () => {
  for (
    const arg of [
      "--nope",
      "positional",
      "--list=x",
      "--timeout=soon",
      "--report=pdf:x",
      "--profile=all",
      "--replay=127.0.0.1:1",
      "--base-url=ftp://x",
    ]
  ) {
    assert.throws(() => readSettings([arg], undefined), UsageError, arg);
  }
});

Deno.test("readSettings() judges contracts only on this project's gateway unless asked", () => {
  assert.ok(readSettings([], undefined).levels.has("contract"));
  const foreign = readSettings(["--base-url=http://x"], "k");
  assert.ok(
    !foreign.levels.has("contract") && foreign.levels.has("convention"),
  );
});

Deno.test("main() exits with 2 for a filter that matches nothing, and with 3 for a target that is not there", async () => {
  assert.equal(await main(["--filter=no.such.check"], undefined), 2);
  assert.equal(await main(["--base-url=http://127.0.0.1:9"], undefined), 2);
  assert.equal(await main(["--base-url=http://127.0.0.1:9"], "sk-12345678"), 3);
});
