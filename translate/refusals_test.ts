/**
 * Requests that cannot be translated are refused with the client's path, in the client's format.
 */
import assert from "node:assert/strict";
import {
  type Capabilities,
  DEFAULT_CAPABILITIES,
} from "./model/capabilities.ts";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import type { Dialect } from "./dialect.ts";
import { upstreamDialect } from "./dialects.ts";
import type { ApiError } from "./model/error.ts";
import { refusalOf } from "./testing/refusal_of.ts";
import type { JsonObject } from "./bytes/json.ts";
import { topLevelOf } from "./bytes/json_splice.ts";
import { messages } from "./formats/messages/mod.ts";
import { upstreamRequest } from "./upstream_request.ts";
import type { DialectName } from "./model/request.ts";
import { responses } from "./formats/responses/mod.ts";
import {
  assistant,
  callItem,
  inputOf,
  messagesOf,
  objectOf,
  outputItem,
  text,
  toolMessage,
  toolResult,
  toolUse,
} from "./testing/request_samples.ts";
import { atOnce } from "./steps.ts";

type Row = readonly [
  upstream: DialectName | "either",
  body: JsonObject,
  message: string,
  can?: Partial<Capabilities>,
];

const HI = { role: "user", content: "hi" };
const user = (...content: unknown[]) => messagesOf({ role: "user", content });
const at = (url: string) => ({ type: "url", url });
const NO_ADDRESSES = { mediaUrls: false };
const SCHEMA = objectOf({});
/** A message of the Responses format, its second part the one given. */
const input = (part: JsonObject) =>
  inputOf(HI, {
    role: "user",
    content: [{ type: "input_text", text: "a" }, part],
  });
const CALL = callItem("a");
const FUNCTION = { name: "f", input_schema: SCHEMA };

const OWN: readonly Row[] = [
  [
    "chat_completions",
    user(text("a"), {
      type: "image",
      source: at("https://x/a.png"),
    }),
    "messages[0].content[1]: image cannot be sent to this model by its address; send its bytes",
    NO_ADDRESSES,
  ],
  [
    "chat_completions",
    user({ type: "document", source: at("https://x/a.pdf") }),
    "messages[0].content[0]: document cannot be sent to this model by its address; send its bytes",
  ],
  [
    "generate_content",
    user({ type: "document", source: at("https://x/a") }),
    "messages[0].content[0]: document cannot be sent to this model by an address without a known file extension: its media type cannot be known; send its bytes",
  ],
  [
    "generate_content",
    messagesOf(HI, assistant(toolUse("t")), {
      role: "user",
      content: [
        toolResult("t", [{ type: "image", source: at("https://x/a.png") }]),
      ],
    }),
    "messages[2].content[0].content[0]: image cannot be sent to this model by its address; send its bytes",
    NO_ADDRESSES,
  ],
  [
    "either",
    user({ type: "image", source: { type: "file", file_id: "f" } }),
    'messages[0].content[0].source.file_id: *"image"*',
  ],
  [
    "either",
    user(text("a"), {
      type: "container_upload",
      file_id: "f",
    }),
    'messages[0].content[1]: *"container_upload"*',
  ],
  [
    "either",
    messagesOf(HI, assistant({ type: "compaction" })),
    'messages[1].content[0]: *"compaction"*',
  ],
  [
    "either",
    messagesOf(HI, { role: "system", content: [{ type: "tool_use" }] }),
    'messages[1].content[0]: *"tool_use"*',
  ],
  [
    "either",
    { messages: [HI], tools: [{ type: "web_search_20250305", name: "s" }] },
    'tools[0]: *tool of type "web_search_20250305"*',
  ],
  [
    "generate_content",
    {
      messages: [HI],
      tools: [FUNCTION],
      tool_choice: { type: "tool", name: "g" },
    },
    "tool_choice: names no function among the tools",
  ],
  ["either", { messages: [HI], thread: { type: "continue" } }, "thread: *"],
  [
    "either",
    { messages: [HI], max_tokens: 0 },
    "max_tokens: this model generates at least one token",
  ],
  ["either", messagesOf({ role: "user", content: "" }), "messages: *"],
];

const CHAT: readonly Row[] = [
  [
    "messages",
    user(text("a"), {
      type: "input_audio",
      input_audio: { data: "AA==", format: "wav" },
    }),
    "messages[0].content[1]: input_audio cannot be sent to this model",
  ],
  [
    "messages",
    user({ type: "image_url", image_url: { url: "data:image/bmp;base64,AA" } }),
    "messages[0].content[0]: image_url cannot be sent to this model unless it is image/jpeg, image/png, image/gif, image/webp",
  ],
  [
    "messages",
    user({ type: "image_url", image_url: { url: "https://x/a.png" } }),
    "messages[0].content[0]: image_url cannot be sent to this model by its address; send its bytes",
    NO_ADDRESSES,
  ],
  [
    "messages",
    user({
      type: "file",
      file: { file_data: "data:application/zip;base64,AA" },
    }),
    "messages[0].content[0]: file cannot be sent to this model unless it is application/pdf or text",
  ],
  [
    "generate_content",
    user({ type: "image_url", image_url: { url: "https://x/a" } }),
    "messages[0].content[0]: image_url cannot be sent to this model by an address without a known file extension: its media type cannot be known; send its bytes",
  ],
  [
    "either",
    user({ type: "image_url", image_url: { url: "ftp://x/a" } }),
    "messages[0].content[0].image_url.url: expected a data:, http: or https: address",
  ],
  [
    "either",
    user({ type: "file", file: { file_id: "f" } }),
    'messages[0].content[0].file.file_id: *"file"*',
  ],
  [
    "either",
    user({ type: "video_url", video_url: {} }),
    'messages[0].content[0]: *"video_url"*',
  ],
  [
    "either",
    messagesOf({
      role: "system",
      content: [text("a"), {
        type: "image_url",
        image_url: { url: "https://x/a.png" },
      }],
    }, HI),
    "messages[0].content[1]: *",
  ],
  [
    "either",
    messagesOf(HI, {
      role: "assistant",
      tool_calls: [{
        id: "a",
        type: "browser",
        browser: { name: "c", input: "" },
      }],
    }, toolMessage("a", "")),
    'messages[1].tool_calls[0]: *"browser"*',
  ],
  [
    "either",
    messagesOf(HI, { role: "assistant", audio: { id: "a" } }),
    'messages[1].audio: *"audio"*',
  ],
  [
    "either",
    { messages: [HI], tools: [{ type: "browser", name: "c" }] },
    'tools[0]: *tool of type "browser"*',
  ],
  ["either", { messages: [HI], n: 2 }, "n: *"],
  ["either", { messages: [HI], modalities: ["audio"] }, "modalities: *"],
  [
    "either",
    { messages: [HI], web_search_options: {} },
    "web_search_options: *",
  ],
  [
    "messages",
    {
      messages: [HI],
      response_format: {
        type: "json_schema",
        json_schema: { name: "n", schema: { type: "array" } },
      },
    },
    "response_format: this model can bind its reply to a schema of type object only",
    { structuredOutput: false },
  ],
  ["either", messagesOf({ role: "user", content: "" }), "messages: *"],
];

const RESPONSES: readonly Row[] = [
  [
    "chat_completions",
    input({
      type: "input_image",
      image_url: "https://x/a.png",
    }),
    "input[1].content[1]: input_image cannot be sent to this model by its address; send its bytes",
    NO_ADDRESSES,
  ],
  [
    "chat_completions",
    input({ type: "input_file", file_url: "https://x/a.pdf" }),
    "input[1].content[1]: input_file cannot be sent to this model by its address; send its bytes",
  ],
  [
    "messages",
    input({ type: "input_audio", input_audio: { data: "AA", format: "wav" } }),
    "input[1].content[1]: input_audio cannot be sent to this model",
  ],
  [
    "messages",
    input({ type: "input_image", image_url: "data:image/bmp;base64,AA" }),
    "input[1].content[1]: input_image cannot be sent to this model unless it is image/jpeg, image/png, image/gif, image/webp",
  ],
  [
    "messages",
    input({ type: "input_file", file_data: "data:application/zip;base64,AA" }),
    "input[1].content[1]: input_file cannot be sent to this model unless it is application/pdf or text",
  ],
  [
    "messages",
    inputOf(
      CALL,
      outputItem("a", [{ type: "input_image", image_url: "https://x/a.png" }]),
    ),
    "input[1].output[0]: input_image cannot be sent to this model by its address; send its bytes",
    NO_ADDRESSES,
  ],
  [
    "either",
    input({ type: "input_image", image_url: "ftp://x/a" }),
    "input[1].content[1].image_url: expected a data:, http: or https: address",
  ],
  [
    "either",
    input({ type: "input_file", file_id: "f" }),
    'input[1].content[1].file_id: *"input_file"*',
  ],
  [
    "either",
    input({ type: "newer" }),
    'input[1].content[1]: *"newer"*',
  ],
  [
    "either",
    inputOf({ type: "computer_call", call_id: "a" }),
    'input[0]: *"computer_call"*',
  ],
  [
    "either",
    inputOf(HI, { type: "compaction_trigger" }),
    "input[1]: conversations are not compacted for this model; Codex compacts by itself with a provider of its own, which model_provider in its config.toml selects: docs/clients.md",
  ],
  [
    "either",
    inputOf(HI, { type: "item_reference", id: "msg_1" }),
    "input[1]: *item_reference*",
  ],
  [
    "either",
    inputOf(HI, CALL),
    'input[1].call_id: the call "a" has no result in the input',
  ],
  [
    "either",
    inputOf(HI, outputItem("b", "")),
    'input[1].call_id: answers no call: none in the input has the id "b"',
  ],
  [
    "either",
    { input: [HI], tools: [{ type: "web_search" }] },
    'tools[0]: *tool of type "web_search"*',
  ],
  [
    "either",
    { input: [HI], tool_choice: { type: "file_search" } },
    "tool_choice: *",
  ],
  [
    "either",
    { input: [HI], text: { format: { type: "grammar" } } },
    "text.format: *",
  ],
  [
    "messages",
    {
      input: [HI],
      text: {
        format: {
          type: "json_schema",
          name: "n",
          schema: { type: "array" },
        },
      },
    },
    "text.format: this model can bind its reply to a schema of type object only",
    { structuredOutput: false },
  ],
  [
    "either",
    { input: "hi", previous_response_id: "r" },
    "previous_response_id: *",
  ],
  ["either", inputOf(), "input: *"],
];

function refusal(
  dialect: Dialect,
  upstream: DialectName,
  row: JsonObject,
  can: Partial<Capabilities>,
): ApiError {
  const body = {
    model: "m",
    ...(dialect === responses ? {} : { max_tokens: 9 }),
    ...row,
  };
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  return refusalOf(() =>
    upstreamRequest(
      {
        dialect,
        bytes,
        body,
        top: topLevelOf(bytes),
        request: atOnce(dialect.decodeRequest(body)),
      },
      upstreamDialect(upstream),
      "u",
      { ...DEFAULT_CAPABILITIES[upstream], ...can },
    )
  );
}

/** A message, with `*` for any text. */
function matching(message: string): RegExp {
  const escaped = message.replaceAll(/[.[\]()?+|\\^$]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("*", ".*")}$`);
}

for (
  const [dialect, others, rows] of [
    [messages, ["chat_completions", "generate_content", "responses"], OWN],
    [chatCompletions, ["messages", "generate_content", "responses"], CHAT],
    [
      responses,
      ["messages", "chat_completions", "generate_content"],
      RESPONSES,
    ],
  ] as const
) {
  Deno.test(`refusals of requests in the ${dialect.name} format`, async (t) => {
    for (const [upstream, body, message, can = {}] of rows) {
      for (const target of upstream === "either" ? others : [upstream]) {
        await t.step(`${message.slice(0, 70)} → ${target}`, () => {
          const error = refusal(dialect, target, body, can);
          assert.equal(error.kind, "invalid_request");
          assert.match(error.message, matching(message));
          assert.equal(error.details.param, message.split(": ")[0]);
        });
      }
    }
  });
}
