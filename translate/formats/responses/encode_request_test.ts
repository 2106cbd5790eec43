import assert from "node:assert/strict";
import { compact } from "../../bytes/compact.ts";
import {
  type Capabilities,
  DEFAULT_CAPABILITIES,
} from "../../model/capabilities.ts";
import type { EncodedRequest } from "../../dialect.ts";
import { ApiError } from "../../model/error.ts";
import type { GenerationRequest } from "../../model/request.ts";
import {
  call,
  documentPart,
  reasoning,
  result,
  sampleRequest,
  turn,
} from "../../testing/sample_request.ts";
import { encodeRequest } from "./encode_request.ts";
import {
  callItem,
  documentAt,
  objectOf,
  outputItem,
  text,
} from "../../testing/request_samples.ts";
import { refusalOf } from "../../testing/refusal_of.ts";
import { atOnce } from "../../steps.ts";

const CAN = DEFAULT_CAPABILITIES.responses;

const encode = (
  over: Partial<GenerationRequest> = {},
  can: Partial<Capabilities> = {},
): EncodedRequest =>
  atOnce(encodeRequest(sampleRequest(over), { ...CAN, ...can }));

function refusal(
  over: Partial<GenerationRequest>,
  can: Partial<Capabilities> = {},
): ApiError {
  return refusalOf(() => encode(over, can));
}

Deno.test("encodeRequest() asks the upstream to store nothing and to sign reasoning", () => {
  assert.deepEqual(encode().body, {
    model: "m",
    input: [{
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "hi" }],
    }],
    store: false,
    include: ["reasoning.encrypted_content"],
  });
  assert.equal(encode({ stream: true }).body["stream"], true);
  const alone = encode({ system: [text("go")], turns: [] });
  assert.deepEqual(alone.body["input"], [{
    type: "message",
    role: "developer",
    content: [{ type: "input_text", text: "go" }],
  }], "instructions alone are no input");
  assert.equal(alone.body["instructions"], undefined);
  assert.equal(
    encode({}, { encryptedReasoning: false }).body["include"],
    undefined,
  );
});

Deno.test("encodeRequest() encodes the conversation as items without ids", () => {
  const { body, dropped } = encode({
    system: [{ type: "text", text: "one" }, { type: "text", text: "two" }],
    turns: [
      turn("user", { type: "text", text: "go" }),
      turn(
        "assistant",
        reasoning("hm", "responses", "enc"),
        reasoning("theirs", "messages", "sig"),
        { type: "reasoning", text: "plain" },
        { type: "text", text: "calling" },
        call("call_0", "f", ""),
      ),
      turn("user", {
        type: "tool_result",
        id: "call_0",
        content: [{ type: "text", text: "a" }, { type: "text", text: "b" }],
        failed: true,
      }, { type: "text", text: "well?" }),
      turn("system", { type: "text", text: "note" }),
      turn("assistant", call("call_0")),
      turn("user", result("call_0")),
      turn("assistant", reasoning("", "responses", "nothing behind")),
    ],
  });
  const text = (role: string, type: string, content: string) => ({
    type: "message",
    role,
    content: [{ type, text: content }],
  });
  assert.equal(body["instructions"], "one\n\ntwo");
  assert.deepEqual(body["input"], [
    text("user", "input_text", "go"),
    {
      type: "reasoning",
      summary: [{ type: "summary_text", text: "hm" }],
      encrypted_content: "enc",
    },
    text("assistant", "output_text", "calling"),
    callItem("call_0"),
    outputItem("call_0", "Error: a\nb"),
    text("user", "input_text", "well?"),
    text("developer", "input_text", "note"),
    callItem("call_0_1"),
    outputItem("call_0_1", ""),
  ]);
  assert.deepEqual(dropped, []);
});

Deno.test("encodeRequest() encodes images and files, also in outputs of calls", () => {
  const png = { type: "base64", mediaType: "image/png", data: "AAAA" } as const;
  const { body } = encode({
    turns: [
      turn(
        "user",
        result("a", text("see"), { type: "image", source: png }),
        documentPart("application/pdf", "BB"),
        {
          type: "document",
          source: text("words"),
          title: "t",
        },
        documentAt("https://x.example/a.pdf"),
      ),
    ],
  });
  assert.deepEqual(body["input"], [
    outputItem("a", [
      { type: "input_text", text: "see" },
      {
        type: "input_image",
        detail: "auto",
        image_url: "data:image/png;base64,AAAA",
      },
    ]),
    {
      type: "message",
      role: "user",
      content: [
        {
          type: "input_file",
          filename: "document.pdf",
          file_data: "data:application/pdf;base64,BB",
        },
        { type: "input_text", text: "t\nwords" },
        { type: "input_file", file_url: "https://x.example/a.pdf" },
      ],
    },
  ]);
  const sound = turn("user", { type: "audio", format: "wav", data: "AA" });
  assert.equal(refusal({ turns: [sound] }).details.param, "MESSAGES");
});

Deno.test("encodeRequest() encodes tools as not strict unless requested, and the tool choice", () => {
  const long = "n".repeat(80);
  const { body, context } = encode({
    tools: [
      { type: "function", name: "f", description: "d", parameters: {} },
      {
        type: "function",
        name: long,
        strict: true,
        parameters: { type: "object" },
      },
    ],
    toolChoice: { type: "allowed", required: false, names: ["f", long] },
    parallelTools: false,
  });
  const [first, second] = JSON.parse(JSON.stringify(body["tools"]));
  assert.deepEqual(first, {
    type: "function",
    name: "f",
    description: "d",
    parameters: objectOf({}),
    strict: false,
  });
  assert.equal(second.strict, true);
  assert.equal(context.toolNames.get(second.name), long);
  assert.deepEqual(body["tool_choice"], {
    type: "allowed_tools",
    mode: "auto",
    tools: [
      { type: "function", name: "f" },
      { type: "function", name: second.name },
    ],
  });
  assert.equal(body["parallel_tool_calls"], false);
});

Deno.test("encodeRequest() sends no tool choice without tools", () => {
  const { body, dropped } = encode({
    toolChoice: { type: "required" },
    parallelTools: false,
  });
  assert.equal(body["tool_choice"], undefined);
  assert.equal(body["parallel_tool_calls"], undefined);
  assert.deepEqual(dropped, ["TOOL_CHOICE"]);
});

Deno.test("encodeRequest() drops and reports other formats' own tools, and refuses a request with no other tools", () => {
  const own = {
    type: "opaque",
    from: "messages",
    kind: "bash_20250124",
    name: "bash",
    path: "tools[0]",
    value: {},
  } as const;
  const tools = [own, { type: "function", name: "f" } as const];
  assert.deepEqual(encode({ tools }).dropped, ["tools[0]:bash_20250124"]);
  assert.equal(refusal({ tools: [own] }).details.param, "tools[0]");
  assert.equal(
    refusal({ tools, toolChoice: { type: "tool", name: "bash" } }).details
      .param,
    "TOOL_CHOICE",
  );
});

Deno.test("encodeRequest() requests reasoning by effort, with summaries unless they are unwanted", () => {
  const asked = (
    reasoning: GenerationRequest["reasoning"],
    can: Partial<Capabilities> = {},
  ) => encode(reasoning === undefined ? {} : { reasoning }, can);
  assert.equal(asked(undefined).body["reasoning"], undefined);
  assert.deepEqual(asked({ mode: "on", effort: "low" }).body["reasoning"], {
    effort: "low",
    summary: "auto",
  });
  assert.deepEqual(
    asked({ mode: "on", budgetTokens: 9000, visible: false })
      .body["reasoning"],
    { effort: "medium" },
  );
  assert.deepEqual(asked({ mode: "auto" }).body["reasoning"], {
    summary: "auto",
  });
  assert.deepEqual(asked({ mode: "off" }).body["reasoning"], {
    effort: "none",
  });
  const never = asked({ mode: "off" }, {
    reasoningOff: false,
    efforts: ["low"],
  });
  assert.deepEqual(never.body["reasoning"], { effort: "low" });
  assert.deepEqual(never.dropped, ["REASONING"]);
  assert.deepEqual(
    asked({ mode: "on" }, { reasoning: "none" }).dropped,
    ["REASONING"],
  );
});

Deno.test("encodeRequest() encodes the text format, strict if the schema allows it", () => {
  const closed = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  const format = (schema: typeof closed | object, strict?: boolean) =>
    JSON.parse(JSON.stringify(
      encode({
        format: {
          type: "schema",
          schema: { ...schema },
          ...compact({ strict }),
        },
      }).body["text"],
    )).format;
  assert.deepEqual(format(closed), {
    type: "json_schema",
    name: "response",
    schema: closed,
    strict: true,
  });
  assert.equal(format({ ...closed, required: [] }).strict, false);
  assert.equal(
    format(objectOf({ a: closed })).strict,
    false,
  );
  assert.equal(format(closed, false).strict, false);
  assert.deepEqual(encode({ format: { type: "json" } }).body["text"], {
    format: { type: "json_object" },
  });
  assert.equal(encode({ format: { type: "text" } }).body["text"], undefined);
});

Deno.test("encodeRequest() reports fields that the format cannot express", () => {
  const { body, dropped } = encode({
    stop: ["x"],
    topK: 1,
    seed: 2,
    presencePenalty: 1,
    frequencyPenalty: 1,
    logprobs: 1,
    temperature: 0.5,
    topP: 0.5,
    maxTokens: 5,
    user: "u".repeat(99),
    unknownFields: ["own"],
  });
  assert.deepEqual(dropped.toSorted(), [
    "FREQUENCY",
    "MAX_TOKENS",
    "PRESENCE",
    "SEED",
    "STOP",
    "TOP_K",
    "own",
  ]);
  assert.equal(body["max_output_tokens"], 16);
  assert.equal(body["temperature"], 0.5);
  assert.match(String(body["safety_identifier"]), /^[0-9a-f]{64}$/);
  assert.deepEqual(
    encode({ temperature: 1, topP: 1 }, { sampling: "none" }).dropped,
    ["TEMPERATURE", "TOP_P"],
  );
});
