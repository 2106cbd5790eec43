/** Requests to an upstream of the client's own format: the client's bytes, except for the model. */
import assert from "node:assert/strict";
import { send } from "../support/tables/request_table.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const MESSAGES_BODY = `{
  "zebra": {"b": 1.0, "a": 12345678901234567890, "text": "\\u00e4\\/"},
  "model" : "vendora-sonnet-4-6", "max_tokens": 20,
  "temperature": 1.0,
  "system": [{"type":"text","text":"x-anthropic-billing-header: cch=1;"},
             {"type":"text","text":"A","cache_control":{"ttl":"1h","type":"ephemeral"}}],
  "messages": [
    {"role":"user","content":[{"type":"future_block","x":[1e2]},{"type":"text","text":""},{"type":"text","text":"\\"model\\":\\"no\\""}]},
    {"role":"assistant","content":[
      {"type":"thinking","thinking":"","signature":"S=="},
      {"type":"redacted_thinking","data":"D"},
      {"type":"tool_use","id":"t1","name":"f","input":{"id":9007199254740993,"r":1.50}}]},
    {"role":"system","content":"S","output_config":{"effort":"low"},"clear_at":"next_user_message"},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"image","source":{"type":"file","file_id":"f"}}]}]},
    {"role":"assistant","content":[
      {"type":"tool_use","id":"t2","name":"left_click","toolset_name":"computer","input":{"x":1.0}},
      {"type":"tool_use","id":"t3","name":"left_click","toolset_name":"browser","input":{"x":2.0},"caller":{"type":"direct"}}]},
    {"role":"user","content":[
      {"type":"tool_result","tool_use_id":"t2","toolset_name":"computer","content":[{"type":"image","source":{"type":"url","url":"https://x.test/a.png"},"transformations":{"oversized_image":"error"}}]},
      {"type":"tool_result","tool_use_id":"t3","toolset_name":"browser","content":[{"type":"browser_state","tabs":[]}]}]},
    {"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_reference","name":"f"}},{"type":"tool_removal","tool":{"type":"tool_reference","name":"web_search"}}]}],
  "thinking": {"type":"adaptive","display":"omitted"},
  "context_management": {"edits":[{"type":"clear_thinking_20251015"}]},
  "tools": [{"type":"web_search_20250305","name":"web_search"},{"name":"f","input_schema":{"type":"object"},"defer_loading":true},
    {"type":"computer_toolset_20260801","name":"computer"},{"type":"browser_toolset_20260801","name":"browser"}],
  "mcp_servers": [{"type":"url","name":"s","url":"https://mcp.test/"}], "compaction": {"type":"summarize"},
  "container": {"id":"c","skills":[{"type":"anthropic","skill_id":"pdf","version":"latest"}]},
  "workspace_id": "wrkspc_1", "safeguards": {"classifier":"on"}, "diagnostics": {"previous_message_id":"msg_1"}
}`;

const CHAT_BODY = `{
  "zebra": {"b": 1.0, "a": 12345678901234567890},
  "model" : "vendorb-5.5", "n": 2, "temperature": 1.0, "logit_bias": {"50256":-100},
  "max_completion_tokens": 20, "modalities": ["text","audio"], "web_search_options": {},
  "messages": [
    {"role":"developer","content":"D","name":"x"},
    {"role":"user","content":[{"type":"future","y":1.0},{"type":"file","file":{"file_id":"f"}},{"type":"text","text":""}]},
    {"role":"assistant","content":"a","reasoning_content":"r","reasoning":"r","reasoning_details":[{"type":"reasoning.text","text":"r","format":"unknown"}]},
    {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"custom","custom":{"name":"g","input":"i"}}]},
    {"role":"tool","tool_call_id":"c","content":"{}"}],
  "tools": [{"type":"custom","custom":{"name":"g"}}], "store": true
}`;

const VENDORD = CHAT_BODY.replace("vendorb-5.5", "vendord-m3");

Deno.test("requests pass through byte for byte, except for the model", async (t) => {
  const price = {
    input: 1,
    output: 1,
    at_base_rate: ["cache_write_1h", "audio_output", "uses.web_search"],
  };
  await using gateway = await startTestGateway({
    configFile: JSON.stringify({
      models: { "vendorb-5.5": { price }, "vendord-m3": { price } },
    }),
  });
  const rows: readonly (readonly [string, string, string, string, string])[] = [
    [
      "messages",
      "/v1/messages",
      MESSAGES_BODY,
      "vendora-sonnet-4-6",
      "claude-sonnet-4-6",
    ],
    [
      "messages, as a beta",
      "/v1/messages?beta=true",
      MESSAGES_BODY,
      "vendora-sonnet-4-6",
      "claude-sonnet-4-6",
    ],
    ["chat", "/v1/chat/completions", CHAT_BODY, "vendorb-5.5", "gpt-5.5"],
    [
      "chat at a vendor with both formats",
      "/v1/chat/completions",
      VENDORD,
      "vendord-m3",
      "MiniMax-M3",
    ],
    [
      "messages at a vendor with both formats",
      "/v1/messages",
      MESSAGES_BODY.replace("vendora-sonnet-4-6", "vendord-m3"),
      "vendord-m3",
      "MiniMax-M3",
    ],
  ];
  for (const [name, path, body, asked, upstream] of rows) {
    await t.step(name, async () => {
      const { response, upstreamText: text } = await send(
        gateway,
        path,
        body,
        {
          "x-gateway-strict": "true",
        },
      );
      assert.equal(response.status, 200);
      assert.equal(text, body.replace(`"${asked}"`, `"${upstream}"`));
      assert.equal(response.headers.get("x-gateway-dropped"), null);
    });
  }
  await t.step(
    "a chat stream gets include_usage and is otherwise unchanged",
    async () => {
      const { upstreamText: text } = await send(
        gateway,
        "/v1/chat/completions",
        '{"stream":true,"top_p":1.0,"model":"vendorb-5.5","messages":[{"role":"user","content":"a"}]}',
      );
      assert.equal(
        text,
        '{"stream":true,"top_p":1.0,"model":"gpt-5.5","messages":[{"role":"user","content":"a"}],"stream_options":{"include_usage":true}}',
      );
    },
  );
  await t.step(
    "an integer beyond double precision keeps its digits in translation too",
    async () => {
      const { upstreamText: text } = await send(
        gateway,
        "/v1/messages",
        '{"model":"vendorb-5.5","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"id":12345678901234567890}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]}',
      );
      assert.ok(
        text?.includes(
          String.raw`"arguments":"{\"id\":12345678901234567890}"`,
        ),
        text,
      );
    },
  );
  await t.step(
    "removing other models' fields changes nothing outside the messages",
    async () => {
      const { upstreamText: text } = await send(
        gateway,
        "/v1/messages",
        '{"temperature":1.0,"model":"vendora-haiku-4-5","max_tokens":1,"x":9007199254740993,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"T","signature":""},{"type":"tool_use","id":"t","name":"f","input":{"id":9007199254740993},"extra_content":{"google":{"thought_signature":"G"}}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]}',
      );
      assert.equal(
        text,
        '{"temperature":1.0,"model":"claude-haiku-4-5","max_tokens":1,"x":9007199254740993,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"id":9007199254740993}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]}',
      );
    },
  );
});

const SMALL = {
  max_tokens: 9,
  messages: [{ role: "user", content: "a" }],
};
const LONG_CONTEXT = "vendora-sonnet-4-6 (context-1m beta)";

Deno.test("a client's version and beta headers reach an upstream of the messages format", async (t) => {
  await using gateway = await startTestGateway();
  const rows: readonly {
    readonly name: string;
    readonly model: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly version: string;
    readonly betas: string | undefined;
  }[] = [
    {
      name: "no headers",
      model: "vendora-haiku-4-5",
      headers: {},
      version: "2023-06-01",
      betas: undefined,
    },
    {
      name: "a new version, and betas of new dates in their order",
      model: "vendora-haiku-4-5",
      headers: {
        "anthropic-version": "2026-10-21",
        "anthropic-beta": "effort-2031-01-01,claude-code-20250219",
      },
      version: "2026-10-21",
      betas: "effort-2031-01-01,claude-code-20250219",
    },
    {
      name: "the version under its vendor-neutral name",
      model: "vendora-haiku-4-5",
      headers: { "vendora-version": "2023-06-01" },
      version: "2023-06-01",
      betas: undefined,
    },
    {
      name: "the model's own beta",
      model: LONG_CONTEXT,
      headers: {},
      version: "2023-06-01",
      betas: "context-1m-2025-08-07",
    },
    {
      name: "the model's own beta after the client's",
      model: LONG_CONTEXT,
      headers: { "anthropic-beta": "effort-2025-11-24" },
      version: "2023-06-01",
      betas: "effort-2025-11-24,context-1m-2025-08-07",
    },
    {
      name: "the model's own beta only once if the client sends it too",
      model: LONG_CONTEXT,
      headers: {
        "anthropic-beta": "context-1m-2025-08-07, effort-2025-11-24",
      },
      version: "2023-06-01",
      betas: "context-1m-2025-08-07, effort-2025-11-24",
    },
  ];
  for (const row of rows) {
    await t.step(row.name, async () => {
      const { upstreamHeaders: headers } = await send(
        gateway,
        "/v1/messages",
        {
          ...SMALL,
          model: row.model,
        },
        row.headers,
      );
      assert.equal(headers["anthropic-version"], row.version);
      assert.equal(headers["anthropic-beta"], row.betas);
      assert.equal(headers["vendora-version"], undefined);
      assert.notEqual(headers["x-api-key"], "sk-test-0123456789abcdef");
    });
  }
  await t.step("a repeated header is joined", async () => {
    const headers = new Headers({
      "content-type": "application/json",
      "x-api-key": "sk-test-0123456789abcdef",
    });
    headers.append("anthropic-beta", "effort-2025-11-24");
    headers.append("anthropic-beta", "skills-2025-10-02");
    gateway.replay.requestLog.clear();
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers,
      body: JSON.stringify({ ...SMALL, model: "vendora-haiku-4-5" }),
    });
    await response.body?.cancel();
    assert.equal(
      gateway.replay.requestLog.entries.at(-1)?.request
        .headers["anthropic-beta"],
      "effort-2025-11-24, skills-2025-10-02",
    );
  });
});
