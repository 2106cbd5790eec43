/**
 * A key that some readers take for another: what the gateway sets arrives at the upstream under its
 * own key, and what was checked is what is sent.
 */
import assert from "node:assert/strict";
import { type JsonObject, objectOr } from "../../translate/bytes/json.ts";
import { openSocket } from "../support/clients/socket_client.ts";
import { ledgerEntryOf } from "../support/tables/billing.ts";
import {
  RESPONSES_MODEL,
  withResponsesUpstream,
} from "../support/responses_world.ts";
import { send } from "../support/tables/request_table.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

const HI = '[{"role":"user","content":"[[fx:text]]"}]';
const CHAT = `"model":"vendord-m3","messages":${HI}`;
const MARKS = ["\ufeff", "\\ufeff", "\\uFEFF"];

async function charged(
  gateway: TestGateway,
  response: Response,
): Promise<JsonObject> {
  const id = response.headers.get("request-id") ?? "";
  return { ...await ledgerEntryOf(gateway, id) };
}

Deno.test("a key after a byte order mark takes no field's place", async (t) => {
  await using gateway = await startTestGateway();
  for (const mark of MARKS) {
    await t.step(`chat: ${JSON.stringify(mark)}stream_options`, async () => {
      const { response, upstreamText = "" } = await send(
        gateway,
        "/v1/chat/completions",
        `{${CHAT},"stream":true,"${mark}stream_options":{}}`,
      );
      assert.equal(response.status, 200);
      assert.match(
        upstreamText,
        /"stream_options":\{"include_usage":true\}\}$/,
      );
      const { estimated, outputTokens } = await charged(gateway, response);
      assert.equal(estimated, false);
      assert.ok(Number(outputTokens) > 0);
    });
    await t.step(`model: ${JSON.stringify(mark)}model`, async () => {
      const { response, upstreamText = "" } = await send(
        gateway,
        "/v1/chat/completions",
        `{"${mark}model":"another",${CHAT}}`,
      );
      assert.equal(response.status, 200);
      assert.match(upstreamText, /model":"another"/);
    });
  }
});

Deno.test("a reply stays unstored upstream beside a key that begins with a mark", (t) =>
  withResponsesUpstream(async ({ gateway, upstream }) => {
    const rest = `"model":"${RESPONSES_MODEL}","input":"Hi"`;
    for (const mark of MARKS) {
      const odd = `"${mark}store":true,"${mark}stream":{}`;
      await t.step(`HTTP: ${JSON.stringify(mark)}`, async () => {
        const response = await gateway.post(
          "/v1/responses",
          `{${rest},${odd}}`,
        );
        assert.equal(response.status, 200, await response.text());
        const { body } = upstream.calls.at(-1) ?? {};
        assert.equal(body?.["store"], false);
      });
      await t.step(`web socket: ${JSON.stringify(mark)}`, async () => {
        await using client = await openSocket(gateway.url);
        client.send(`{"type":"response.create",${rest},${odd}}`);
        const { type } = await client.until(({ type }) =>
          type === "error" || type === "response.completed"
        );
        assert.equal(type, "response.completed");
        const { body } = upstream.calls.at(-1) ?? {};
        assert.equal(body?.["store"], false);
        assert.equal(body?.["stream"], true);
      });
    }
  }));

Deno.test("an escaped key is read as it is written, whatever key was in its place before", async (t) => {
  await using gateway = await startTestGateway();
  const rows: readonly (readonly [string, string, string, string])[] = [
    ["/v1/chat/completions", CHAT, "\\u0073ervice_tier", '"priority"'],
    ["/v1/messages", `"max_tokens":9,${CHAT}`, "\\u0073tream", '"maybe"'],
  ];
  for (const [path, rest, key, value] of rows) {
    await t.step(`${path}: ${key}`, async () => {
      const name: string = JSON.parse(`"${key}"`);
      // A key whose own characters are the first of the escaped one's text.
      const earlier = JSON.stringify(key.slice(0, name.length));
      await send(gateway, path, `{"odd":1,${earlier}:1,${rest}}`);
      const { response, answer, upstreamText } = await send(
        gateway,
        path,
        `{"odd":1,"${key}":${value},${rest}}`,
      );
      assert.equal(response.status, 400);
      assert.equal(objectOr(objectOr(answer)["error"])["param"], name);
      assert.equal(upstreamText, undefined, "it reached the upstream");
    });
  }
});
