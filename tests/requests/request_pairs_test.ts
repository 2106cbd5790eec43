/**
 * A request of each client format at an upstream of each other format, through the whole gateway:
 * routing, headers, dropped fields, strict mode. The fields of each pair are tested in
 * `translate/requests/`.
 */
import { VERSION } from "../../gateway/version.ts";
import { checkRows, type SentRow } from "../support/tables/request_table.ts";

const CHAT = { messages: [{ role: "user", content: "hi" }] };
const MESSAGES = { ...CHAT, max_tokens: 500 };
const RESPONSES = { input: "hi" };
const STRICT = { "x-gateway-strict": "true" };
const TEXT_HI = { role: "user", content: [{ type: "text", text: "hi" }] };

const CHAT_TO_MESSAGES: readonly SentRow[] = [
  {
    name: "the smallest request gets the model's output limit",
    body: {},
    arrives: {
      model: "claude-haiku-4-5",
      max_tokens: 16_000,
      messages: [TEXT_HI],
    },
    arrivesWithHeaders: {
      authorization: undefined,
      "anthropic-version": "2023-06-01",
      "anthropic-beta": undefined,
    },
  },
  {
    name: "a client's version and beta headers are not forwarded",
    body: {},
    headers: {
      "anthropic-version": "1999-01-01",
      "anthropic-beta": "nope",
      authorization: "Bearer sk-other",
    },
    arrivesWithHeaders: {
      "anthropic-version": "2023-06-01",
      "anthropic-beta": undefined,
      authorization: undefined,
    },
  },
  {
    name: "a model id with a beta sends its beta header",
    body: { model: "vendora-sonnet-4-6 (context-1m beta)" },
    arrives: { model: "claude-sonnet-4-6" },
    arrivesWithHeaders: { "anthropic-beta": "context-1m-2025-08-07" },
  },
  {
    name: "a body that needs a beta sends its beta header",
    body: {
      model: "vendora-opus-4-8",
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: "b" },
        { role: "developer", content: "S" },
        { role: "user", content: "c" },
      ],
    },
    arrives: {
      "messages[2]": {
        role: "system",
        content: [{ type: "text", text: "S" }],
      },
    },
    arrivesWithHeaders: {
      "anthropic-beta": "mid-conversation-system-2026-04-07",
    },
  },
  {
    name: "a limit above the catalogue's is lowered and reported",
    body: { max_tokens: 999_999, seed: 1 },
    arrives: { max_tokens: 64_000, seed: undefined },
    dropped: ["max_tokens", "seed"],
  },
  {
    name: "a field that cannot be expressed is refused, and its path is named",
    body: {
      messages: [{
        role: "user",
        content: [{ type: "file", file: { file_id: "file-1" } }],
      }],
    },
    param: "messages[0].content[0].file.file_id",
  },
  {
    name: "strict mode refuses a field that would be dropped",
    body: { seed: 1 },
    headers: { "x-gateway-strict": "TRUE" },
    param: "seed",
  },
];

const MESSAGES_TO_CHAT: readonly SentRow[] = [
  {
    name: "the smallest request",
    body: {},
    arrives: {
      model: "gpt-5.5",
      max_completion_tokens: 500,
      max_tokens: undefined,
      messages: [{ role: "user", content: "hi" }],
    },
    arrivesWithHeaders: {
      "x-api-key": undefined,
      "anthropic-version": undefined,
      "anthropic-beta": undefined,
    },
  },
  {
    name:
      "the client's version is not forwarded, nor are its betas, which are named",
    body: {},
    headers: {
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "claude-code-20250219, interleaved-thinking-2025-05-14",
    },
    arrivesWithHeaders: {
      "anthropic-version": undefined,
      "anthropic-beta": undefined,
      "user-agent": `model-gateway/${VERSION}`,
    },
    dropped: [
      "anthropic-beta.claude-code-20250219",
      "anthropic-beta.interleaved-thinking-2025-05-14",
    ],
  },
  {
    name: "strict mode refuses a beta that would be dropped",
    body: {},
    headers: { ...STRICT, "anthropic-beta": "context-1m-2025-08-07" },
    param: "anthropic-beta.context-1m-2025-08-07",
  },
  {
    name: "a limit above the catalogue's is lowered and reported",
    body: { max_tokens: 999_999 },
    arrives: { max_completion_tokens: 128_000 },
    dropped: ["max_tokens"],
  },
  {
    name: "a field that no upstream accepts is refused",
    body: { max_tokens: -1 },
    param: "max_tokens",
  },
  {
    name: "strict mode refuses a field that would be dropped, and names it",
    body: { top_k: 5 },
    headers: STRICT,
    param: "top_k",
  },
  {
    name: "strict mode accepts a request that drops nothing",
    body: { metadata: { user_id: "u" } },
    headers: STRICT,
    arrives: { user: "u" },
  },
];

const CHAT_TO_GENERATE_CONTENT: readonly SentRow[] = [
  {
    name: "a request with a field that is dropped",
    body: { logit_bias: { 1: 1 } },
    arrives: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
    dropped: ["logit_bias"],
  },
];

const MESSAGES_TO_GENERATE_CONTENT: readonly SentRow[] = [
  {
    name: "the smallest request",
    body: {},
    arrives: {
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
      generationConfig: { maxOutputTokens: 500 },
      model: undefined,
      stream: undefined,
    },
    arrivesWithHeaders: {
      "anthropic-version": undefined,
      "x-api-key": undefined,
      authorization: undefined,
    },
  },
  {
    name: "a limit above the catalogue's is lowered and reported",
    body: { max_tokens: 99_999_999 },
    arrives: { generationConfig: { maxOutputTokens: 65_536 } },
    dropped: ["max_tokens"],
  },
  {
    name: "strict mode refuses a field that would be dropped",
    body: { metadata: { user_id: "u" } },
    headers: STRICT,
    param: "metadata.user_id",
  },
];

const responses = (arrives: SentRow["arrives"] = {}): readonly SentRow[] => [
  {
    name: "a request with a field that is dropped",
    body: { truncation: "auto" },
    arrives,
    dropped: ["truncation"],
  },
  {
    name: "strict mode refuses it",
    body: { truncation: "auto" },
    headers: STRICT,
    param: "truncation",
  },
];

/** The catalogue, with the chat format as the only one of a vendor that has two. */
const CHAT_ONLY = JSON.stringify({
  models: {
    "vendord-m3": {
      candidates: [{
        vendor: "vendord",
        upstream_model: "MiniMax-M3",
        dialect: "chat_completions",
      }],
    },
  },
});

/** Path, model, smallest body and rows of each pair. */
const PAIRS: readonly (readonly [
  string,
  string,
  Readonly<Record<string, unknown>>,
  readonly SentRow[],
])[] = [
  ["/v1/chat/completions", "vendora-haiku-4-5", CHAT, CHAT_TO_MESSAGES],
  ["/v1/chat/completions", "vendorc-3-flash", CHAT, CHAT_TO_GENERATE_CONTENT],
  ["/v1/messages", "vendorb-5.5", MESSAGES, MESSAGES_TO_CHAT],
  ["/v1/messages", "vendorc-3-pro", MESSAGES, MESSAGES_TO_GENERATE_CONTENT],
  [
    "/v1/responses",
    "vendora-haiku-4-5",
    RESPONSES,
    responses({ messages: [TEXT_HI] }),
  ],
  [
    "/v1/responses",
    "vendord-m3",
    RESPONSES,
    responses({ messages: [{ role: "user", content: "hi" }] }),
  ],
  [
    "/v1/responses",
    "vendorc-3-pro",
    RESPONSES,
    responses({ contents: [{ role: "user", parts: [{ text: "hi" }] }] }),
  ],
];

for (const [path, model, base, rows] of PAIRS) {
  Deno.test(`requests to ${path} arrive at the upstream of ${model}`, (t) =>
    checkRows(t, path, { model, ...base }, rows, {
      configFile: CHAT_ONLY,
    }));
}
