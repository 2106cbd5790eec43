/**
 * Histories that another family made, in the client's own format: what the upstream's format demands
 * of the running tool loop is repaired as in translated requests, and the rest stays.
 */
import assert from "node:assert/strict";
import { DEFAULT_CAPABILITIES } from "./model/capabilities.ts";
import { generateContent } from "./formats/generate_content/mod.ts";
import { messages } from "./formats/messages/mod.ts";
import { responses } from "./formats/responses/mod.ts";

const GEMINI = DEFAULT_CAPABILITIES.generate_content;
const SENTINEL = "skip_thought_signature_validator";
const call = (name: string) => ({ functionCall: { name, args: {} } });
const result = (name: string) => ({
  functionResponse: { name, response: {} },
});
const model = (...parts: readonly object[]) => ({ role: "model", parts });
const user = (...parts: readonly object[]) => ({ role: "user", parts });

Deno.test("the first unsigned call of each step of the running turn is signed for Gemini 3", () => {
  const before = [
    user({ text: "go" }),
    model(call("a")),
    user(result("a")),
    model({ text: "done" }),
    user({ text: "once more" }),
  ];
  const own = { ...call("d"), thoughtSignature: "S" };
  const contents = [
    ...before,
    model({ text: "first" }, call("b"), call("c")),
    user(result("b"), result("c")),
    model(own, call("e")),
    user(result("d"), result("e")),
  ];
  const cleaned = generateContent.cleanRequest({ contents }, GEMINI);
  assert.deepEqual(cleaned, {
    fields: {
      contents: [
        ...before,
        model(
          { text: "first" },
          { ...call("b"), thoughtSignature: SENTINEL },
          call("c"),
        ),
        ...contents.slice(6),
      ],
    },
    removed: [],
  });
  const older = { ...GEMINI, reasoning: "budget" as const };
  assert.equal(generateContent.cleanRequest({ contents }, older), undefined);
  assert.equal(
    generateContent.cleanRequest(
      { contents: [...before, model(own, call("e")), user(result("d"))] },
      GEMINI,
    ),
    undefined,
  );
});

Deno.test("reasoning without a proof is not sent to Responses upstreams that prove it", () => {
  const reasoning = { type: "reasoning", summary: [], id: "rs_1" };
  const proven = { ...reasoning, encrypted_content: "E" };
  const text = { role: "user", content: "go" };
  const can = DEFAULT_CAPABILITIES.responses;
  const input = [text, reasoning, proven];
  assert.deepEqual(responses.cleanRequest({ input }, can)?.fields, {
    input: [text, proven],
  });
  assert.deepEqual(
    responses.cleanRequest({ input }, { ...can, encryptedReasoning: false })
      ?.fields,
    { input: [text, { type: "reasoning", summary: [] }, proven] },
  );
});

Deno.test("manual thinking is off and named where the running loop begins with a call", () => {
  const thinking = { type: "enabled", budget_tokens: 2000 };
  const use = { type: "tool_use", id: "t", name: "f", input: {} };
  const thought = { type: "thinking", thinking: "hm", signature: "S" };
  const body = (...content: readonly object[]) => ({
    thinking,
    messages: [
      { role: "user", content: "go" },
      { role: "assistant", content },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "t", content: "1" }],
      },
    ],
  });
  const can = DEFAULT_CAPABILITIES.messages;
  assert.deepEqual(messages.cleanRequest(body(use), can), {
    fields: { thinking: { type: "disabled" } },
    removed: ["thinking"],
  });
  assert.equal(messages.cleanRequest(body(thought, use), can), undefined);
  assert.equal(
    messages.cleanRequest(
      { ...body(use), thinking: { type: "adaptive" } },
      can,
    ),
    undefined,
  );
  const ended = body(use);
  assert.equal(
    messages.cleanRequest({
      ...ended,
      messages: [...ended.messages, { role: "assistant", content: "done" }, {
        role: "user",
        content: "go on",
      }],
    }, can),
    undefined,
  );
  const foreign = { type: "thinking", thinking: "hm", signature: "" };
  const { fields, removed } = messages.cleanRequest(
    body(foreign, use),
    can,
  ) ?? {};
  assert.deepEqual([fields?.["thinking"], removed], [
    { type: "disabled" },
    ["thinking"],
  ]);
});
