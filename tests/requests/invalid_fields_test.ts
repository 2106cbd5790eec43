/**
 * Requests with an invalid field. Fields that the gateway itself uses are refused with the field's
 * path, before any upstream is called. Other fields are validated by an upstream of the client's
 * format; for translation the gateway refuses them in the same way.
 */
import { checkRows, type SentRow } from "../support/tables/request_table.ts";

const user = (...content: unknown[]) => ({
  messages: [{ role: "user", content }],
});
const fault = (param: string, body: SentRow["body"]): SentRow => ({
  name: `${param} in ${JSON.stringify(body)}`.slice(0, 160),
  body,
  param,
});

const MESSAGES_ROWS: readonly SentRow[] = [
  fault("model", { model: undefined }),
  fault("model", { model: 5 }),
  fault("model", { model: "" }),
  fault("max_tokens", { max_tokens: undefined }),
  fault("max_tokens", { max_tokens: null }),
  fault("max_tokens", { max_tokens: "5" }),
  fault("max_tokens", { max_tokens: 1.5 }),
  fault("max_tokens", { max_tokens: -1 }),
  fault("messages", { messages: undefined }),
  fault("messages", { messages: [] }),
  fault("messages", { messages: "hi" }),
  fault("messages[0]", { messages: ["hi"] }),
  fault("messages[0].role", { messages: [{ content: "a" }] }),
  fault("messages[0].role", { messages: [{ role: "tool", content: "a" }] }),
  fault("messages[0].content", { messages: [{ role: "user" }] }),
  fault("messages[0].content", { messages: [{ role: "user", content: 5 }] }),
  fault("messages[0].content", { messages: [{ role: "user", content: null }] }),
  fault("system", { system: 5 }),
  fault("temperature", { temperature: 1.1 }),
  fault("temperature", { temperature: -0.1 }),
  fault("temperature", { temperature: "hot" }),
  fault("top_p", { top_p: 2 }),
  fault("top_p", { top_p: 0.5, temperature: 0.5 }),
  fault("stop_sequences", { stop_sequences: "x" }),
  fault("stop_sequences[0]", { stop_sequences: [5] }),
  fault("stream", { stream: "yes" }),
  fault("tools", { tools: {} }),
  fault("metadata", { metadata: "x" }),
  fault("metadata.user_id", { metadata: { user_id: 5 } }),
  { ...fault("model", { model: "nope" }), status: 404 },
];

/** Invalid only for translation. */
const MESSAGES_UNKNOWN: readonly SentRow[] = [
  fault("messages[0].content[0].text", user({ type: "text" })),
  fault(
    "messages[0].content[1].text",
    user({ type: "text", text: "a" }, { type: "text", text: 5 }),
  ),
  fault("messages[0].content[0].type", user({ text: "a" })),
  fault("messages[0].content[0].source", user({ type: "image" })),
  fault(
    "messages[0].content[0].source.type",
    user({ type: "image", source: { type: "x" } }),
  ),
  fault(
    "messages[0].content[0].source.media_type",
    user({ type: "image", source: { type: "base64", data: "x" } }),
  ),
  fault(
    "messages[0].content[0].tool_use_id",
    user({ type: "tool_result", content: "x" }),
  ),
  fault("messages[0].content[0].id", {
    messages: [{
      role: "assistant",
      content: [{ type: "tool_use", name: "f", input: {} }],
    }],
  }),
  fault("system[0].text", { system: [{ type: "text" }] }),
  fault("top_k", { top_k: -1 }),
  fault("tools[0].name", { tools: [{ input_schema: {} }] }),
  fault("tools[0].input_schema", { tools: [{ name: "f" }] }),
  fault("tools[0].input_schema", {
    tools: [{ type: "custom", name: "f", input_schema: [] }],
  }),
  fault("tool_choice.type", { tool_choice: { type: "required" } }),
  fault("tool_choice.name", { tool_choice: { type: "tool" } }),
  fault("tool_choice", { tool_choice: "auto" }),
  fault("thinking.type", { thinking: { type: "on" } }),
  fault("thinking.budget_tokens", { thinking: { type: "enabled" } }),
  fault("thinking.budget_tokens", {
    thinking: { type: "enabled", budget_tokens: 5 },
  }),
  fault("thinking.budget_tokens", {
    max_tokens: 2000,
    thinking: { type: "enabled", budget_tokens: 2000 },
  }),
  fault("output_config.effort", { output_config: { effort: "minimal" } }),
  fault("output_config.format.schema", {
    output_config: { format: { type: "json_schema" } },
  }),
  fault("service_tier", { service_tier: 5 }),
];

const CHAT_ROWS: readonly SentRow[] = [
  fault("model", { model: undefined }),
  fault("model", { model: "" }),
  fault("system", { system: "A." }),
  fault("messages", { messages: undefined }),
  fault("messages", { messages: [] }),
  fault("messages[0].role", { messages: [{ role: "bot", content: "a" }] }),
  fault("messages[0].content", { messages: [{ role: "user" }] }),
  fault("messages[0].content", { messages: [{ role: "user", content: 5 }] }),
  fault("max_tokens", { max_tokens: 0 }),
  fault("max_tokens", { max_tokens: "5" }),
  fault("max_completion_tokens", { max_completion_tokens: 1.5 }),
  fault("temperature", { temperature: 2.1 }),
  fault("temperature", { temperature: -1 }),
  fault("n", { n: 0 }),
  fault("n", { n: 1.5 }),
  fault("stream", { stream: 1 }),
  fault("stream_options", { stream: true, stream_options: true }),
  fault("tools", { tools: "x" }),
  fault("user", { user: 5 }),
  { ...fault("model", { model: "nope" }), status: 404 },
];

/** Invalid only for translation. */
const CHAT_UNKNOWN: readonly SentRow[] = [
  fault("messages[0].content", { messages: [{ role: "user", content: null }] }),
  fault("messages[0].content[0].text", user({ type: "text" })),
  fault("messages[0].content[0].image_url", user({ type: "image_url" })),
  fault(
    "messages[0].content[0].image_url.url",
    user({ type: "image_url", image_url: {} }),
  ),
  fault(
    "messages[0].content[0].image_url.url",
    user({ type: "image_url", image_url: { url: "file:///etc/passwd" } }),
  ),
  fault(
    "messages[0].content[0].image_url.url",
    user({ type: "image_url", image_url: { url: "data:image/png" } }),
  ),
  fault(
    "messages[0].content[0].input_audio.format",
    user({ type: "input_audio", input_audio: { data: "x" } }),
  ),
  fault("messages[0].content[0].file", user({ type: "file", file: {} })),
  fault(
    "messages[0].content[0].file.file_data",
    user({ type: "file", file: { file_data: "http://x.test/a" } }),
  ),
  fault("messages[0].tool_call_id", {
    messages: [{ role: "tool", content: "x" }],
  }),
  fault("messages[0].tool_calls[0].id", {
    messages: [{
      role: "assistant",
      tool_calls: [{
        type: "function",
        function: { name: "f", arguments: "" },
      }],
    }],
  }),
  fault("messages[0].tool_calls[0].function.arguments", {
    messages: [{
      role: "assistant",
      tool_calls: [{
        id: "a",
        type: "function",
        function: { name: "f", arguments: {} },
      }],
    }],
  }),
  fault("top_p", { top_p: 1.1 }),
  fault("stop", { stop: 5 }),
  fault("stop[1]", { stop: ["a", 5] }),
  fault("tools[0].function", { tools: [{ type: "function" }] }),
  fault("tools[0].function.name", {
    tools: [{ type: "function", function: {} }],
  }),
  fault("tools[0].function.parameters", {
    tools: [{ type: "function", function: { name: "f", parameters: "x" } }],
  }),
  fault("tool_choice", { tool_choice: "sometimes" }),
  fault("tool_choice.function", { tool_choice: { type: "function" } }),
  fault("tool_choice.function.name", {
    tool_choice: { type: "function", function: {} },
  }),
  fault("functions", { functions: [{ name: "f" }], tools: [] }),
  fault("response_format.type", { response_format: {} }),
  fault("response_format.json_schema", {
    response_format: { type: "json_schema" },
  }),
  fault("reasoning_effort", { reasoning_effort: "huge" }),
  fault("seed", { seed: 1.5 }),
  fault("presence_penalty", { presence_penalty: 3 }),
  fault("frequency_penalty", { frequency_penalty: -3 }),
  fault("top_logprobs", { top_logprobs: 21 }),
  fault("logit_bias", { logit_bias: [] }),
];

/** Fields that the replay upstream refuses itself, as the vendor does. */
const REFUSED_UPSTREAM: ReadonlySet<string | undefined> = new Set([
  "top_p",
  "messages[0].content",
]);

/**
 * The same bodies at an upstream that validates them itself: they arrive unchanged, but for fields
 * that decide a price.
 */
function passing(rows: readonly SentRow[]): readonly SentRow[] {
  return rows.filter(({ param }) => param !== "service_tier").map((
    { name, body, param },
  ) => ({
    name: `passes: ${name}`,
    body,
    arrives: body,
    ...(REFUSED_UPSTREAM.has(param) ? { status: 400 } : {}),
  }));
}

/** Without a price for sound, a request with sound is refused before its fields are. */
const SOUND_AT_BASE_RATE = {
  configFile: JSON.stringify({
    models: {
      "vendorb-5.5": {
        price: { input: 1, output: 1, at_base_rate: ["audio_input"] },
      },
    },
  }),
};

for (
  const { model, format } of [
    { model: "vendora-sonnet-4-6", format: "messages" },
    { model: "vendorb-5.5", format: "chat" },
    { model: "vendorc-3-pro", format: "neither" },
  ]
) {
  Deno.test(`invalid fields of the messages format are named, for ${model}`, (t) =>
    checkRows(t, "/v1/messages", {
      model,
      max_tokens: 100,
      messages: [{ role: "user", content: "hi" }],
    }, [
      ...MESSAGES_ROWS,
      ...format === "messages" ? passing(MESSAGES_UNKNOWN) : MESSAGES_UNKNOWN,
    ]));
  Deno.test(`invalid fields of the chat format are named, for ${model}`, (t) =>
    checkRows(t, "/v1/chat/completions", {
      model,
      messages: [{ role: "user", content: "hi" }],
    }, [
      ...CHAT_ROWS,
      ...format === "chat" ? passing(CHAT_UNKNOWN) : CHAT_UNKNOWN,
    ], SOUND_AT_BASE_RATE));
}
