/**
 * Bodies of very many parts: those within the bounds are served, and all others are refused before
 * they are parsed.
 */
import assert from "node:assert/strict";
import { send } from "../support/tables/request_table.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const HI = '[{"role":"user","content":"Hi"}]';
const MODEL = '"model":"vendora-haiku-4-5","max_tokens":9';

function many(count: number, one: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => one(i)).join(",");
}

interface Shape {
  readonly name: string;
  /** Largest size that is accepted. */
  readonly most: number;
  body(size: number): string;
  readonly error: RegExp;
}

const FIELDS = /more than 1000 fields/;
const PARTS = /more than 100000 objects, arrays and values/;

const SHAPES: readonly Shape[] = [
  {
    name: "unknown fields",
    most: 997,
    body: (n) => `{${MODEL},"messages":${HI},${many(n, (i) => `"k${i}":1`)}}`,
    error: FIELDS,
  },
  {
    name: "properties of a tool's schema",
    most: 49_990,
    body: (n) =>
      `{${MODEL},"messages":${HI},"tools":[{"name":"f","input_schema":{"type":"object","properties":{${
        many(n, (i) => `"p${i}":{}`)
      }}}}]}`,
    error: PARTS,
  },
  {
    name: "messages",
    most: 33_331,
    body: (n) =>
      `{${MODEL},"messages":[${
        many(
          n,
          (i) => `{"role":"${i % 2 ? "assistant" : "user"}","content":"a"}`,
        )
      }]}`,
    error: PARTS,
  },
  {
    name: "levels",
    most: 1_900,
    body: (n) =>
      `{${MODEL},"messages":${HI},"x":${"[".repeat(n)}${"]".repeat(n)}}`,
    error: /nests deeper|objects, arrays and values/,
  },
];

Deno.test("a body of more fields or parts than any client sends is a 400, and one within the bounds is served", async (t) => {
  await using gateway = await startTestGateway();
  for (const { name, most, body, error } of SHAPES) {
    await t.step(name, async () => {
      const right = await send(gateway, "/v1/messages", body(most));
      assert.equal(right.response.status, 200, JSON.stringify(right.answer));
      for (const size of [most * 1.1, 1_000_000]) {
        const { response, answer, upstreamJson } = await send(
          gateway,
          "/v1/messages",
          body(Math.ceil(size)),
        );
        assert.equal(response.status, 400);
        assert.match(JSON.stringify(answer), error);
        assert.equal(upstreamJson, undefined, "it reached the upstream");
      }
    });
  }
});
