/**
 * Tools with free text as input, between clients and upstreams of every format: defined, chosen,
 * called in whole replies and in streams, replayed with their outputs.
 */
import assert from "node:assert/strict";
import { arrayOr, type JsonObject, objectOr, stringIn } from "./bytes/json.ts";
import {
  type ClientFormat,
  type DialectName,
  type TranslatedRequest,
  translateReply,
  translateRequest,
  translateStream,
} from "./mod.ts";
import { DEFAULT_CAPABILITIES } from "./model/capabilities.ts";
import { sseParser } from "./stream/sse.ts";
import {
  calling,
  callItem,
  chatCall,
  chatTool,
  outputItem,
  toolMessage,
  user,
} from "./testing/request_samples.ts";

const GRAMMAR = { syntax: "lark", definition: "start: /.+/s" };
/** Text with everything that JSON escapes, and characters outside the basic plane. */
const INPUT = '*** Begin "Patch"\\\n\t{"a": 1}\u0001 \u{1f600}é\n';

/** The same request in both formats that have free-text tools. */
const CHAT: JsonObject = {
  model: "m",
  messages: [
    user("go"),
    calling(null, {
      id: "c1",
      type: "custom",
      custom: { name: "patch", input: INPUT },
    }, chatCall("c2", "add")),
    toolMessage("c1", "patched"),
    toolMessage("c2", "3"),
  ],
  tools: [
    {
      type: "custom",
      custom: {
        name: "patch",
        description: "Edits files",
        format: { type: "grammar", grammar: GRAMMAR },
      },
    },
    { type: "custom", custom: { name: "run", format: { type: "text" } } },
    chatTool("add", { type: "object" }),
  ],
  tool_choice: { type: "custom", custom: { name: "patch" } },
};
const RESPONSES: JsonObject = {
  model: "m",
  input: [
    user("go"),
    { type: "custom_tool_call", call_id: "c1", name: "patch", input: INPUT },
    callItem("c2", "add"),
    { type: "custom_tool_call_output", call_id: "c1", output: "patched" },
    outputItem("c2", "3"),
  ],
  tools: [
    {
      type: "custom",
      name: "patch",
      description: "Edits files",
      format: { type: "grammar", ...GRAMMAR },
    },
    { type: "custom", name: "run" },
    {
      type: "function",
      name: "add",
      parameters: { type: "object" },
      strict: false,
    },
  ],
  tool_choice: { type: "custom", name: "patch" },
};

const BODIES: Readonly<Record<"chat_completions" | "responses", JsonObject>> = {
  chat_completions: CHAT,
  responses: RESPONSES,
};

const bytesOf = (value: unknown): Uint8Array =>
  new TextEncoder().encode(
    typeof value === "string" ? value : JSON.stringify(value),
  );

function jsonOf(bytes: Uint8Array): JsonObject {
  return objectOr(JSON.parse(new TextDecoder().decode(bytes)));
}

function translated(
  from: ClientFormat,
  to: DialectName,
  body: JsonObject,
  customTools = true,
): TranslatedRequest {
  return translateRequest({
    body: bytesOf(body),
    from,
    to,
    model: "u",
    capabilities: { ...DEFAULT_CAPABILITIES[to], customTools },
  });
}

Deno.test("a chat client's free-text tools reach a Responses upstream as such", () => {
  const request = translated("chat_completions", "responses", CHAT);
  const sent = jsonOf(request.bytes);
  assert.deepEqual(sent["tools"], RESPONSES["tools"]);
  assert.deepEqual(sent["tool_choice"], RESPONSES["tool_choice"]);
  assert.deepEqual(
    arrayOr(sent["input"]).slice(1),
    arrayOr(RESPONSES["input"]).slice(1),
  );
  assert.deepEqual(request.dropped, []);
});

Deno.test("a Responses client's free-text tools reach a chat upstream that has them as such", () => {
  const request = translated("responses", "chat_completions", RESPONSES);
  const sent = jsonOf(request.bytes);
  const [patch, , add] = arrayOr(CHAT["tools"]);
  assert.deepEqual(sent["tools"], [
    patch,
    { type: "custom", custom: { name: "run" } },
    {
      type: "function",
      function: {
        name: "add",
        parameters: { type: "object" },
        strict: false,
      },
    },
  ]);
  assert.ok(add !== undefined);
  assert.deepEqual(sent["tool_choice"], CHAT["tool_choice"]);
  assert.deepEqual(sent["messages"], CHAT["messages"]);
  assert.deepEqual(request.dropped, []);
});

Deno.test("allowed free-text tools are named as such", () => {
  const allowed = {
    type: "allowed_tools",
    mode: "required",
    tools: [{ type: "custom", name: "run" }, { type: "function", name: "add" }],
  };
  const { mode, tools } = allowed;
  const chatAllowed = {
    type: "allowed_tools",
    allowed_tools: {
      mode,
      tools: tools.map(({ type, name }) => ({ type, [type]: { name } })),
    },
  };
  assert.deepEqual(
    jsonOf(
      translated("chat_completions", "responses", {
        ...CHAT,
        tool_choice: chatAllowed,
      }).bytes,
    )["tool_choice"],
    allowed,
  );
  assert.deepEqual(
    jsonOf(
      translated("responses", "chat_completions", {
        ...RESPONSES,
        tool_choice: allowed,
      }).bytes,
    )["tool_choice"],
    chatAllowed,
  );
});

Deno.test("free-text tools become functions where the upstream has nothing else", async (t) => {
  const upstreams: DialectName[] = ["messages", "generate_content"];
  const rows: readonly (readonly [
    "chat_completions" | "responses",
    DialectName,
  ])[] = [
    ["chat_completions", "responses"],
    ["responses", "chat_completions"],
    ...upstreams.flatMap((to) =>
      [["chat_completions", to], ["responses", to]] as const
    ),
  ];
  for (const [from, to] of rows) {
    await t.step(`${from} → ${to}`, () => {
      const request = translated(from, to, BODIES[from], false);
      const text = new TextDecoder().decode(request.bytes);
      assert.ok(!text.includes('"custom'), text);
      assert.ok(text.includes("lark grammar"), text);
      assert.ok(text.includes("The whole input of the tool"), text);
      // The replayed input is in the field of the function.
      const input = JSON.stringify(INPUT);
      assert.ok(
        text.includes(`"input":${input}`) ||
          text.includes(JSON.stringify(`{"input":${input}}`)),
        text,
      );
      assert.deepEqual(request.dropped, []);
    });
  }
});

/** Upstream replies that call `patch` with the input, and then `add`, whole and streamed. */
interface Calling {
  readonly whole: JsonObject;
  readonly frames: readonly JsonObject[];
}

/** Pieces of the input that cut its escapes and its surrogate pair. */
const PIECES: readonly string[] = [...Array(INPUT.length).keys()].map((n) =>
  INPUT.slice(n, n + 1)
);

function responsesCalling(): Calling {
  const patch = { type: "custom_tool_call", id: "ctc_1", call_id: "c1" };
  const add = { type: "function_call", id: "fc_1", call_id: "c2", name: "add" };
  const output = [
    { ...patch, name: "patch", input: INPUT },
    { ...add, arguments: "{}" },
  ];
  const whole = {
    id: "resp_1",
    object: "response",
    status: "completed",
    output,
    usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
  };
  return {
    whole,
    frames: [
      { type: "response.created", response: { ...whole, output: [] } },
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { ...patch, name: "patch", input: "" },
      },
      ...PIECES.map((delta) => ({
        type: "response.custom_tool_call_input.delta",
        output_index: 0,
        delta,
      })),
      {
        type: "response.custom_tool_call_input.done",
        output_index: 0,
        input: INPUT,
      },
      {
        type: "response.output_item.done",
        output_index: 0,
        item: output[0],
      },
      {
        type: "response.output_item.added",
        output_index: 1,
        item: { ...add, arguments: "" },
      },
      {
        type: "response.output_item.done",
        output_index: 1,
        item: output[1],
      },
      { type: "response.completed", response: whole },
    ],
  };
}

function chatCalling(isNative: boolean): Calling {
  const text = isNative ? INPUT : JSON.stringify({ input: INPUT });
  const call = (text: string): JsonObject =>
    isNative ? { custom: { input: text } } : { function: { arguments: text } };
  const begun = isNative
    ? { type: "custom", custom: { name: "patch", input: "" } }
    : { type: "function", function: { name: "patch", arguments: "" } };
  const calls: JsonObject[] = [
    {
      id: "c1",
      ...begun,
      ...(isNative
        ? { custom: { name: "patch", input: INPUT } }
        : { function: { name: "patch", arguments: text } }),
    },
    chatCall("c2", "add"),
  ];
  const chunk = (delta: JsonObject, reason: string | null = null) => ({
    id: "chatcmpl-1",
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const toolChunk = (fields: JsonObject) => chunk({ tool_calls: [fields] });
  return {
    whole: {
      id: "chatcmpl-1",
      choices: [{
        index: 0,
        message: { role: "assistant", content: null, tool_calls: calls },
        finish_reason: "tool_calls",
      }],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    },
    frames: [
      chunk({ role: "assistant", content: null }),
      toolChunk({ index: 0, id: "c1", ...begun }),
      ...[...Array(text.length).keys()].map((n) =>
        toolChunk({ index: 0, ...call(text.slice(n, n + 1)) })
      ),
      toolChunk({ index: 1, ...calls[1] }),
      chunk({}, "tool_calls"),
    ],
  };
}

/** The calls of a whole reply to a client. */
function callsOf(to: "chat_completions" | "responses", reply: JsonObject) {
  return to === "responses"
    ? arrayOr(reply["output"]).map((item) => {
      const { id: _, status: __, ...rest } = objectOr(item);
      return rest;
    })
    : arrayOr(
      objectOr(objectOr(arrayOr(reply["choices"])[0])["message"])["tool_calls"],
    );
}

const CALLS = {
  responses: [
    { type: "custom_tool_call", call_id: "c1", name: "patch", input: INPUT },
    callItem("c2", "add"),
  ],
  chat_completions: [
    { id: "c1", type: "custom", custom: { name: "patch", input: INPUT } },
    chatCall("c2", "add"),
  ],
};

/** The calls that a client of the chat format assembles from a stream. */
function assembled(frames: readonly JsonObject[]): unknown[] {
  const calls: {
    id: unknown;
    type: unknown;
    name: unknown;
    text: string;
  }[] = [];
  for (const frame of frames) {
    const delta = objectOr(objectOr(arrayOr(frame["choices"])[0])["delta"]);
    for (const piece of arrayOr(delta["tool_calls"]).map(objectOr)) {
      const called = objectOr(piece["custom"] ?? piece["function"]);
      const text = stringIn(called["input"] ?? called["arguments"]) ?? "";
      const index = Number(piece["index"]);
      const known = calls[index];
      if (known === undefined) {
        calls[index] = {
          id: piece["id"],
          type: piece["type"],
          name: called["name"],
          text,
        };
        continue;
      }
      // The field of every later piece is that of its type.
      assert.ok(piece[String(known.type)] !== undefined);
      known.text += text;
    }
  }
  return calls.map(({ id, type, name, text }) =>
    type === "custom"
      ? { id, type, custom: { name, input: text } }
      : { id, type, function: { name, arguments: text } }
  );
}

function streamOf(frames: readonly JsonObject[], ending: string): string {
  return frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("") +
    ending;
}

Deno.test("calls of free-text tools return as such, whole and streamed", async (t) => {
  const rows: readonly {
    readonly from: "chat_completions" | "responses";
    readonly to: "chat_completions" | "responses";
    readonly isNative: boolean;
    readonly calling: Calling;
  }[] = [
    {
      from: "responses",
      to: "chat_completions",
      isNative: true,
      calling: responsesCalling(),
    },
    {
      from: "chat_completions",
      to: "responses",
      isNative: true,
      calling: chatCalling(true),
    },
    {
      from: "chat_completions",
      to: "responses",
      isNative: false,
      calling: chatCalling(false),
    },
  ];
  for (const { from, to, isNative, calling } of rows) {
    await t.step(`${from} → ${to}, ${isNative ? "native" : "function"}`, () => {
      const request = translated(to, from, BODIES[to], isNative);
      const options = {
        from,
        to,
        request,
        idSeed: "0123456789abcdefghijklmn",
        created: 1_780_000_000,
      };
      const whole = jsonOf(translateReply(options, bytesOf(calling.whole)));
      assert.deepEqual(callsOf(to, whole), CALLS[to]);

      const upstream = bytesOf(
        streamOf(
          calling.frames,
          from === "responses" ? "" : "data: [DONE]\n\n",
        ),
      );
      const relay = translateStream(options);
      const parser = sseParser();
      // The buffer of a relay is reused, so its bytes are parsed at once.
      const frames = [
        ...Array.from(upstream).flatMap((byte) => [
          ...parser.push(relay.push(Uint8Array.of(byte))),
        ]),
        ...parser.push(relay.end()),
      ].filter(({ data }) => data !== "[DONE]")
        .map(({ data }) => objectOr(JSON.parse(data)));
      if (to === "chat_completions") {
        assert.deepEqual(assembled(frames), CALLS[to]);
        return;
      }
      const last = objectOr(frames.at(-1)?.["response"]);
      assert.deepEqual(callsOf(to, last), CALLS[to]);
      const reported = frames.filter(({ type }) =>
        type === "response.custom_tool_call_input.delta"
      );
      assert.equal(reported.map(({ delta }) => delta).join(""), INPUT);
    });
  }
});

Deno.test("a free-text call without input returns with an empty input", () => {
  const request = translated("chat_completions", "responses", CHAT);
  const options = {
    from: "responses",
    to: "chat_completions",
    request,
    idSeed: "0123456789abcdefghijklmn",
    created: 1_780_000_000,
  } as const;
  const item = {
    type: "custom_tool_call",
    call_id: "c1",
    name: "patch",
    input: "",
  };
  const reply = jsonOf(translateReply(
    options,
    bytesOf({ id: "resp_1", status: "completed", output: [item] }),
  ));
  assert.deepEqual(callsOf("chat_completions", reply), [
    { id: "c1", type: "custom", custom: { name: "patch", input: "" } },
  ]);
});
