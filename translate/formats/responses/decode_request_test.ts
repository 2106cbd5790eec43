import assert from "node:assert/strict";
import { ApiError } from "../../model/error.ts";
import type { JsonObject } from "../../bytes/json.ts";
import type { GenerationRequest } from "../../model/request.ts";
import {
  call,
  imagePart,
  result,
  turn,
  withoutPaths,
} from "../../testing/sample_request.ts";
import { decodeRequest } from "./decode_request.ts";
import {
  assistant,
  callItem,
  documentAt,
  imageAt,
  inputOf,
  outputItem,
  text,
  user,
} from "../../testing/request_samples.ts";
import { refusalOf } from "../../testing/refusal_of.ts";
import { atOnce } from "../../steps.ts";

const decoded = (over: JsonObject = {}): GenerationRequest =>
  atOnce(decodeRequest({ model: "m", input: "hi", ...over }));

const items = (...input: JsonObject[]): GenerationRequest => decoded({ input });

function refusal(body: JsonObject): ApiError {
  return refusalOf(() =>
    atOnce(decodeRequest({ model: "m", input: "hi", ...body }))
  );
}

Deno.test("decodeRequest() decodes a text, items without a type, and the roles", () => {
  const hi = [turn("user", text("hi"))];
  assert.deepEqual(decoded().turns, hi);
  const read = decoded({
    instructions: "one",
    input: [
      { role: "system", content: "two" },
      { type: "message", role: "developer", content: "three" },
      user({ type: "input_text", text: "hi" }),
      { role: "developer", content: "four" },
      {
        id: "msg_1",
        status: "completed",
        phase: "final_answer",
        role: "assistant",
        content: [
          { type: "output_text", text: "yes", annotations: [], logprobs: [] },
          { type: "refusal", refusal: "no" },
        ],
      },
    ],
  });
  assert.deepEqual(read.system.map(({ text }) => text), [
    "one",
    "two",
    "three",
  ]);
  assert.deepEqual(read.turns, [
    ...hi,
    turn("system", text("four")),
    turn("assistant", { type: "text", text: "yes", phase: "final_answer" }, {
      type: "refusal",
      text: "no",
    }),
  ]);
  assert.deepEqual(read.unknownFields, []);
});

Deno.test("decodeRequest() puts the outputs of calls directly after the turn of the calls, whatever items are in between", () => {
  const { turns } = items(
    user("go"),
    {
      type: "function_call",
      id: "fc_1",
      call_id: "a",
      name: "f",
      arguments: "{}",
    },
    callItem("b", "f", ""),
    { type: "message", role: "assistant", content: "on it" },
    { type: "function_call_output", id: "fco_1", call_id: "b", output: "2" },
    assistant("half"),
    outputItem("a", "1"),
    outputItem("unmatched", "3"),
  );
  assert.deepEqual(withoutPaths(turns.slice(1)), [
    turn("assistant", call("a"), call("b", "f", ""), text("on it")),
    turn("user", result("b", text("2")), result("a", text("1"))),
    turn("assistant", text("half")),
    turn("user", result("unmatched", text("3"))),
  ]);
});

Deno.test("decodeRequest() decodes images and files, in messages and in outputs", () => {
  const png = "data:image/png;base64,AAAA";
  const { turns } = items(
    callItem("a"),
    outputItem("a", [
      { type: "input_text", text: "see" },
      { type: "input_image", image_url: png, detail: "auto" },
    ]),
    user({ type: "input_image", image_url: "https://x.example/a.png" }, {
      type: "input_file",
      filename: "a.pdf",
      file_data: "data:application/pdf;base64,BBBB",
    }, {
      type: "input_file",
      filename: "a.txt",
      file_data: "data:text/plain;base64,aGk=",
    }, { type: "input_file", file_url: "https://x.example/b.pdf" }),
  );
  assert.deepEqual(withoutPaths(turns[1]?.parts), [
    result("a", text("see"), imagePart("image/png", "AAAA")),
  ]);
  assert.deepEqual(withoutPaths(turns[2]?.parts), [
    imageAt("https://x.example/a.png"),
    {
      type: "document",
      source: { type: "base64", mediaType: "application/pdf", data: "BBBB" },
      title: "a.pdf",
    },
    { type: "document", source: text("hi"), title: "a.txt" },
    documentAt("https://x.example/b.pdf"),
  ]);
});

Deno.test("decodeRequest() decodes reasoning with the format of its signature", () => {
  const reasoning = (value: string | null, text = ""): JsonObject => ({
    type: "reasoning",
    id: "rs_1",
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    content: null,
    encrypted_content: value,
  });
  const call = callItem("a");
  const { turns } = items(
    reasoning("own", "hm"),
    reasoning("gw1:messages:sig", "deep"),
    reasoning("gw1:messages-redacted:red"),
    reasoning("gw1:unknown:x"),
    reasoning(null),
    reasoning(null, "plain"),
    reasoning("gw1:generate_content:g1"),
    call,
    { ...call, call_id: "b" },
    reasoning("gw1:before:gw1:generate_content:g2"),
  );
  assert.deepEqual(withoutPaths(turns[0]?.parts), [
    {
      type: "reasoning",
      text: "hm",
      signature: { from: "responses", value: "own" },
    },
    {
      type: "reasoning",
      text: "deep",
      signature: { from: "messages", value: "sig" },
    },
    {
      type: "reasoning",
      text: "",
      signature: { from: "messages", value: "red", redacted: true },
    },
    { type: "reasoning", text: "plain" },
    {
      type: "tool_call",
      id: "a",
      name: "f",
      arguments: "{}",
      signature: { from: "generate_content", value: "g1" },
    },
    {
      type: "tool_call",
      id: "b",
      name: "f",
      arguments: "{}",
      signature: { from: "generate_content", value: "g2" },
    },
  ]);
});

Deno.test("decodeRequest() decodes free-text tools and grouped tools as functions, also in the history", () => {
  const read = decoded({
    tools: [
      { type: "function", name: "ns__add", parameters: { type: "object" } },
      {
        type: "custom",
        name: "patch",
        description: "Edits",
        format: { type: "grammar", syntax: "lark", definition: "start: X" },
      },
      {
        type: "namespace",
        name: "ns",
        tools: [
          { type: "function", name: "add", strict: false },
          { type: "web_search" },
        ],
      },
      {
        type: "namespace",
        name: "x",
        tools: [{ type: "function", name: "f" }],
      },
      { type: "web_search" },
    ],
    input: [
      {
        type: "additional_tools",
        role: "developer",
        tools: [{ type: "function", name: "late" }, { type: "tool_search" }],
      },
      user("go"),
      {
        type: "custom_tool_call",
        call_id: "a",
        name: "patch",
        input: 'say "hi"\n',
      },
      { type: "custom_tool_call_output", call_id: "a", output: "ok" },
      {
        type: "function_call",
        call_id: "b",
        namespace: "ns",
        name: "add",
        arguments: "{}",
      },
    ],
    tool_choice: { type: "custom", name: "patch" },
  });
  const [plain, patch, add, hosted, f, search, late, lateHosted] = read.tools ??
    [];
  assert.equal(plain?.name, "ns__add");
  assert.ok(patch?.type === "function");
  assert.match(
    patch.description ?? "",
    /^Edits\n\n.*lark grammar:\nstart: X$/s,
  );
  assert.deepEqual(Object.keys(Object(patch.parameters?.["properties"])), [
    "input",
  ]);
  assert.match(add?.name ?? "", /^ns__add_[0-9a-f]{8}$/);
  assert.equal(f?.name, "x__f");
  assert.equal(late?.name, "late");
  assert.deepEqual(
    [hosted, search, lateHosted].map((tool) =>
      tool?.type === "opaque" && tool.path
    ),
    ["tools[2].tools[1]", "tools[4]", "input[0].tools[1]"],
  );
  const calls = read.turns.flatMap(({ parts }) =>
    parts.flatMap((part) => part.type === "tool_call" ? [part] : [])
  );
  assert.deepEqual(calls.map(({ name }) => name), ["patch", add?.name]);
  assert.deepEqual(JSON.parse(calls[0]?.arguments ?? ""), {
    input: 'say "hi"\n',
  });
  assert.deepEqual(read.toolChoice, { type: "tool", name: "patch" });
  assert.equal(read.turns[0]?.role, "user");
});

Deno.test("decodeRequest() decodes every tool choice", () => {
  const tools = [
    { type: "function", name: "f" },
    { type: "namespace", name: "g", tools: [{ type: "function", name: "h" }] },
    { type: "web_search" },
  ];
  const choice = (tool_choice: unknown): unknown =>
    decoded({ tools, tool_choice }).toolChoice;
  assert.deepEqual(choice("required"), { type: "required" });
  assert.deepEqual(choice({ type: "function", name: "f" }), {
    type: "tool",
    name: "f",
  });
  assert.deepEqual(
    choice({
      type: "allowed_tools",
      mode: "required",
      tools: [
        { type: "function", name: "f" },
        { type: "namespace", name: "g" },
        { type: "web_search" },
      ],
    }),
    { type: "allowed", required: true, names: ["f", "g__h"] },
  );
  assert.deepEqual(
    decoded({ tools, tool_choice: { type: "web_search" } }).essential,
    ["tool_choice"],
  );
});

Deno.test("decodeRequest() allows no tool beyond the allowed ones", () => {
  const tools = [{ type: "function", name: "f" }, { type: "web_search" }];
  const choice = (mode: string, allowed: readonly unknown[]) =>
    decoded({
      tools,
      tool_choice: { type: "allowed_tools", mode, tools: allowed },
    });
  for (const allowed of [[], [{ type: "web_search" }]]) {
    const free = choice("auto", allowed);
    assert.deepEqual(free.toolChoice, { type: "none" });
    assert.deepEqual(free.essential, []);
    assert.deepEqual(choice("required", allowed).essential, ["tool_choice"]);
  }
  assert.deepEqual(
    decoded({
      input: [
        {
          type: "additional_tools",
          role: "developer",
          tools: [
            { type: "function", name: "f" },
            {
              type: "namespace",
              name: "g",
              tools: [{ type: "function", name: "h" }],
            },
          ],
        },
        user("go"),
      ],
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        tools: [{ type: "namespace", name: "g" }],
      },
    }).toolChoice,
    { type: "allowed", required: false, names: ["g__h"] },
  );
});

Deno.test("decodeRequest() names the format of a free-text tool that it cannot express", () => {
  const unknownFields = (format: unknown): readonly string[] =>
    decoded({ tools: [{ type: "custom", name: "c", format }] }).unknownFields;
  assert.deepEqual(unknownFields({ type: "text" }), []);
  assert.deepEqual(unknownFields(null), []);
  assert.deepEqual(
    unknownFields({ type: "grammar", syntax: "regex", definition: "a+" }),
    [],
  );
  assert.deepEqual(unknownFields({ type: "yaml" }), ["tools[].format"]);
});

Deno.test("decodeRequest() puts the description of a group into that of its first tool", () => {
  const read = decoded({
    tools: [
      {
        type: "namespace",
        name: "files",
        description: "On the server.",
        color: "red",
        tools: [
          { type: "tool_search" },
          { type: "function", name: "read", description: "Reads." },
          { type: "function", name: "write", description: "Writes." },
        ],
      },
      {
        type: "namespace",
        name: "shell",
        description: "On the laptop.",
        tools: [{ type: "custom", name: "run" }],
      },
    ],
  });
  assert.deepEqual(
    (read.tools ?? []).flatMap((tool) =>
      tool.type === "function" ? [[tool.name, tool.description]] : []
    ),
    [
      ["files__read", "Reads.\n\nAll tools of files: On the server."],
      ["files__write", "Writes."],
      ["shell__run", "All tools of shell: On the laptop."],
    ],
  );
  assert.deepEqual(read.unknownFields, ["tools[].color"]);
});

Deno.test("decodeRequest() decodes the settings", () => {
  const read = decoded({
    stream: true,
    max_output_tokens: 99,
    temperature: 0,
    top_p: 0.5,
    parallel_tool_calls: false,
    reasoning: { effort: "high", summary: "auto" },
    text: { format: { type: "json_schema", name: "n", schema: { a: 1 } } },
    safety_identifier: "u1",
    service_tier: "auto",
    presence_penalty: 1,
    frequency_penalty: 0,
  });
  assert.equal(read.stream, true);
  assert.equal(read.maxTokens, 99);
  assert.equal(read.temperature, 0);
  assert.equal(read.topP, 0.5);
  assert.equal(read.parallelTools, false);
  assert.deepEqual(read.reasoning, {
    mode: "on",
    effort: "high",
    visible: true,
  });
  assert.deepEqual(read.format, {
    type: "schema",
    name: "n",
    schema: { a: 1 },
  });
  assert.equal(read.user, "u1");
  assert.equal(read.fieldNames.user, "safety_identifier");
  assert.equal(read.serviceTier, "auto");
  assert.equal(read.presencePenalty, 1);
  assert.equal(read.frequencyPenalty, undefined);
  assert.deepEqual(decoded({ reasoning: { effort: "none" } }).reasoning, {
    mode: "off",
  });
  assert.deepEqual(decoded({ reasoning: { summary: "auto" } }).reasoning, {
    mode: "auto",
    visible: true,
  });
});

Deno.test("decodeRequest() drops only the vendor's own tools from a plain request of an agent", () => {
  const read = decoded({
    instructions: null,
    tools: [{ type: "function", name: "f", strict: false }, {
      type: "web_search",
    }],
    tool_choice: "auto",
    parallel_tool_calls: true,
    reasoning: { summary: "auto", context: "current_turn" },
    store: false,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "k",
    client_metadata: { a: "b" },
    metadata: { a: "b" },
    text: { verbosity: "medium", format: { type: "text" } },
    truncation: "disabled",
    service_tier: "default",
    stream_options: { include_obfuscation: false },
    previous_response_id: null,
    background: false,
    top_logprobs: 0,
    input: [{
      type: "message",
      role: "user",
      id: "msg_x",
      content: [{ type: "input_text", text: "hi" }],
    }],
  });
  assert.deepEqual(read.unknownFields, []);
  assert.deepEqual(read.essential, []);
});

Deno.test("decodeRequest() records fields that no other format can express", () => {
  const read = decoded({
    truncation: "auto",
    service_tier: "flex",
    text: { verbosity: "low" },
    reasoning: { context: "all_turns", mode: "pro" },
    include: ["message.output_text.logprobs", "file_search_call.results"],
    moderation: { model: "x" },
    max_tool_calls: 3,
    stop: ["x"],
    top_k: 4,
    tools: [{ type: "web_search" }],
    input: [{
      role: "user",
      name: "n",
      content: [{
        type: "input_image",
        image_url: "https://x.example/a.png",
        detail: "high",
      }],
    }],
  });
  assert.deepEqual(read.unknownFields.toSorted(), [
    "include",
    "input[].content[].detail",
    "input[].name",
    "max_tool_calls",
    "moderation",
    "reasoning.context",
    "reasoning.mode",
    "service_tier",
    "stop",
    "top_k",
    "truncation",
  ]);
});

Deno.test("decodeRequest() keeps items that only vendors of this format support, and marks those that must not be dropped", () => {
  const { turns } = items(
    user("go"),
    { type: "web_search_call", id: "ws_1" },
    { type: "computer_call", id: "c_1" },
    { type: "computer_call_output", call_id: "c" },
    { type: "compaction", encrypted_content: "x" },
    user({ type: "input_file", file_id: "file_1" }),
  );
  const opaque = turns.flatMap(({ role, parts }) =>
    parts.flatMap((part) =>
      part.type === "opaque" ? [[role, part.path, part.essential]] : []
    )
  );
  assert.deepEqual(opaque, [
    ["assistant", "input[1]", false],
    ["assistant", "input[2]", true],
    ["user", "input[3]", true],
    ["assistant", "input[4]", true],
    ["user", "input[5].content[0].file_id", true],
  ]);
});

Deno.test("decodeRequest() refuses references to stored state and names the field", () => {
  const bodies: readonly (readonly [JsonObject, string])[] = [
    [{ previous_response_id: "resp_1" }, "previous_response_id"],
    [{ background: true }, "background"],
    [{ conversation: "conv_1" }, "conversation"],
    [{ prompt: { id: "pmpt_1" } }, "prompt"],
    [inputOf({ type: "item_reference", id: "rs_1" }), "input[0]"],
  ];
  for (const [body, param] of bodies) {
    const error = refusal(body);
    assert.equal(error.details.param, param);
    assert.equal(error.details.code, "unsupported_parameter");
  }
});

Deno.test("decodeRequest() names the invalid field", () => {
  const bodies: readonly (readonly [JsonObject, string])[] = [
    [{ model: "" }, "model"],
    [{ input: undefined }, "input"],
    [{ input: undefined, messages: [] }, "messages"],
    [inputOf({ role: "robot", content: "x" }), "input[0].role"],
    [inputOf({ role: "user" }), "input[0].content"],
    [
      inputOf(user({ type: "input_text" })),
      "input[0].content[0].text",
    ],
    [
      inputOf({ type: "function_call", name: "f", arguments: "{}" }),
      "input[0].call_id",
    ],
    [
      inputOf(user("x"), {
        type: "function_call_output",
        call_id: "a",
      }),
      "input[1].output",
    ],
    [
      inputOf(user({ type: "input_image", image_url: "file:///x" })),
      "input[0].content[0].image_url",
    ],
    [
      inputOf(user({ type: "input_image" })),
      "input[0].content[0]",
    ],
    [{ temperature: 3 }, "temperature"],
    [{ max_output_tokens: 0 }, "max_output_tokens"],
    [{ tools: [{ type: "function" }] }, "tools[0].name"],
    [{ tool_choice: "maybe" }, "tool_choice"],
    [{ reasoning: { effort: "huge" } }, "reasoning.effort"],
    [{ text: { format: { type: "json_schema" } } }, "text.format.name"],
    // Taken for none, it would lose the conversation.
    [{ previous_response_id: "" }, "previous_response_id"],
  ];
  for (const [body, param] of bodies) {
    assert.equal(refusal(body).details.param, param);
  }
});
