/**
 * A key that equals a known one but for case: some hosts take it for that one, so the request is
 * refused.
 */
import assert from "node:assert/strict";
import { valueAt } from "../../translate/testing/request_table.ts";
import { send } from "../support/tables/request_table.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const HI = '[{"role":"user","content":"Hi"}]';
const CHAT = `"model":"vendora-haiku-4-5","max_tokens":9,"messages":${HI}`;
const FORMATS: readonly (readonly [string, string])[] = [
  ["/v1/messages", CHAT],
  ["/v1/messages/count_tokens", CHAT],
  ["/v1/chat/completions", CHAT],
  ["/v1/responses", '"model":"vendora-haiku-4-5","input":"Hi"'],
];

/** A field to add, and the path that the error names. */
const REFUSED: readonly (readonly [string, string])[] = [
  ['"Model":"vendora-opus-4-8"', "Model"],
  ['"N":50', "N"],
  ['"\\u004dodel":"vendora-opus-4-8"', "Model"],
  ['"\u017ftream":true', "\u017ftream"],
  ['"max_to\u212aens" : 9', "max_to\u212aens"],
  [
    '"thinking":{"type":"enabled","Budget_Tokens"\n:9}',
    "thinking.Budget_Tokens",
  ],
  ['"reasoning":{"Effort":"high"}', "reasoning.Effort"],
  ['"tools":[{"name":"a","Type":"web_search"}]', "tools[0].Type"],
  ['"tools":[{"name":"a","Max_u\\u017fes":1}]', "tools[0].Max_u\u017fes"],
  ['"cache_control":{"type":"ephemeral","TTL":"1h"}', "cache_control.TTL"],
];
/** The client's own data, where such keys mean nothing. */
const OWN =
  '"tools":[{"name":"a","input_schema":{"type":"object","properties":{"Model":{"type":"string"}}}}],"metadata":{"user_id":"Model"}';

/** The same in the generate-content format, where each of these objects also has a key twice. */
const DATA = '{"Name":"x","Type":{"Model":1},"a":1,"a":2}';
const OWN_CONTENT =
  `{"contents":[{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":${DATA}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":${DATA}}}]}],` +
  `"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":${DATA}}}]}],` +
  `"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":${DATA}}}}`;

Deno.test("a key that equals a known one but for case is a 400 that names it, and no upstream is called", async (t) => {
  await using gateway = await startTestGateway();
  for (const [path, rest] of FORMATS) {
    for (const [field, at] of REFUSED) {
      await t.step(`${path}: ${at}`, async () => {
        const body = `{${field},${rest}}`;
        const { response, answer, upstreamJson } = await send(
          gateway,
          path,
          body,
        );
        assert.equal(response.status, 400);
        assert.equal(valueAt(answer, "error.param"), at);
        assert.equal(upstreamJson, undefined, "it reached the upstream");
      });
    }
  }
  await t.step("names in the client's own data are accepted", async () => {
    for (
      const [path, body] of [
        ["/v1/messages", `{${OWN},${CHAT}}`],
        ["/v1beta/models/vendorc-3-pro:generateContent", OWN_CONTENT],
        [
          "/v1beta/models/vendorc-3-pro:generateContent",
          OWN_CONTENT.replaceAll(
            /(?<=[a-z])[A-Z](?=\w+":)/g,
            (letter) => `_${letter.toLowerCase()}`,
          ),
        ],
      ] as const
    ) {
      const { response, answer } = await send(gateway, path, body);
      assert.equal(response.status, 200, JSON.stringify(answer));
    }
  });
});

Deno.test("x-gateway-strict takes true and false once; anything else is a 400 that names it", async (t) => {
  await using gateway = await startTestGateway();
  const wrong = ["1", "yes", "", "true, false", "true,true"];
  for (const value of [...wrong, "true", "TRUE", "false"]) {
    await t.step(JSON.stringify(value), async () => {
      for (const [path, fields] of FORMATS) {
        if (path.endsWith("count_tokens")) continue;
        const response = await gateway.post(path, `{${fields}}`, {
          "x-gateway-strict": value,
        });
        const text = await response.text();
        assert.equal(response.status, wrong.includes(value) ? 400 : 200);
        if (response.status === 400) assert.match(text, /x-gateway-strict/);
      }
    });
  }
});
