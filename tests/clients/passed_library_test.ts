/**
 * The official library of the chat format at endpoints of the configuration file: those of the
 * example in docs/routes.md, answered by the replay upstream.
 */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { withOpenai } from "../support/clients/library_clients.ts";
import { chargesIn } from "../support/tables/billing.ts";
import type { TestGateway } from "../support/test_gateway.ts";

const PAGE = await Deno.readTextFile(
  new URL("../../docs/routes.md", import.meta.url),
);
const EXAMPLE = /```json\n([\s\S]*?)```/.exec(PAGE)?.[1] ?? "";

/** Whether the ledger marks the newest charge as an estimate. */
async function isEstimated(server: TestGateway): Promise<boolean | undefined> {
  return (await chargesIn(server)).at(-1)?.estimated;
}

const SOUND = new File([new Uint8Array(40_000).fill(7)], "a.wav", {
  type: "audio/wav",
});

Deno.test("a transcription is charged by the seconds that its reply reports", () =>
  withOpenai(EXAMPLE, async (client, server) => {
    const reply = await client.audio.transcriptions.create({
      file: SOUND,
      model: "house-transcribe",
    });
    assert.equal(reply.text, "The audio says this.");
    const seconds = reply.usage?.type === "duration" ? reply.usage.seconds : 0;
    assert.ok(seconds >= 10);
    const entry = await server.logEntry(({ model }) =>
      model === "house-transcribe"
    );
    assert.equal(entry.cost_micro_usd, seconds * 100);
    assert.equal(entry.endpoint, "/v1/audio/transcriptions");
    assert.equal(entry.upstream, "vendorb/whisper-1");
    assert.equal(await isEstimated(server), false);
    const { text } = await client.audio.transcriptions.create({
      model: "house-transcribe",
      file: SOUND,
      response_format: "verbose_json",
    });
    assert.equal(text, "The audio says this.");
  }));

Deno.test("a transcription that reports nothing is charged by an estimate, marked as one", () =>
  withOpenai(EXAMPLE, async (client, server) => {
    const text = await client.audio.transcriptions.create({
      model: "house-transcribe",
      file: SOUND,
      response_format: "text",
    });
    assert.equal(text, "The audio says this.\n");
    const entry = await server.logEntry(({ model }) =>
      model === "house-transcribe"
    );
    // 40,000 bytes of sound and the form around them, at 4,000 bytes a second.
    assert.equal(entry.cost_micro_usd, 11 * 100);
    assert.equal(await isEstimated(server), true);
  }));

Deno.test("a streamed transcription arrives as events", () =>
  withOpenai(EXAMPLE, async (client) => {
    const stream = await client.audio.transcriptions.create({
      model: "house-transcribe",
      file: SOUND,
      stream: true,
    });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    assert.deepEqual(types, [
      "transcript.text.delta",
      "transcript.text.delta",
      "transcript.text.done",
    ]);
  }));

Deno.test("speech is sound, charged by the characters of its text", () =>
  withOpenai(EXAMPLE, async (client, server) => {
    const ask = (input: string) =>
      client.audio.speech.create({
        model: "house-speech",
        voice: "alloy",
        input,
      });
    const reply = await ask("Grüße 👋");
    assert.equal(reply.headers.get("content-type"), "audio/mpeg");
    assert.equal(reply.headers.get("x-content-type-options"), "nosniff");
    const bytes = new Uint8Array(await reply.arrayBuffer());
    assert.equal(bytes.length, 8 * 4_096);
    const again = new Uint8Array(await (await ask("Grüße 👋")).arrayBuffer());
    assert.deepEqual(again, bytes);
    const entry = await server.logEntry(({ model }) =>
      model === "house-speech"
    );
    assert.equal(entry.cost_micro_usd, 7 * 15);
    assert.equal(await isEstimated(server), false);
  }));

Deno.test("images are charged by their number, or by tokens where those are reported", () =>
  withOpenai(EXAMPLE, async (client, server) => {
    const ask = (model: string) =>
      client.images.generate({ model, prompt: "a house", n: 2 });
    const reply = await ask("house-image");
    assert.equal(reply.data?.length, 2);
    assert.match(reply.data?.[0]?.b64_json ?? "", /^iVBOR/);
    const byNumber = await server.logEntry(({ model }) =>
      model === "house-image"
    );
    assert.equal(byNumber.cost_micro_usd, 2 * 40_000);
    const { usage } = await ask("house-image-tokens");
    const byTokens = await server.logEntry(({ model }) =>
      model === "house-image-tokens"
    );
    assert.equal(
      byTokens.cost_micro_usd,
      (usage?.input_tokens ?? 0) * 5 + (usage?.output_tokens ?? 0) * 40,
    );
    assert.equal(byTokens.usage?.output, 2 * 1_056);
  }));

Deno.test("a value that the price does not cover is refused by name", () =>
  withOpenai(EXAMPLE, async (client, server) => {
    await assert.rejects(
      client.images.generate({
        model: "house-image",
        prompt: "a house",
        quality: "hd",
      }),
      (error) =>
        error instanceof OpenAI.BadRequestError && error.param === "quality" &&
        /must be standard for/.test(error.message),
    );
    assert.equal(server.replay.requestLog.entries.length, 0);
    await client.images.generate({
      model: "house-image",
      prompt: "a house",
      quality: "standard",
      size: "1024x1024",
    });
  }));

Deno.test("moderations of a free model cost nothing and name the model of the request", () =>
  withOpenai(EXAMPLE, async (client, server) => {
    const reply = await client.moderations.create({
      model: "house-moderation",
      input: ["one", "two"],
    });
    assert.equal(reply.model, "house-moderation");
    assert.deepEqual(reply.results.map(({ flagged }) => flagged), [
      false,
      false,
    ]);
    const entry = await server.logEntry(({ model }) =>
      model === "house-moderation"
    );
    assert.equal(entry.cost_micro_usd, 0);
  }));

Deno.test("rerank is charged by call", () =>
  withOpenai(EXAMPLE, async (_client, server) => {
    const reply = await server.post("/v1/rerank", {
      model: "house-rerank",
      query: "which?",
      documents: ["a", "b", "c"],
      top_n: 2,
    });
    assert.equal(reply.status, 200);
    assert.equal((await reply.json()).results.length, 2);
    const entry = await server.logEntry(({ model }) =>
      model === "house-rerank"
    );
    assert.equal(entry.cost_micro_usd, 2_000);
  }));

Deno.test("a model is called at its own endpoint, which the model list names", () =>
  withOpenai(EXAMPLE, async (client, server) => {
    const refused = (call: Promise<unknown>, text: RegExp) =>
      assert.rejects(call, (error) => {
        assert.ok(error instanceof OpenAI.BadRequestError);
        assert.equal(error.code, "unsupported_operation");
        assert.match(error.message, text);
        return true;
      });
    await refused(
      client.moderations.create({ model: "house-speech", input: "a" }),
      /house-speech is for speech: call it at POST \/v1\/audio\/speech/,
    );
    await refused(
      client.chat.completions.create({
        model: "house-rerank",
        messages: [{ role: "user", content: "hi" }],
      }),
      /is for rerank: call it at POST \/v1\/rerank/,
    );
    await refused(
      client.moderations.create({ model: "vendorb-5.5", input: "a" }),
      /generates replies/,
    );
    const listed = (await client.models.list()).data.find(({ id }) =>
      id === "house-image"
    );
    const { operations, capabilities } = JSON.parse(JSON.stringify(listed));
    assert.deepEqual(operations, ["image"]);
    assert.equal(capabilities, null);
    const description = await (await fetch(`${server.url}/openapi.json`))
      .json();
    assert.equal(
      description.paths["/v1/images/generations"].post.operationId,
      "image",
    );
    server.configure("{}");
    await assert.rejects(
      client.moderations.create({ model: "house-moderation", input: "a" }),
      OpenAI.NotFoundError,
    );
    const without = await (await fetch(`${server.url}/openapi.json`)).json();
    assert.equal(without.paths["/v1/images/generations"], undefined);
  }));
