/**
 * The tool runner of the official messages library, which continues its conversation at the vendor
 * (`thread`) and sends all of it again where the vendor does not keep it.
 */
import assert from "node:assert/strict";
import { betaTool } from "../packages/anthropic.ts";
import { jsonScript, replyScript } from "../../replay/mod.ts";
import { isObject, objectOr, parseJson } from "../../translate/bytes/json.ts";
import { anthropicAt } from "../support/clients/library_clients.ts";
import { eachFamily } from "../support/tables/each_family.ts";
import { FAMILIES } from "../support/test_gateway.ts";

const LOST = {
  type: "error",
  error: {
    type: "not_found_error",
    message: "No usable thread state was found.",
    details: { error_code: "thread_not_found" },
  },
};

const DONE = {
  blocks: [{ kind: "text", pieces: ["All ", "done."] }],
  stop: "end",
  stopSequence: null,
  usage: { input: 9, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 },
} as const;

for (const stream of [false, true]) {
  Deno.test(`the tool runner, ${stream ? "streamed" : "whole"}, goes on where its conversation is not kept`, (t) =>
    eachFamily(t, async ({ url, replay }, model) => {
      const answered: string[] = [];
      let refused = 0;
      replay.script("forgetful", (request) => {
        const body = parseJson(request.body);
        if (isObject(body) && objectOr(body["thread"])["type"] === "continue") {
          refused++;
          return jsonScript(404, LOST);
        }
        answered.push(request.body);
        return replyScript(request, DONE);
      });
      const weather = betaTool({
        name: "get_weather",
        description: "Weather of a city",
        inputSchema: {
          type: "object",
          properties: { city: { type: "string" } },
          required: ["city"],
        },
        run: ({ city }) => `18 degrees in ${city} [[fx:forgetful]]`,
      });
      const last = await anthropicAt(url).beta.messages.toolRunner({
        model,
        max_tokens: 200,
        stream,
        messages: [{ role: "user", content: "[[fx:tool-parallel]]" }],
        tools: [weather],
      });
      assert.deepEqual(
        last.content.map((block) => block.type === "text" ? block.text : block),
        ["All done."],
      );
      const [whole = "", ...more] = answered;
      assert.deepEqual(more, []);
      for (const text of ["tool-parallel", "in Paris", "in Tokyo"]) {
        assert.ok(whole.includes(text), text);
      }
      // Only the first family's upstream keeps conversations, so only it is asked to.
      assert.equal(refused, model === FAMILIES[0] ? 1 : 0);
    }));
}
