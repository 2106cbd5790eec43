/**
 * Fields of a configured endpoint's body that decide what a call costs: where an upstream could
 * read another value than the one that is charged, the request is refused.
 */
import assert from "node:assert/strict";
import { withPassed } from "../support/passed_upstream.ts";
import { TEST_KEY } from "../support/test_gateway.ts";

const part = (name: string, value: string, more = ""): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const form = (...parts: readonly string[]): string =>
  `${part("model", "house-thing")}${parts.join("")}--b--\r\n`;
const json = (fields: string): string => `{"model":"house-thing",${fields}}`;

/** The body, and the field that the error names. */
const REFUSED: readonly (readonly [string, string])[] = [
  [json('"parameters":{"sampleCount":1,"sampleCount":4}'), "sampleCount"],
  [json('"parameters":{"sampleCount":1,"SampleCount":4}'), "SampleCount"],
  [json('"parameters":{"sample_count":4}'), "sample_count"],
  [json('"Parameters":{"sampleCount":4}'), "Parameters"],
  [json('"parameters":{"sampleCount":1},"\u212aind":"dear"'), "\u212aind"],
  [form(part("kind", "dear", '; filename=""')), "kind"],
  [form(part("kind", "dear", '; filename="a"')), "kind"],
  [form(part("Kind", "dear")), "Kind"],
  [form(part("kind[]", "dear")), "kind[]"],
  [form(part("kind", "plain"), part("kind[0]", "dear")), "kind[0]"],
];

/** The client's other data. */
const ACCEPTED: readonly string[] = [
  json('"parameters":{"sampleCount":1,"Sample":4},"kind":"plain","Colour":"x"'),
  form(part("kind", "plain"), part("file", "x", '; filename="Kind"')),
];

Deno.test("a body whose charged fields an upstream could read otherwise is refused, and no upstream is called", async (t) => {
  let calls = 0;
  await withPassed(
    async (request) => {
      calls++;
      await request.arrayBuffer();
      return Response.json({ ok: true });
    },
    {
      route: { counts: { image: { request: "parameters.sampleCount" } } },
      model: { price: { image: 1_000 }, allowed: { kind: ["plain"] } },
    },
    async ({ url }) => {
      const send = async (body: string): Promise<readonly [number, string]> => {
        const reply = await fetch(`${url}/v1/things`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${TEST_KEY}`,
            "content-type": body.startsWith("{")
              ? "application/json"
              : "multipart/form-data; boundary=b",
          },
          body,
        });
        return [reply.status, await reply.text()];
      };
      for (const [body, field] of REFUSED) {
        await t.step(
          `refused: ${field} in ${body.slice(21, 120)}`,
          async () => {
            const [status, text] = await send(body);
            assert.equal(status, 400, text);
            const { error } = JSON.parse(text);
            assert.ok(String(error.param).endsWith(field), text);
            assert.equal(calls, 0);
          },
        );
      }
      for (const body of ACCEPTED) {
        const [status, text] = await send(body);
        assert.equal(status, 200, text);
      }
    },
  );
});
