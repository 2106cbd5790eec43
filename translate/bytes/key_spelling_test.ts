import assert from "node:assert/strict";
import { chatCompletionsRequest } from "../formats/chat_completions/wire.ts";
import {
  countTokensRequest,
  messagesRequest,
} from "../formats/messages/wire.ts";
import { responsesRequest } from "../formats/responses/wire.ts";
import type { JsonObject } from "./json.ts";
import { isOtherSpelling, KNOWN_KEYS, otherSpelling } from "./key_spelling.ts";
import { schemaKeys } from "../testing/schema_keys.ts";
import { contentsOf, inputOf, messagesOf } from "../testing/request_samples.ts";

Deno.test("KNOWN_KEYS has every key of the request formats", () => {
  for (
    const schema of [
      chatCompletionsRequest,
      messagesRequest,
      countTokensRequest,
      responsesRequest,
    ]
  ) {
    for (const name of schemaKeys(schema)) {
      assert.ok(KNOWN_KEYS.has(name), name);
    }
  }
});

Deno.test("isOtherSpelling() compares as tolerant readers do", () => {
  for (const key of ["Model", "MODEL", "\u017ftream", "ta\u212a_budget"]) {
    assert.equal(
      isOtherSpelling(key),
      key !== "ta\u212a_budget",
      key,
    );
  }
  for (
    const key of ["to\u212aen", "max_to\u212aens", "T\u0131tle", "T\u0130tle"]
  ) {
    assert.equal(isOtherSpelling(key), key !== "to\u212aen", key);
  }
  for (const key of ["model", "additionalProperties", "m\u00f6del", "", "x1"]) {
    assert.equal(isOtherSpelling(key), false, key);
  }
});

/** A body, and the path of its key at fault. */
const BODIES: readonly (readonly [JsonObject, string | undefined])[] = [
  [{ model: "a", Model: "b" }, "Model"],
  [{ N: 50 }, "N"],
  [{ thinking: { Budget_tokens: 1 } }, "thinking.Budget_tokens"],
  [{ tools: [{}, { Max_Uses: 9 }] }, "tools[1].Max_Uses"],
  [
    messagesOf({ content: [{ cache_control: { TTL: "1h" } }] }),
    "messages[0].content[0].cache_control.TTL",
  ],
  [inputOf({ Role: "system" }), "input[0].Role"],
  [
    messagesOf({ content: [{ type: "tool_use", input: { Model: 1 } }] }),
    undefined,
  ],
  [{ tools: [{ input_schema: { properties: { Name: {} } } }] }, undefined],
  [{ metadata: { User: "x" }, customField: { a: 1 } }, undefined],
  [
    contentsOf({ parts: [{ functionCall: { args: { Name: 1 } } }] }),
    undefined,
  ],
];

Deno.test("otherSpelling() finds keys where they mean something, and none in the client's own data", () => {
  for (const [body, path] of BODIES) assert.equal(otherSpelling(body), path);
});
