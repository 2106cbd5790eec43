/**
 * A field that decides a price passes only with a value that is known: whatever a vendor's lenient
 * parser could read for a priced one is refused, in byte pass-through too.
 */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import { send } from "../support/tables/request_table.ts";
import { startTestGateway } from "../support/test_gateway.ts";

const HI = [{ role: "user", content: "Hi" }];
/** Requests that pass through, to models without any price beside that of tokens at base rates. */
const MESSAGES: readonly [string, JsonObject] = ["/v1/messages", {
  model: "vendora-haiku-4-5",
  max_tokens: 9,
  messages: HI,
}];
const CHAT: readonly [string, JsonObject] = ["/v1/chat/completions", {
  model: "vendord-m3",
  messages: HI,
}];
const CONTENT: readonly [string, JsonObject] = [
  "/v1beta/models/vendorc-3-flash:generateContent",
  { contents: [{ parts: [{ text: "Hi" }] }] },
];

/** What proto JSON, a lenient schema or a form's reader takes for the word. */
function spellingsOf(word: string): readonly unknown[] {
  return [
    word,
    word.toUpperCase(),
    ` ${word}`,
    [word],
    [[word]],
    { value: word },
    3,
    "3",
    true,
    [3],
  ];
}

type Row = readonly [readonly [string, JsonObject], JsonObject];
const REFUSED: readonly Row[] = [
  ...spellingsOf("priority").flatMap((value): readonly Row[] => [
    [MESSAGES, { service_tier: value }],
    [CHAT, { service_tier: value }],
    [CONTENT, { serviceTier: value }],
    [CONTENT, { service_tier: value }],
  ]),
  ...spellingsOf("fast").map((value): Row => [MESSAGES, { speed: value }]),
  ...spellingsOf("eu").map((value): Row => [
    MESSAGES,
    { inference_geo: value },
  ]),
  ...[...spellingsOf("audio"), ["video"], ["constructor"]].flatMap(
    (value): readonly Row[] => [
      [CHAT, { modalities: value }],
      [CONTENT, { generationConfig: { responseModalities: value } }],
      [CONTENT, { generation_config: { response_modalities: value } }],
    ],
  ),
  ...["code_execution_20250825", "new_tool_20270101", "New_Tool", 3, [
    "web_search_20250305",
  ]].map((type): Row => [MESSAGES, { tools: [{ type, name: "x" }] }]),
  [MESSAGES, {
    tools: [{
      type: "web_search_20250305",
      name: "web_search",
      max_uses: "900",
    }],
  }],
  ...["web_search", "builtin_function", 3, ["function"]].map((type): Row => [
    CHAT,
    { tools: [{ type, function: { name: "f" } }] },
  ]),
  ...["newTool", "retrieval", "enterpriseWebSearch", "exaAiSearch"].map((
    name,
  ): Row => [CONTENT, { tools: [{ [name]: {} }] }]),
  ...["x", ["x"], { a: "x" }, 3].map((models): Row => [CHAT, { models }]),
  ...["web", { id: "web" }, [{ id: "WEB" }], ["web"], [{ id: "file-parser" }]]
    .map((plugins): Row => [CHAT, { plugins }]),
  ...["x", { only: ["x"] }, { order: ["x"], zdr: true }].map((
    provider,
  ): Row => [CHAT, { provider }]),
  ...["x", { model: "x" }, 3].map((fallbacks): Row => [
    MESSAGES,
    { fallbacks },
  ]),
  ...["12h", ["1h"], { ttl: 3600 }, { ttl: ["1h"] }].map((
    cache_control,
  ): Row => [MESSAGES, { cache_control }]),
  ...[3, "x", [{ manualMode: { modelName: "x" } }]].map((
    routingConfig,
  ): Row => [CONTENT, { generationConfig: { routingConfig } }]),
];

const PASSED: readonly Row[] = [
  [MESSAGES, { service_tier: "auto" }],
  [MESSAGES, { service_tier: null, speed: null, inference_geo: "global" }],
  [CHAT, { service_tier: "default", modalities: ["text"] }],
  [CHAT, { provider: { data_collection: "deny", zdr: true } }],
  [CONTENT, { serviceTier: "STANDARD" }],
  [CONTENT, { generationConfig: { responseModalities: ["TEXT"] } }],
  [CONTENT, { tools: [{ codeExecution: {} }, { url_context: {} }] }],
  [CONTENT, { tools: [{ googleSearch: {} }] }],
  [CONTENT, { tools: [{ google_search: {} }] }],
  [MESSAGES, { tools: [{ type: "bash_20250124", name: "bash" }] }],
  [MESSAGES, {
    tools: [{
      type: "tool_search_tool_regex_20251119",
      name: "tool_search_tool_regex",
    }],
  }],
  [MESSAGES, { cache_control: { type: "ephemeral", ttl: "1h" } }],
];

Deno.test("a field that decides a price passes only with a value that is known and priced", async (t) => {
  await using gateway = await startTestGateway();
  for (const [[path, body], fields] of REFUSED) {
    await t.step(`refused by ${path}: ${JSON.stringify(fields)}`, async () => {
      const { response, answer, upstreamText } = await send(
        gateway,
        path,
        { ...body, ...fields },
      );
      assert.equal(response.status, 400);
      const error = isObject(answer) ? answer["error"] : undefined;
      const [name = ""] = Object.keys(fields);
      assert.ok(isObject(error) && String(error["message"]).includes(name));
      assert.equal(upstreamText, undefined, "it reached the upstream");
    });
  }
  for (const [[path, body], fields] of PASSED) {
    await t.step(`passed by ${path}: ${JSON.stringify(fields)}`, async () => {
      const { response, upstreamText } = await send(
        gateway,
        path,
        { ...body, ...fields },
      );
      assert.equal(response.status, 200);
      assert.ok(upstreamText?.includes(JSON.stringify(fields).slice(1, -1)));
    });
  }
});
