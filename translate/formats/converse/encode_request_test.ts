import assert from "node:assert/strict";
import type { JsonObject } from "../../bytes/json.ts";
import { DEFAULT_CAPABILITIES } from "../../model/capabilities.ts";
import { ApiError } from "../../model/error.ts";
import type {
  DocumentPart,
  GenerationRequest,
  Part,
} from "../../model/request.ts";
import {
  call,
  imagePart,
  result,
  sampleRequest,
} from "../../testing/sample_request.ts";
import { converse } from "./mod.ts";
import { objectOf, text } from "../../testing/request_samples.ts";
import { atOnce } from "../../steps.ts";

const CAN = DEFAULT_CAPABILITIES.converse;

function encode(request: Partial<GenerationRequest>, can = CAN) {
  return atOnce(converse.encodeRequest(sampleRequest(request), can));
}

const user = (...parts: Part[]) => ({ role: "user" as const, parts });
const assistant = (...parts: Part[]) => ({ role: "assistant" as const, parts });
const CALL: Part = call("call_1", "get_weather", '{"city":"Ulm"}');
const WEATHER = {
  type: "function" as const,
  name: "get_weather",
  description: "Weather of a city",
  parameters: objectOf({ city: { type: "string" } }),
};
const SPEC: JsonObject = {
  toolSpec: {
    name: "get_weather",
    description: "Weather of a city",
    inputSchema: { json: WEATHER.parameters },
  },
};

Deno.test("encodeRequest() writes a conversation with settings, and neither model nor stream", () => {
  const { body, dropped } = encode({
    model: "amazon.nova-pro-v1:0",
    stream: true,
    system: [text("Be brief."), text(" ")],
    turns: [
      user(text("Hi"), text("")),
      assistant(text("Hello")),
      user(text("Bye")),
    ],
    maxTokens: 64,
    temperature: 0.5,
    topP: 0.9,
    stop: ["END"],
  });
  assert.deepEqual(body, {
    system: [{ text: "Be brief." }],
    messages: [
      { role: "user", content: [{ text: "Hi" }] },
      { role: "assistant", content: [{ text: "Hello" }] },
      { role: "user", content: [{ text: "Bye" }] },
    ],
    inferenceConfig: {
      maxTokens: 64,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ["END"],
    },
  });
  assert.deepEqual(dropped, []);
});

Deno.test("encodeRequest() writes calls, results, and the tools that they need", () => {
  const { body } = encode({
    turns: [
      user(text("Weather?")),
      assistant(CALL, { ...CALL, id: "call_2", arguments: "" }),
      user(
        text("And?"),
        result("call_1", text("12 °C")),
        { type: "tool_result", id: "call_2", content: [], failed: true },
      ),
    ],
    tools: [WEATHER],
  });
  assert.deepEqual(body, {
    messages: [
      { role: "user", content: [{ text: "Weather?" }] },
      {
        role: "assistant",
        content: [
          {
            toolUse: {
              toolUseId: "call_1",
              name: "get_weather",
              input: { city: "Ulm" },
            },
          },
          {
            toolUse: { toolUseId: "call_2", name: "get_weather", input: {} },
          },
        ],
      },
      {
        role: "user",
        content: [
          {
            toolResult: {
              toolUseId: "call_1",
              content: [{ text: "12 °C" }],
            },
          },
          {
            toolResult: {
              toolUseId: "call_2",
              content: [{ text: "(no output)" }],
              status: "error",
            },
          },
          { text: "And?" },
        ],
      },
    ],
    toolConfig: { tools: [SPEC] },
  });
});

const HISTORY = [
  user(text("Weather?")),
  assistant(CALL),
  user({
    type: "tool_result" as const,
    id: "call_1",
    content: [text("12 °C")],
  }),
];
const STUB: JsonObject = {
  toolSpec: {
    name: "get_weather",
    inputSchema: { json: objectOf({}) },
  },
};

const TOOL_CASES: readonly (readonly [
  string,
  Partial<GenerationRequest>,
  JsonObject | undefined,
  readonly string[],
])[] = [
  [
    "a conversation with calls and no tools keeps their names",
    { turns: HISTORY },
    { tools: [STUB] },
    [],
  ],
  [
    "a required call",
    { tools: [WEATHER], toolChoice: { type: "required" } },
    { tools: [SPEC], toolChoice: { any: {} } },
    [],
  ],
  [
    "one tool that must be called",
    { tools: [WEATHER], toolChoice: { type: "tool", name: "get_weather" } },
    { tools: [SPEC], toolChoice: { tool: { name: "get_weather" } } },
    [],
  ],
  [
    "no call: the tools are left out",
    { tools: [WEATHER], toolChoice: { type: "none" } },
    undefined,
    [],
  ],
  [
    "no call in a conversation with calls: the choice is named as dropped",
    { turns: HISTORY, tools: [WEATHER], toolChoice: { type: "none" } },
    { tools: [SPEC] },
    ["TOOL_CHOICE"],
  ],
  [
    "a list of allowed tools",
    {
      tools: [WEATHER, { ...WEATHER, name: "other" }],
      toolChoice: { type: "allowed", required: true, names: ["get_weather"] },
    },
    { tools: [SPEC], toolChoice: { any: {} } },
    [],
  ],
];

for (const [name, request, toolConfig, dropped] of TOOL_CASES) {
  Deno.test(`encodeRequest(): ${name}`, () => {
    const encoded = encode(request);
    assert.deepEqual(encoded.body["toolConfig"], toolConfig);
    assert.deepEqual(encoded.dropped, dropped);
  });
}

Deno.test("encodeRequest() binds the reply to a schema by a forced tool", () => {
  const schema = objectOf({ a: { type: "string" } });
  const { body, context } = encode({ format: { type: "schema", schema } });
  assert.equal(context.formatTool, "structured_output");
  assert.deepEqual(body["toolConfig"], {
    tools: [{
      toolSpec: {
        name: "structured_output",
        description: "Give the final answer by calling this tool.",
        inputSchema: { json: schema },
      },
    }],
    toolChoice: { tool: { name: "structured_output" } },
  });
  const events = converse.decodeReply({
    output: {
      message: {
        role: "assistant",
        content: [{
          toolUse: {
            toolUseId: "t",
            name: "structured_output",
            input: { a: "b" },
          },
        }],
      },
    },
    stopReason: "tool_use",
    usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
  }, context);
  assert.deepEqual(events.slice(1, 5), [
    { type: "open", kind: "text", isAnswer: true },
    { type: "delta", text: '{"a":"b"}' },
    { type: "close" },
    { type: "stop", reason: "end", raw: "tool_use" },
  ]);
});

Deno.test("encodeRequest() writes media by their bytes; documents have names and a text beside them", () => {
  const { body } = encode({
    turns: [user(
      imagePart("image/png", "AAAA"),
      {
        type: "document",
        title: "Q3_report (final).pdf",
        source: { type: "base64", mediaType: "application/pdf", data: "BBBB" },
      },
    )],
  });
  assert.deepEqual(body["messages"], [{
    role: "user",
    content: [
      { image: { format: "png", source: { bytes: "AAAA" } } },
      {
        document: {
          format: "pdf",
          name: "Q3 report (final) pdf 2",
          source: { bytes: "BBBB" },
        },
      },
      { text: "See the document." },
    ],
  }]);
  const office = encode({
    turns: [
      user(
        ...["sheet", "document"].map((kind): DocumentPart => {
          const mediaType = `application/vnd.openxmlformats-officedocument.${
            kind === "sheet"
              ? "spreadsheetml.sheet"
              : "wordprocessingml.document"
          }`;
          return {
            type: "document",
            source: { type: "base64", mediaType, data: "UEs=" },
          };
        }),
      ),
    ],
  });
  assert.match(
    JSON.stringify(office.body["messages"]),
    /"format":"xlsx".*"format":"docx"/,
  );
  const notes = encode({
    turns: [user({
      type: "document",
      title: "notes.txt",
      source: text("Ulm"),
    })],
  });
  assert.deepEqual(notes.body["messages"], [{
    role: "user",
    content: [{ text: "notes.txt" }, { text: "Ulm" }],
  }]);
  assert.throws(
    () =>
      encode({
        turns: [user({
          type: "image",
          source: { type: "url", url: "https://x.example/a.png" },
          at: "messages[0].content[0]",
        })],
      }),
    (error) =>
      error instanceof ApiError &&
      error.details.param === "messages[0].content[0]",
  );
});

Deno.test("encodeRequest() lets a conversation begin and end with the user", () => {
  const { body } = encode({
    turns: [assistant(text("Hello")), user(text("Hi")), assistant(text("So"))],
  });
  const messages = body["messages"] as readonly JsonObject[];
  assert.deepEqual(messages.map(({ role }) => role), [
    "user",
    "assistant",
    "user",
    "assistant",
    "user",
  ]);
});

Deno.test("encodeRequest() sends back only the reasoning that this format signed", () => {
  const reasoning = (
    from: "converse" | "messages",
    redacted = false,
  ): Part => ({
    type: "reasoning",
    text: redacted ? "" : "Hm.",
    signature: { from, value: "c2ln", ...(redacted ? { redacted } : {}) },
  });
  const { body } = encode({
    turns: [
      user(text("Hi")),
      assistant(
        reasoning("messages"),
        reasoning("converse"),
        reasoning("converse", true),
        text("Hello"),
      ),
      user(text("Bye")),
    ],
  });
  const messages = body["messages"] as readonly JsonObject[];
  assert.deepEqual(messages[1]?.["content"], [
    {
      reasoningContent: {
        reasoningText: { text: "Hm.", signature: "c2ln" },
      },
    },
    { reasoningContent: { redactedContent: "c2ln" } },
    { text: "Hello" },
  ]);
});

const POINT: JsonObject = { cachePoint: { type: "default" } };
const MARKED = { cacheMark: "5m" } as const;
const MARK_PATHS = [
  "system[].cache_control",
  "messages[].content[].cache_control",
  "tools[].cache_control",
];

/** Marks of system, tools, texts, a document and a result, and a field without counterpart. */
const MARKED_REQUEST: Partial<GenerationRequest> = {
  system: [{ ...text("Be brief."), ...MARKED }],
  tools: [{ ...WEATHER, ...MARKED }],
  turns: [
    user(text("One"), { ...text("Two"), ...MARKED }, {
      type: "document",
      source: {
        type: "base64",
        mediaType: "application/pdf",
        data: "JVBERg==",
      },
      ...MARKED,
    }),
    assistant(CALL),
    user({
      type: "tool_result",
      id: "call_1",
      content: [text("Sun")],
      ...MARKED,
    }),
  ],
  unknownFields: ["container", ...MARK_PATHS],
  cacheMarks: {
    system: "system[].cache_control",
    turns: "messages[].content[].cache_control",
    tools: "tools[].cache_control",
  },
};

Deno.test("encodeRequest() writes marks of what to cache where the model takes them, and names the others", () => {
  const points = (value: unknown): number =>
    JSON.stringify(value).split(JSON.stringify(POINT)).length - 1;
  const rows = [
    { cacheMarks: "all", counts: [1, 1, 3], dropped: ["container"] },
    {
      cacheMarks: "prompt",
      counts: [1, 0, 3],
      dropped: ["container", "tools[].cache_control"],
    },
    {
      cacheMarks: "none",
      counts: [0, 0, 0],
      dropped: ["container", ...MARK_PATHS],
    },
  ] as const;
  for (const { cacheMarks, counts, dropped } of rows) {
    const encoded = encode(MARKED_REQUEST, { ...CAN, cacheMarks });
    const { system, toolConfig, messages } = encoded.body;
    assert.deepEqual(
      [points(system), points(toolConfig), points(messages)],
      counts,
      cacheMarks,
    );
    assert.deepEqual(encoded.dropped, dropped, cacheMarks);
  }
});

Deno.test("encodeRequest() puts a mark after what it is for", () => {
  const { body } = encode(MARKED_REQUEST, { ...CAN, cacheMarks: "all" });
  assert.deepEqual(body["system"], [{ text: "Be brief." }, POINT]);
  assert.deepEqual(body["toolConfig"], { tools: [SPEC, POINT] });
  const messages = body["messages"] as readonly JsonObject[];
  const content = messages[0]?.["content"] as readonly JsonObject[];
  assert.deepEqual(content.slice(0, 3), [
    { text: "One" },
    { text: "Two" },
    POINT,
  ]);
  assert.deepEqual(content.at(-1), POINT);
});

Deno.test("encodeRequest() names a longer time to live, which it does not send", () => {
  const { body, dropped } = encode({
    system: [{ ...text("Be brief."), cacheMark: "1h" }],
    turns: [user(text("Hi"))],
    unknownFields: ["system[].cache_control"],
    cacheMarks: { system: "system[].cache_control" },
  }, { ...CAN, cacheMarks: "all" });
  assert.deepEqual(body["system"], [{ text: "Be brief." }, POINT]);
  assert.deepEqual(dropped, ["system[].cache_control.ttl"]);
});

Deno.test("encodeRequest() caps a request without a cap only for models that need it", () => {
  const turns = [user(text("Hi"))];
  const capped = { ...CAN, alwaysCapped: true, defaultMaxTokens: 8192 };
  assert.equal(encode({ turns }).body["inferenceConfig"], undefined);
  assert.deepEqual(encode({ turns }, capped).body["inferenceConfig"], {
    maxTokens: 8192,
  });
  const low = encode({ turns }, { ...capped, maxOutputTokens: 4096 });
  assert.deepEqual(low.body["inferenceConfig"], { maxTokens: 4096 });
  assert.deepEqual(low.dropped, []);
  assert.deepEqual(
    encode({ turns, maxTokens: 9 }, capped).body["inferenceConfig"],
    { maxTokens: 9 },
  );
});

Deno.test("encodeRequest() leaves a required call to a model that refuses to be bound, and names it", () => {
  const free = { ...CAN, toolChoiceRequired: false };
  const turns = [user(text("Hi"))];
  const called = encode({
    turns,
    tools: [WEATHER],
    toolChoice: { type: "required" },
  }, free);
  assert.deepEqual(called.body["toolConfig"], { tools: [SPEC] });
  assert.deepEqual(called.dropped, ["TOOL_CHOICE"]);
  const bound = encode({
    turns,
    format: { type: "schema", schema: { type: "object" } },
  }, free);
  assert.equal(
    (bound.body["toolConfig"] as JsonObject)["toolChoice"],
    undefined,
  );
  assert.deepEqual(bound.dropped, ["FORMAT"]);
});
