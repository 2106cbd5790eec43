/**
 * Usage: the tokens that an upstream reports are the tokens that both client formats receive and
 * that are billed.
 */
import assert from "node:assert/strict";
import { type Script, streamScript } from "../../replay/mod.ts";
import type { Fields } from "../support/replies/reply_grammar.ts";
import {
  CALLERS,
  callScripted,
  loggedUsage,
  readStreamed,
  readWhole,
  reportedUsage,
  type UpstreamFormat,
} from "../support/tables/reply_script.ts";
import { startTestGateway } from "../support/test_gateway.ts";

type Figures = readonly [
  input: number,
  cacheRead: number,
  cacheWrite: number,
  output: number,
  reasoning: number,
];

type Row = readonly [
  name: string,
  upstream: UpstreamFormat,
  /** Usage in the upstream's format, by frame; a whole reply reports the last one. */
  reported: readonly (Fields | undefined)[],
  figures: Figures,
];

const ROWS: readonly Row[] = [
  ["messages: plain", "messages", [
    { input_tokens: 10, output_tokens: 1 },
    { output_tokens: 7 },
  ], [10, 0, 0, 7, 0]],
  ["messages: cache tokens are separate from the input", "messages", [
    {
      input_tokens: 10,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 50,
      output_tokens: 1,
    },
    { output_tokens: 7, output_tokens_details: { thinking_tokens: 3 } },
  ], [10, 100, 50, 7, 3]],
  ["messages: the last figures are billed", "messages", [
    { input_tokens: 2479, cache_read_input_tokens: 5, output_tokens: 1 },
    { input_tokens: 30450, cache_read_input_tokens: 9, output_tokens: 7 },
  ], [30450, 9, 0, 7, 0]],
  ["messages: zeros at the end replace nothing", "messages", [
    {
      input_tokens: 10,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 50,
      output_tokens: 1,
    },
    {
      input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      output_tokens: 7,
    },
  ], [10, 100, 50, 7, 0]],
  ["messages: the last event has figures as well", "messages", [
    { input_tokens: 10, output_tokens: 1 },
    undefined,
    { input_tokens: 12, output_tokens: 7 },
  ], [12, 0, 0, 7, 0]],
  ["chat: zeros at the end replace nothing", "chat", [
    {
      prompt_tokens: 100,
      completion_tokens: 3,
      total_tokens: 103,
      prompt_tokens_details: { cached_tokens: 60 },
    },
    { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  ], [40, 60, 0, 3, 0]],
  ["gemini: zeros at the end replace nothing", "gemini", [
    { promptTokenCount: 90, candidatesTokenCount: 3, totalTokenCount: 93 },
    { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 },
  ], [90, 0, 0, 3, 0]],
  ["chat: cached tokens are part of the prompt", "chat", [undefined, {
    prompt_tokens: 100,
    completion_tokens: 30,
    total_tokens: 130,
    prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
    completion_tokens_details: { reasoning_tokens: 20 },
  }], [30, 60, 10, 30, 20]],
  ["chat: deepseek's cache hits", "chat", [undefined, {
    prompt_tokens: 100,
    completion_tokens: 3,
    total_tokens: 103,
    prompt_cache_hit_tokens: 64,
    prompt_cache_miss_tokens: 36,
  }], [36, 64, 0, 3, 0]],
  ["chat: xai reports reasoning outside the completion", "chat", [undefined, {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 115,
    completion_tokens_details: { reasoning_tokens: 100 },
  }], [10, 0, 0, 105, 100]],
  ["chat: cumulative figures, cache reported once", "chat", [
    {
      prompt_tokens: 100,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 60 },
    },
    { prompt_tokens: 100, completion_tokens: 9, total_tokens: 109 },
  ], [40, 60, 0, 9, 0]],
  ["chat: nulls, and more cached tokens than prompt tokens", "chat", [
    undefined,
    {
      prompt_tokens: 10,
      completion_tokens: 2,
      prompt_tokens_details: { cached_tokens: 50 },
      completion_tokens_details: null,
    },
  ], [0, 50, 0, 2, 0]],
  [
    "chat: cache reads and writes that overlap, with a total that covers the prompt once",
    "chat",
    [undefined, {
      prompt_tokens: 100,
      completion_tokens: 7,
      total_tokens: 107,
      prompt_tokens_details: { cached_tokens: 80, cache_write_tokens: 80 },
    }],
    [0, 80, 20, 7, 0],
  ],
  ["messages: a cache write, then a read, in one call", "messages", [
    {
      input_tokens: 10,
      cache_creation_input_tokens: 50,
      cache_read_input_tokens: 0,
      output_tokens: 1,
    },
    {
      input_tokens: 12,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 90,
      cache_creation: {
        ephemeral_5m_input_tokens: 0,
        ephemeral_1h_input_tokens: 0,
      },
      output_tokens: 7,
    },
  ], [12, 90, 0, 7, 0]],
  ["messages: a compaction that the totals leave out", "messages", [
    { input_tokens: 10, output_tokens: 1 },
    {
      input_tokens: 23,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 7,
      iterations: [
        {
          type: "compaction",
          input_tokens: 180,
          cache_creation_input_tokens: 4,
          cache_read_input_tokens: 5,
          output_tokens: 30,
        },
        { type: "message", input_tokens: 23, output_tokens: 7 },
      ],
    },
  ], [203, 5, 4, 37, 0]],
  ["gemini: thoughts count as output, tool prompts as input", "gemini", [
    undefined,
    {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      toolUsePromptTokenCount: 5,
      candidatesTokenCount: 10,
      thoughtsTokenCount: 20,
      totalTokenCount: 135,
    },
  ], [45, 60, 0, 30, 20]],
  ["gemini: the last frame counts", "gemini", [
    { promptTokenCount: 90, candidatesTokenCount: 3, totalTokenCount: 93 },
    { promptTokenCount: 100, candidatesTokenCount: 2, totalTokenCount: 102 },
  ], [100, 0, 0, 2, 0]],
  ["gemini: cached tokens missing from the last frame", "gemini", [
    { promptTokenCount: 100, cachedContentTokenCount: 60 },
    { promptTokenCount: 100, candidatesTokenCount: 2, totalTokenCount: 102 },
  ], [100, 0, 0, 2, 0]],
  ["gemini: no candidates count", "gemini", [
    { trafficType: "ON_DEMAND" },
    { promptTokenCount: 10, thoughtsTokenCount: 4, totalTokenCount: 20 },
  ], [10, 0, 0, 10, 4]],
];

function streamOf(upstream: UpstreamFormat, reported: Row[2]): Script {
  const [first, last, after] = reported;
  switch (upstream) {
    case "messages":
      return streamScript([
        {
          type: "message_start",
          message: {
            id: "msg_1",
            type: "message",
            role: "assistant",
            model: "m",
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: first,
          },
        },
        {
          type: "message_delta",
          delta: { stop_reason: "end_turn", stop_sequence: null },
          usage: last,
        },
        { type: "message_stop", usage: after },
      ].map((data) =>
        `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
      ));
    case "chat":
      return streamScript(
        [
          ...[{ content: "a" }, {}].map((delta, n) => ({
            id: "1",
            choices: [{
              index: 0,
              delta,
              finish_reason: n === 0 ? null : "stop",
            }],
            ...(n === 0 ? { usage: first ?? null } : {}),
          })),
          { id: "1", choices: [], usage: last },
        ].map((data) => `data: ${JSON.stringify(data)}\n\n`).concat(
          "data: [DONE]\n\n",
        ),
      );
    case "gemini":
      return streamScript(
        reported.map((usageMetadata, n) =>
          `data: ${
            JSON.stringify({
              candidates: [{
                content: { parts: [{ text: "a" }] },
                ...(n === 0 ? {} : { finishReason: "STOP" }),
              }],
              usageMetadata,
            })
          }\r\n\r\n`
        ),
      );
  }
}

function wholeOf(upstream: UpstreamFormat, reported: Row[2]): Fields {
  const usage = { ...reported[0], ...reported[1], ...reported[2] };
  switch (upstream) {
    case "messages":
      return {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage,
      };
    case "chat":
      return {
        id: "1",
        choices: [{ message: { content: "a" }, finish_reason: "stop" }],
        usage,
      };
    case "gemini":
      return {
        candidates: [{
          content: { parts: [{ text: "a" }] },
          finishReason: "STOP",
        }],
        usageMetadata: reported[1],
      };
  }
}

function figuresOf(figures: Figures): Fields {
  const [input, cacheRead, cacheWrite, output, reasoning] = figures;
  return { input, cacheRead, cacheWrite, output, reasoning };
}

Deno.test("clients receive, and pay for, the usage that the upstream reports", async (t) => {
  await using gateway = await startTestGateway();
  const lastLogged = (): Fields => {
    const entry = gateway.logged.at(-1);
    assert.ok(entry !== undefined);
    return loggedUsage(entry);
  };
  for (const [name, upstream, reported, figures] of ROWS) {
    for (const caller of CALLERS) {
      const wanted = figuresOf(figures);
      if (caller === upstream) {
        // The bytes pass through with the upstream's usage, and the charge is read from them.
        await t.step(`${name}: billed to ${caller}`, async () => {
          const response = await callScripted(
            gateway,
            caller,
            upstream,
            streamOf(upstream, reported),
            { stream: true },
          );
          await response.text();
          assert.deepEqual(lastLogged(), wanted);
        });
        continue;
      }
      await t.step(`${name}: streamed to ${caller}`, async () => {
        const read = await readStreamed(
          gateway,
          caller,
          upstream,
          streamOf(upstream, reported),
        );
        assert.deepEqual(reportedUsage(caller, read.usage ?? {}), wanted);
        assert.deepEqual(lastLogged(), wanted);
      });
      if (name.includes("zeros at the end")) continue;
      await t.step(`${name}: whole to ${caller}`, async () => {
        const body = wholeOf(upstream, reported);
        const read = await readWhole(gateway, caller, upstream, body);
        assert.deepEqual(reportedUsage(caller, read.usage ?? {}), wanted);
        assert.deepEqual(lastLogged(), wanted);
      });
    }
  }
});

Deno.test("a chat stream has a usage chunk only if the client requests one", async (t) => {
  await using gateway = await startTestGateway();
  for (const [name, upstream, reported] of ROWS) {
    await t.step(name, async () => {
      const response = await callScripted(
        gateway,
        "chat",
        upstream,
        streamOf(upstream, reported),
        { stream: true },
      );
      const body = await response.text();
      assert.doesNotMatch(body, /"choices":\[\]/);
      assert.match(body, /data: \[DONE\]\n\n$/);
    });
  }
});
