/** `@google/genai`, against models of every family: chat, streams, tools, media, counts, lists. */
import assert from "node:assert/strict";
import { GENAI_VERSION } from "../support/clients/genai_version.ts";
import {
  FAMILIES,
  startTestGateway,
  TEST_KEY,
} from "../support/test_gateway.ts";

const PROGRAM = new URL("../support/clients/genai_program.js", import.meta.url);

async function results(url: string, model: string) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-config",
      "--no-lock",
      "--node-modules-dir=none",
      "--allow-all",
      PROGRAM.pathname,
      `npm:@google/genai@${GENAI_VERSION}`,
      url,
      TEST_KEY,
      model,
    ],
  }).output();
  const text = new TextDecoder();
  assert.equal(code, 0, text.decode(stderr));
  return JSON.parse(text.decode(stdout));
}

const TEXT = "Hello! The quick brown fox jumps over the lazy dog.";

Deno.test("@google/genai works with models of every family", async (t) => {
  await using gateway = await startTestGateway();
  for (const model of FAMILIES) {
    await t.step(model, async () => {
      const got = await results(gateway.url, model);
      assert.equal(got.text, TEXT);
      assert.equal(got.finish, "STOP");
      assert.equal(got.version, model);
      assert.ok(got.usage.promptTokenCount > 0);
      assert.equal(
        got.usage.totalTokenCount,
        got.usage.promptTokenCount + got.usage.candidatesTokenCount,
      );
      assert.equal(got.streamed, TEXT);
      const [call, ...others] = got.calls;
      assert.deepEqual(others, []);
      assert.equal(call.name, "get_weather");
      assert.deepEqual(call.args, { city: "Paris", days: 3 });
      assert.equal(got.answer, TEXT);
      assert.ok(got.turns.includes("model"));
      assert.deepEqual(got.forced, [{
        name: "get_weather",
        keys: ["city", "days"],
      }]);
      assert.equal(typeof got.structured.city, "string");
      assert.equal(typeof got.structured.days, "number");
      assert.equal(got.seen, TEXT);
      assert.equal(got.thoughts, "The user asks for 6 × 7.");
      assert.equal(got.afterThoughts, "6 × 7 is 42.");
      assert.ok(got.count > 0);
      assert.ok(got.models.length > 4);
      assert.ok(got.models.includes(`models/${model}`));
      assert.equal(got.model, `models/${model}`);
      assert.deepEqual(got.unknown, ["ApiError", 404, "NOT_FOUND"]);
      assert.deepEqual(got.invalid, ["ApiError", 400, "INVALID_ARGUMENT"]);
    });
  }
});
