/**
 * JSON bodies to spoil, for tests: requests that use every field of each format, the recorded
 * requests, and replies.
 *
 * @module
 */
import { WRITTEN } from "../../replay/fixtures/mod.ts";
import { type EncodeContext, PLAIN_CONTEXT } from "../../translate/dialect.ts";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import { messages } from "../../translate/formats/messages/mod.ts";
import { recordings } from "../../translate/testing/recordings.ts";
import type { DialectName } from "../../translate/model/request.ts";
import { responses } from "../../translate/formats/responses/mod.ts";

const PICTURE = { type: "base64", media_type: "image/png", data: "AAAA" };
const SCHEMA = {
  type: "object",
  properties: {
    x: { type: ["number", "null"], enum: [1, null] },
    y: { $ref: "#/$defs/n" },
    z: { anyOf: [{ type: "string" }, { type: "null" }], default: "d" },
  },
  $defs: { n: { type: "array", items: { const: "c" }, minItems: 1 } },
  required: ["x"],
  additionalProperties: false,
};

/** Requests with every block and every field of the messages format. */
export const MESSAGES_REQUESTS: readonly JsonObject[] = [
  {
    max_tokens: 2_000,
    system: [{
      type: "text",
      text: "A.",
      cache_control: { type: "ephemeral" },
    }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Hi" },
          { type: "image", source: PICTURE },
          {
            type: "image",
            source: { type: "url", url: "https://127.0.0.1/a.png" },
          },
          { type: "image", source: { type: "file", file_id: "file_1" } },
          {
            type: "document",
            source: { type: "text", media_type: "text/plain", data: "x" },
            title: "T",
            context: "C",
            citations: { enabled: true },
          },
          {
            type: "document",
            source: {
              type: "base64",
              media_type: "application/pdf",
              data: "AAAA",
            },
          },
          {
            type: "document",
            source: {
              type: "content",
              content: [{ type: "text", text: "x" }, {
                type: "image",
                source: PICTURE,
              }],
            },
          },
          {
            type: "search_result",
            title: "T",
            source: "S",
            content: [{ type: "text", text: "x" }],
          },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "c2ln" },
          { type: "redacted_thinking", data: "AAAA" },
          { type: "text", text: "So." },
          {
            type: "server_tool_use",
            id: "srvtoolu_1",
            name: "web_search",
            input: { query: "q" },
          },
          {
            type: "web_search_tool_result",
            tool_use_id: "srvtoolu_1",
            content: [{ type: "web_search_result", title: "T", url: "u" }],
          },
          {
            type: "tool_use",
            id: "a",
            name: "f",
            input: { x: 1 },
            extra_content: { google: { thought_signature: "c2ln" } },
          },
          { type: "tool_use", id: "b", name: "g", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "a",
            content: [
              { type: "text", text: '{"x":1}' },
              { type: "image", source: PICTURE },
              { type: "tool_reference", tool_name: "g" },
            ],
            is_error: false,
          },
          {
            type: "tool_result",
            tool_use_id: "b",
            content: "none",
            is_error: true,
          },
          { type: "text", text: "Go on." },
        ],
      },
      { role: "system", content: [{ type: "text", text: "Be brief." }] },
      { role: "assistant", content: "Well, " },
    ],
    tools: [
      { name: "f", description: "d", input_schema: SCHEMA, strict: true },
      { name: "g", input_schema: { type: "object" } },
      { type: "web_search_20250305", name: "web_search", max_uses: 1 },
    ],
    tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
    stop_sequences: ["x"],
    temperature: 0.5,
    top_k: 3,
    metadata: { user_id: "u" },
    thinking: { type: "enabled", budget_tokens: 1024, display: "omitted" },
    output_config: { effort: "high", format: null },
    service_tier: "auto",
    stream: false,
  },
  {
    max_tokens: 50,
    system: "A.",
    messages: [{ role: "user", content: "Hi" }],
    output_config: { format: { type: "json_schema", schema: SCHEMA } },
    thinking: { type: "adaptive" },
    stream: true,
  },
];

/** Requests with every part and every field of the chat format. */
export const CHAT_REQUESTS: readonly JsonObject[] = [
  {
    max_completion_tokens: 50,
    messages: [
      { role: "system", content: "A." },
      { role: "developer", content: [{ type: "text", text: "B." }] },
      {
        role: "user",
        name: "n",
        content: [
          { type: "text", text: "Hi" },
          {
            type: "image_url",
            image_url: { url: "data:image/png;base64,AAAA", detail: "low" },
          },
          {
            type: "image_url",
            image_url: { url: "https://127.0.0.1/a.png" },
          },
          {
            type: "file",
            file: {
              file_data: "data:application/pdf;base64,AAAA",
              filename: "a.pdf",
            },
          },
          {
            type: "file",
            file: { file_data: "data:text/plain,a%20b" },
          },
          { type: "file", file: { file_id: "file_1" } },
          {
            type: "input_audio",
            input_audio: { data: "AAAA", format: "wav" },
          },
        ],
      },
      {
        role: "assistant",
        content: [{ type: "text", text: "So." }, {
          type: "refusal",
          refusal: "No.",
        }, { type: "thinking", thinking: [{ type: "text", text: "hm" }] }],
        reasoning_content: "hm",
        reasoning_details: [
          {
            type: "reasoning.text",
            text: "hm",
            signature: "c2ln",
            format: "anthropic-claude-v1",
            index: 0,
          },
          {
            type: "reasoning.encrypted",
            data: "AAAA",
            format: "anthropic-claude-v1",
            index: 1,
          },
        ],
        tool_calls: [
          {
            id: "a",
            type: "function",
            index: 0,
            function: { name: "f", arguments: '{"x":1}' },
            extra_content: { google: { thought_signature: "c2ln" } },
          },
          {
            id: "b",
            type: "function",
            function: { name: "g", arguments: "" },
          },
        ],
      },
      { role: "tool", tool_call_id: "b", content: "none" },
      {
        role: "tool",
        tool_call_id: "a",
        content: [{ type: "text", text: "1" }],
      },
      { role: "user", content: "Go on." },
      { role: "assistant", content: null, refusal: "No." },
    ],
    tools: [
      {
        type: "function",
        function: {
          name: "f",
          description: "d",
          strict: true,
          parameters: SCHEMA,
        },
      },
      { type: "function", function: { name: "g" } },
      { type: "custom", custom: { name: "h", format: { type: "text" } } },
    ],
    tool_choice: { type: "function", function: { name: "f" } },
    parallel_tool_calls: false,
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "n",
        description: "d",
        schema: SCHEMA,
        strict: true,
      },
    },
    stop: ["x"],
    temperature: 1,
    top_p: 0.5,
    seed: 1,
    presence_penalty: 1,
    frequency_penalty: -1,
    logprobs: true,
    top_logprobs: 2,
    logit_bias: { "5": 1 },
    stream: true,
    stream_options: { include_usage: true },
    user: "u",
    safety_identifier: "s",
    reasoning_effort: "low",
    service_tier: "flex",
    metadata: { a: "b" },
    modalities: ["text"],
  },
  {
    max_tokens: 50,
    messages: [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: null,
        function_call: { name: "f", arguments: "{}" },
      },
      { role: "function", name: "f", content: "1" },
    ],
    functions: [{ name: "f", parameters: SCHEMA }],
    function_call: { name: "f" },
    response_format: { type: "json_object" },
    stop: "x",
  },
  {
    messages: [{ role: "user", content: "Hi" }],
    tools: [
      { type: "function", function: { name: "f", parameters: SCHEMA } },
    ],
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: {
        mode: "required",
        tools: [{ type: "function", function: { name: "f" } }],
      },
    },
    stream: false,
  },
];

/** Every item, every field of the Responses format. */
export const RESPONSES_REQUESTS: readonly JsonObject[] = [
  {
    instructions: "A.",
    max_output_tokens: 50,
    input: [
      { role: "developer", content: "B." },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "Hi" },
          {
            type: "input_image",
            image_url: "data:image/png;base64,AAAA",
            detail: "low",
          },
          { type: "input_image", image_url: "https://127.0.0.1/a.png" },
          {
            type: "input_file",
            filename: "a.pdf",
            file_data: "data:application/pdf;base64,AAAA",
          },
          { type: "input_file", file_data: "data:text/plain,a%20b" },
          { type: "input_file", file_id: "file_1" },
          { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
        ],
      },
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "hm" }],
        encrypted_content: "c2ln",
      },
      {
        type: "reasoning",
        id: "rs_2",
        summary: [],
        encrypted_content: "gw1:messages:c2ln",
      },
      {
        type: "function_call",
        id: "fc_1",
        call_id: "a",
        name: "f",
        arguments: '{"x":1}',
        status: "completed",
      },
      {
        type: "reasoning",
        summary: [],
        encrypted_content: "gw1:before:gw1:generate_content:c2ln",
      },
      {
        type: "function_call",
        call_id: "b",
        name: "g",
        namespace: "n",
        arguments: "",
      },
      {
        type: "custom_tool_call",
        call_id: "c",
        name: "patch",
        input: "*** Begin",
      },
      {
        type: "function_call_output",
        call_id: "a",
        output: [
          { type: "input_text", text: '{"x":1}' },
          { type: "input_image", image_url: "data:image/png;base64,AAAA" },
        ],
      },
      { type: "function_call_output", call_id: "b", output: "none" },
      { type: "custom_tool_call_output", call_id: "c", output: "done" },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        phase: "commentary",
        content: [
          {
            type: "output_text",
            text: "So.",
            annotations: [],
            logprobs: [],
          },
          { type: "refusal", refusal: "No." },
        ],
      },
      { type: "web_search_call", id: "ws_1", status: "completed" },
      {
        type: "additional_tools",
        tools: [{ type: "function", name: "later", parameters: SCHEMA }],
      },
      { role: "user", content: "Go on." },
    ],
    tools: [
      {
        type: "function",
        name: "f",
        description: "d",
        parameters: SCHEMA,
        strict: true,
      },
      {
        type: "namespace",
        name: "n",
        description: "d",
        tools: [{ type: "function", name: "g", parameters: null }],
      },
      {
        type: "custom",
        name: "patch",
        format: { type: "grammar", syntax: "lark", definition: "start: x" },
      },
      { type: "web_search" },
    ],
    tool_choice: {
      type: "allowed_tools",
      mode: "auto",
      tools: [{ type: "function", name: "f" }],
    },
    parallel_tool_calls: false,
    text: {
      format: {
        type: "json_schema",
        name: "n",
        description: "d",
        schema: SCHEMA,
        strict: true,
      },
      verbosity: "low",
    },
    reasoning: { effort: "low", summary: "auto" },
    temperature: 1,
    top_p: 0.5,
    top_logprobs: 2,
    truncation: "auto",
    include: ["reasoning.encrypted_content"],
    store: false,
    stream: true,
    prompt_cache_key: "k",
    safety_identifier: "s",
    service_tier: "flex",
    metadata: { a: "b" },
  },
  { input: "Hi", stream: false, text: { format: { type: "json_object" } } },
  {
    input: [{ role: "user", content: "Hi" }],
    tools: [{ type: "function", name: "f", parameters: SCHEMA }],
    tool_choice: { type: "function", name: "f" },
    max_output_tokens: 16,
  },
];

const WRITTEN_REQUESTS = {
  messages: MESSAGES_REQUESTS,
  chat_completions: CHAT_REQUESTS,
  responses: RESPONSES_REQUESTS,
};

const LONG_TEXT = 2_000;

/** Cuts long strings (mostly base64 images), which would only cost time. */
function shortened(value: unknown): unknown {
  if (typeof value === "string") return value.slice(0, LONG_TEXT);
  if (Array.isArray(value)) return value.map(shortened);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, shortened(inner)]),
  );
}

const RECORDED: Readonly<Record<string, DialectName>> = {
  messages: "messages",
  chat: "chat_completions",
  gemini: "generate_content",
  responses: "responses",
};

/**
 * Requests in a client's format: the ones above and, where the recordings are available, real ones.
 */
export function requestSeeds(
  dialect: keyof typeof WRITTEN_REQUESTS,
): readonly JsonObject[] {
  const real = (recordings() ?? []).flatMap(({ vendor, request }) =>
    RECORDED[vendor] === dialect && isObject(request?.body)
      ? [shortened(request.body)].filter(isObject)
      : []
  );
  return [
    ...WRITTEN_REQUESTS[dialect],
    ...real,
  ];
}

/** Replies in one upstream format. */
export interface ReplySeeds {
  /** Parsed whole replies. */
  readonly whole: readonly unknown[];
  /** Event streams, each as one text. */
  readonly streams: readonly string[];
}

const ENCODE: EncodeContext = {
  model: "m",
  created: 1_780_000_000,
  idSeed: "0123456789abcdefghijABCD",
  wantUsage: true,
  legacyFunctions: false,
  inputEstimate: 7,
};

/** A reply of the messages format as one of the Responses format, which no fixture is written in. */
function asResponse(message: string): {
  readonly whole: string;
  readonly stream: readonly string[];
} {
  const events = messages.decodeReply(JSON.parse(message), PLAIN_CONTEXT);
  const encoder = responses.streamEncoder(ENCODE);
  return {
    whole: JSON.stringify(
      events.some(({ type }) => type === "error")
        ? { status: "failed", error: { code: "server_error", message: "m" } }
        : responses.encodeReply(events, ENCODE),
    ),
    stream: events.map((event) => encoder.push(event)),
  };
}

/** Streams and replies above this length are left out: they repeat the same shapes. */
const LONG_STREAM = 40_000;

/**
 * Replies in one upstream format: the replay fixtures and, where the recordings are available, real
 * ones.
 */
export function replySeeds(dialect: DialectName): ReplySeeds {
  const written = [...WRITTEN.values()].map(({ replies }) =>
    dialect === "responses"
      ? asResponse(replies.messages.whole)
      : replies[dialect]
  );
  const real = (recordings() ?? []).filter(({ vendor }) =>
    RECORDED[vendor] === dialect
  );
  return {
    whole: [
      ...written.map(({ whole }) => JSON.parse(whole)),
      ...real.flatMap(({ response }) =>
        response.body === undefined ? [] : [response.body]
      ),
    ].filter((body) => JSON.stringify(body).length < LONG_STREAM),
    streams: [
      ...written.map(({ stream }) =>
        stream.join("").replaceAll("{{if-usage}}", "").replaceAll(
          "{{usage:null}}",
          ',"usage":null',
        ).replaceAll("{{model}}", "m")
      ),
      ...real.flatMap(({ response }) =>
        response.sse === undefined || response.status !== 200
          ? []
          : [response.sse]
      ),
    ].filter((stream) => stream.length < LONG_STREAM),
  };
}
