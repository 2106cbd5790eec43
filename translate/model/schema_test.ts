import assert from "node:assert/strict";
import { chatCompletions } from "../formats/chat_completions/mod.ts";
import { ApiError } from "./error.ts";
import { messages } from "../formats/messages/mod.ts";
import { atOnce } from "../steps.ts";

Deno.test("checked() names the field of an object with an invalid length in place of a text or a list", async (t) => {
  const odd = { length: { toString: 1, valueOf: 2 } };
  const good = { model: "m", max_tokens: 1, messages: [] };
  const rows: readonly (readonly [object, string])[] = [
    [{ ...good, model: odd }, "model"],
    [{ ...good, messages: odd }, "messages"],
    [{ ...good, messages: { length: [{ toString: 1 }] } }, "messages"],
  ];
  for (const dialect of [messages, chatCompletions]) {
    for (const [body, param] of rows) {
      await t.step(`${dialect.name}: ${JSON.stringify(body)}`, () => {
        assert.throws(() => atOnce(dialect.decodeRequest(body)), (error) => {
          assert.ok(error instanceof ApiError);
          assert.equal(error.details.param, param);
          return true;
        });
      });
    }
  }
});
