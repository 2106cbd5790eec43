/**
 * A reply that the upstream did not complete is an incomplete reply, or a failed one, for clients
 * of every format. What a client received of it is charged.
 */
import assert from "node:assert/strict";
import { jsonScript, type Script, streamScript } from "../../replay/mod.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const USAGE = {
  promptTokenCount: 11,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 2,
};
const CHARGED = { input: 11, output: 7, reasoning: 2 };

/** The words of each client's format for an incomplete reply, and for a complete one. */
const CLIENTS: Readonly<
  Record<string, { readonly incomplete: RegExp; readonly complete: RegExp }>
> = {
  "/v1/messages": {
    incomplete: /"stop_reason":"max_tokens"/,
    complete: /"stop_reason":"end_turn"/,
  },
  "/v1/chat/completions": {
    incomplete: /"finish_reason":"length"/,
    complete: /"finish_reason":"stop"|\[DONE\]/,
  },
  "/v1/responses": {
    incomplete: /"incomplete_details":\{"reason":"max_output_tokens"\}/,
    complete: /response\.completed/,
  },
};

function request(path: string, marker: string, stream: boolean): JsonObject {
  const turns = [{ role: "user", content: `[[fx:${marker}]]` }];
  return path === "/v1/responses"
    ? { model: "vendorc-3-pro", stream, input: turns }
    : { model: "vendorc-3-pro", stream, max_tokens: 100, messages: turns };
}

function script(word: string, text: string, stream: boolean): Script {
  const body = {
    candidates: [{
      content: { role: "model", parts: text === "" ? [] : [{ text }] },
      finishReason: word,
      continuationToken: "opaque",
    }],
    usageMetadata: USAGE,
  };
  return stream
    ? streamScript([`data: ${JSON.stringify(body)}\r\n\r\n`])
    : jsonScript(200, body);
}

const CALLS = Object.entries(CLIENTS).flatMap(([path, says]) =>
  [false, true].map((stream) => ({ path, stream, ...says }))
);

Deno.test("an incomplete reply says so in every format, and is charged", async (t) => {
  await using gateway = await startTestGateway();
  for (const word of ["CONTINUATION"]) {
    for (const [n, { path, stream, incomplete }] of CALLS.entries()) {
      await t.step(`${word}: ${path}, stream ${stream}`, async () => {
        const marker = `${word}-${n}`;
        gateway.replay.script(marker, script(word, "As far as", stream));
        const response = await gateway.post(
          path,
          request(path, marker, stream),
        );
        assert.equal(response.status, 200);
        const body = await response.text();
        assert.match(body, /As far as/);
        assert.match(body, incomplete);
        const logged = gateway.logged.at(-1);
        assert.deepEqual(logged?.["usage"], CHARGED);
        assert.equal(logged?.["cost_micro_usd"], 106);
      });
    }
  }
});

Deno.test("a reply that ends with a word of failure, or with one that is not known, fails, and is charged where a stream had begun", async (t) => {
  await using gateway = await startTestGateway();
  for (const word of ["MALFORMED_RESPONSE", "UNKNOWN_WORD"]) {
    for (const [n, { path, stream, complete, incomplete }] of CALLS.entries()) {
      await t.step(`${word}: ${path}, stream ${stream}`, async () => {
        const marker = `${word}-${n}`;
        gateway.replay.script(marker, script(word, "As far as", stream));
        const response = await gateway.post(
          path,
          request(path, marker, stream),
        );
        assert.equal(response.status, stream ? 200 : 502);
        const body = await response.text();
        assert.match(body, new RegExp(word));
        assert.doesNotMatch(body, complete);
        assert.doesNotMatch(body, incomplete);
        assert.equal(body.includes("As far as"), stream);
        const logged = gateway.logged.at(-1);
        assert.deepEqual(logged?.["usage"], stream ? CHARGED : undefined);
        assert.equal(logged?.["cost_micro_usd"], stream ? 106 : 0);
      });
    }
  }
});

Deno.test("a reply whose content was lost fails, and is charged where a stream had begun", async (t) => {
  await using gateway = await startTestGateway();
  for (const word of ["MALFORMED_RESPONSE", "NO_IMAGE", "IMAGE_OTHER"]) {
    for (const [n, { path, stream, complete }] of CALLS.entries()) {
      await t.step(`${word}: ${path}, stream ${stream}`, async () => {
        const marker = `${word}-${n}`;
        gateway.replay.script(marker, script(word, "", stream));
        const response = await gateway.post(
          path,
          request(path, marker, stream),
        );
        const body = await response.text();
        assert.match(
          body,
          new RegExp(`the model's answer was lost: ${word}`),
        );
        assert.doesNotMatch(body, complete);
        assert.equal(response.status, stream ? 200 : 502);
        const logged = gateway.logged.at(-1);
        assert.deepEqual(logged?.["usage"], stream ? CHARGED : undefined);
        assert.equal(logged?.["cost_micro_usd"], stream ? 106 : 0);
      });
    }
  }
});
