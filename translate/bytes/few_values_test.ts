import assert from "node:assert/strict";
import { ApiError } from "../model/error.ts";
import { requireFewValues } from "./few_values.ts";

const MANY = 1_000_001;

function refuses(text: string): boolean {
  try {
    requireFewValues(text);
    return false;
  } catch (error) {
    assert.ok(error instanceof ApiError && error.kind === "upstream");
    return true;
  }
}

Deno.test("requireFewValues() refuses more than a million objects, arrays and keys", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["objects", `[${"{},".repeat(MANY)}0]`],
    ["arrays inside each other", "[".repeat(MANY)],
    ["keys", `{${'"k":0,'.repeat(MANY)}"k":0}`],
    [
      "keys after a text with quotes",
      `{"a":"\\\\\\"",${'"k":0,'.repeat(MANY)}`,
    ],
  ];
  for (const [name, text] of rows) assert.ok(refuses(text), name);
});

Deno.test("requireFewValues() reads numbers and long texts of any content", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["numbers", `{"a":[${"1.5,".repeat(MANY)}0]}`],
    ["brackets in a text", `{"a":"${"[{,".repeat(MANY)}"}`],
    ["escaped quotes in a text", `{"a":"${'\\"[{,'.repeat(MANY)}"}`],
    ["a text without its end", `{"a":"${"[{,".repeat(MANY)}`],
    ["closing brackets alone", "]}".repeat(MANY)],
  ];
  for (const [name, text] of rows) assert.ok(!refuses(text), name);
});
