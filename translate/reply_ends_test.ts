/**
 * Why a reply ended: the same for clients of every format, whole and streamed. The upstream's own
 * word counts; a plain end is a request to run the calls if there are any, and else a refusal where
 * the model declined. A word that a client's format lacks makes the reply an incomplete one.
 */
import { atOnce } from "./steps.ts";
import assert from "node:assert/strict";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import {
  type DecodeContext,
  type EncodeContext,
  PLAIN_CONTEXT,
} from "./dialect.ts";
import { upstreamDialect } from "./dialects.ts";
import { arrayOr, type JsonObject, objectOr } from "./bytes/json.ts";
import { messages } from "./formats/messages/mod.ts";
import type { DialectName } from "./model/request.ts";
import { responses } from "./formats/responses/mod.ts";
import { sseParser } from "./stream/sse.ts";
import { streamRelay, wholeReply } from "./stream/relay.ts";
import { ENCODE_CONTEXT } from "./testing/encode_context.ts";
import {
  contentBy,
  functionCall,
  text,
  toolUse,
} from "./testing/request_samples.ts";

const ENCODE: EncodeContext = { ...ENCODE_CONTEXT, wantUsage: true };
const DECODE: DecodeContext = { ...PLAIN_CONTEXT, isTranslated: true };

/** What clients of the messages, chat and Responses formats receive. */
type Ends = readonly [messages: string, chat: string, responses: string];

const RUN_CALLS: Ends = ["tool_use", "tool_calls", "completed"];
const REFUSED: Ends = ["refusal", "content_filter", "completed"];
const FILTERED: Ends = ["refusal", "content_filter", "content_filter"];
const ENDED: Ends = ["end_turn", "stop", "completed"];
const CUT: Ends = ["max_tokens", "length", "max_output_tokens"];
const PAUSED: Ends = ["pause_turn", "length", "max_output_tokens"];

interface Case {
  readonly upstream: DialectName;
  readonly whole: JsonObject;
  readonly frames: readonly JsonObject[];
  readonly ends: Ends;
}

const TEXT = { content: "As far as" };
const REFUSAL = { refusal: "I cannot help with that." };
const PICTURE = {
  ...TEXT,
  images: [{
    type: "image_url",
    image_url: { url: "data:image/png;base64,AA" },
  }],
};
const SOUND = { audio: { id: "a", data: "AA", transcript: "As far as" } };
const CALL = {
  tool_calls: [{
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: "f", arguments: "{}" },
  }],
};

function chat(parts: JsonObject, word: string | null, ends: Ends): Case {
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  const deltas = [
    { role: "assistant" },
    ...Object.entries(parts).map(([key, value]) => ({ [key]: value })),
  ];
  return {
    upstream: "chat_completions",
    whole: {
      id: "c",
      choices: [{
        index: 0,
        message: parts,
        // A whole reply with null is not finished.
        ...(word === null ? {} : { finish_reason: word }),
      }],
      usage,
    },
    frames: [
      ...deltas.map((delta) => ({ id: "c", choices: [{ index: 0, delta }] })),
      { id: "c", choices: [{ index: 0, delta: {}, finish_reason: word }] },
      { id: "c", choices: [], usage },
    ],
    ends,
  };
}

const TEXT_ITEM = {
  type: "message",
  id: "msg_0",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: TEXT.content, annotations: [] }],
};
const REFUSAL_ITEM = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "refusal", ...REFUSAL }],
};
const CALL_ITEM = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "f",
  arguments: "{}",
  status: "completed",
};

function items(
  output: readonly JsonObject[],
  reason: string | null,
  ends: Ends,
): Case {
  const status = reason === null ? "completed" : "incomplete";
  const response = {
    id: "r",
    object: "response",
    status,
    incomplete_details: reason === null ? null : { reason },
    output,
    usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
  };
  const begun = { ...response, status: "in_progress", output: [] };
  return {
    upstream: "responses",
    whole: response,
    frames: [
      { type: "response.created", response: begun },
      ...output.map((item, n) => ({
        type: "response.output_item.done",
        output_index: n,
        item,
      })),
      { type: `response.${status}`, response },
    ],
    ends,
  };
}

const CALL_BLOCK = toolUse("call_1");
const TEXT_BLOCK = text(TEXT.content);

function blocks(block: JsonObject, word: string, ends: Ends): Case {
  const message = { id: "m", type: "message", role: "assistant" };
  const usage = { input_tokens: 3, output_tokens: 4 };
  return {
    upstream: "messages",
    whole: { ...message, content: [block], stop_reason: word, usage },
    frames: [
      { type: "message_start", message: { ...message, content: [], usage } },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: word }, usage },
      { type: "message_stop" },
    ],
    ends,
  };
}

const GEMINI_CALL = functionCall("f", {});
const GEMINI_TEXT = { text: TEXT.content };
const GEMINI_PICTURE = { inlineData: { mimeType: "image/png", data: "AA" } };

function candidate(part: JsonObject, finishReason: string, ends: Ends): Case {
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 4 };
  const whole = {
    candidates: [{ content: contentBy("model", part), finishReason }],
    usageMetadata,
  };
  return {
    upstream: "generate_content",
    whole,
    frames: [
      { candidates: [{ content: contentBy("model", part) }] },
      { candidates: [{ content: {}, finishReason }], usageMetadata },
    ],
    ends,
  };
}

/** What the vendors call a reply that is not complete. */
const INCOMPLETE: Readonly<Record<string, Case>> = Object.fromEntries([
  [
    "candidate, text, CONTINUATION",
    candidate(GEMINI_TEXT, "CONTINUATION", CUT),
  ],
  [
    "candidate, call, CONTINUATION",
    candidate(GEMINI_CALL, "CONTINUATION", CUT),
  ],
  ["candidate, text, LANGUAGE", candidate(GEMINI_TEXT, "LANGUAGE", CUT)],
  ["messages, text, compaction", blocks(TEXT_BLOCK, "compaction", CUT)],
  ["messages, call, compaction", blocks(CALL_BLOCK, "compaction", CUT)],
  ["messages, text, pause_turn", blocks(TEXT_BLOCK, "pause_turn", PAUSED)],
  ...["max_messages", "steered"]
    .flatMap((word): [string, Case][] => [
      [`items, text, ${word}`, items([TEXT_ITEM], word, CUT)],
      [`items, call, ${word}`, items([CALL_ITEM], word, CUT)],
    ]),
]);

const CASES: Readonly<Record<string, Case>> = {
  ...INCOMPLETE,
  "chat, refusal and call, tool_calls": chat(
    { ...REFUSAL, ...CALL },
    "tool_calls",
    RUN_CALLS,
  ),
  "chat, refusal and call, stop": chat(
    { ...REFUSAL, ...CALL },
    "stop",
    RUN_CALLS,
  ),
  "chat, refusal and call, no word": chat(
    { ...REFUSAL, ...CALL },
    null,
    RUN_CALLS,
  ),
  "chat, refusal and call, content_filter": chat(
    { ...REFUSAL, ...CALL },
    "content_filter",
    FILTERED,
  ),
  "chat, refusal and call, length": chat(
    { ...REFUSAL, ...CALL },
    "length",
    CUT,
  ),
  "chat, call, content_filter": chat(CALL, "content_filter", FILTERED),
  "chat, picture, stop": chat(PICTURE, "stop", CUT),
  "chat, picture, no word": chat(PICTURE, null, CUT),
  "chat, picture in the content, stop": chat(
    { content: [text("As"), ...PICTURE.images] },
    "stop",
    CUT,
  ),
  "chat, picture and call, stop": chat(
    { ...PICTURE, ...CALL },
    "stop",
    RUN_CALLS,
  ),
  "chat, sound, stop": chat(SOUND, "stop", CUT),
  "chat, refusal, stop": chat(REFUSAL, "stop", REFUSED),
  "chat, refusal, no word": chat(REFUSAL, null, REFUSED),
  "chat, refusal, tool_calls": chat(REFUSAL, "tool_calls", REFUSED),
  "chat, refusal, content_filter": chat(REFUSAL, "content_filter", REFUSED),
  "chat, refusal, length": chat(REFUSAL, "length", CUT),
  "items, refusal and call": items([REFUSAL_ITEM, CALL_ITEM], null, RUN_CALLS),
  "items, refusal and call, content_filter": items(
    [REFUSAL_ITEM, CALL_ITEM],
    "content_filter",
    FILTERED,
  ),
  "items, refusal": items([REFUSAL_ITEM], null, REFUSED),
  "items, refusal, max_output_tokens": items(
    [REFUSAL_ITEM],
    "max_output_tokens",
    CUT,
  ),
  "messages, call, refusal": blocks(CALL_BLOCK, "refusal", FILTERED),
  "candidate, picture, STOP": candidate(GEMINI_PICTURE, "STOP", CUT),
  "candidate, call, UNEXPECTED_TOOL_CALL": candidate(
    GEMINI_CALL,
    "UNEXPECTED_TOOL_CALL",
    RUN_CALLS,
  ),
};

const CHAT_PART = { type: "text", text: TEXT.content };
/** Parts of kinds that the format has not today. */
const NEW = { type: "hologram", data: "AA" };

/** Parts that no other format has: an answer beside them is complete, and without it none is. */
const PARTS: Readonly<Record<string, Case>> = {
  "messages, server tool": blocks(
    { type: "server_tool_use", id: "s", name: "w", input: {} },
    "end_turn",
    ENDED,
  ),
  "messages, hologram": blocks(NEW, "end_turn", CUT),
  "items, hologram": items([{ ...NEW, id: "h_0" }], null, CUT),
  "items, vendor's call": items(
    [{ type: "web_search_call", id: "w_0", status: "completed" }],
    null,
    ENDED,
  ),
  "items, hologram and text": items(
    [{ ...NEW, id: "h_0" }, TEXT_ITEM],
    null,
    ENDED,
  ),
  "items, hologram and call": items(
    [{ ...NEW, id: "h_0" }, CALL_ITEM],
    null,
    RUN_CALLS,
  ),
  "items, hologram in a message": items(
    [{ ...TEXT_ITEM, content: [NEW] }],
    null,
    CUT,
  ),
  "chat, hologram in the content": chat({ content: [NEW] }, "stop", CUT),
  "chat, hologram and text": chat(
    { content: [NEW, CHAT_PART] },
    "stop",
    ENDED,
  ),
  "chat, reference in the content": chat(
    { content: [{ type: "reference", reference_ids: [1] }] },
    "stop",
    ENDED,
  ),
  "chat, text of a new kind": chat(
    { content: [{ ...CHAT_PART, type: "verse" }] },
    "stop",
    ENDED,
  ),
  "candidate, hologram": candidate({ hologram: {} }, "STOP", CUT),
  "candidate, toolCall": candidate({ toolCall: {} }, "STOP", ENDED),
  "candidate, nothing": candidate({}, "STOP", ENDED),
  "candidate, text with more": candidate(
    { ...GEMINI_TEXT, hologramMetadata: {} },
    "STOP",
    ENDED,
  ),
};

const CLIENTS = [messages, chatCompletions, responses];
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The reason of an ending, wherever the format has it. */
function endOf(value: unknown): unknown {
  const body = objectOr(value);
  const choice = objectOr(arrayOr(body["choices"])[0]);
  const response = body["response"] === undefined
    ? body
    : objectOr(body["response"]);
  return objectOr(body["delta"])["stop_reason"] ?? body["stop_reason"] ??
    choice["finish_reason"] ??
    objectOr(response["incomplete_details"])["reason"] ??
    (response["status"] === "in_progress" ? undefined : response["status"]);
}

for (
  const [name, { upstream, whole, frames, ends }] of Object.entries({
    ...CASES,
    ...PARTS,
  })
) {
  Deno.test(`${name}: every client learns the same end`, () => {
    const stream = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`)
      .join("") + (upstream === "chat_completions" ? "data: [DONE]\n\n" : "");
    for (const [n, client] of CLIENTS.entries()) {
      const from = upstreamDialect(upstream);
      const { body } = atOnce(wholeReply(
        client,
        from,
        DECODE,
        ENCODE,
        bytes(JSON.stringify(whole)),
      ));
      assert.equal(
        endOf(JSON.parse(new TextDecoder().decode(body))),
        ends[n],
        `${client.name}, whole`,
      );
      const relay = streamRelay(client, from, DECODE, ENCODE);
      const out = [relay.push(bytes(stream)), relay.end()];
      const parser = sseParser();
      const reported = out.flatMap((piece) => [...parser.push(piece)])
        .filter(({ data }) => data !== "" && data !== "[DONE]")
        .map(({ data }) => endOf(JSON.parse(data)))
        .filter((end) => end !== undefined && end !== null);
      assert.equal(reported.at(-1), ends[n], `${client.name}, streamed`);
    }
  });
}
