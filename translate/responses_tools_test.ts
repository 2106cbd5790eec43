/**
 * Tools of a Responses client at models of every other format: declared, called, returned by the
 * client's names, replayed.
 */
import assert from "node:assert/strict";
import { compact } from "./bytes/compact.ts";
import { DEFAULT_CAPABILITIES } from "./model/capabilities.ts";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import type { EncodeContext, UpstreamDialect } from "./dialect.ts";
import { generateContent } from "./formats/generate_content/mod.ts";
import { arrayOr, type JsonObject, objectOr } from "./bytes/json.ts";
import { messages } from "./formats/messages/mod.ts";
import { echoOf } from "./formats/responses/tool_names.ts";
import { responses } from "./formats/responses/mod.ts";
import { translateReply, translateRequest, translateStream } from "./mod.ts";
import { sseParser } from "./stream/sse.ts";
import {
  callItem,
  chatCall,
  functionCall,
  toolUse,
  user,
} from "./testing/request_samples.ts";
import { atOnce } from "./steps.ts";

const LONG = "list_every_single_thing_that_is_stored_in_the_remote_place";

const BODY: JsonObject = {
  model: "m",
  input: [
    {
      type: "additional_tools",
      role: "developer",
      tools: [{ type: "function", name: "late" }],
    },
    user("go"),
  ],
  tools: [
    { type: "function", name: "add" },
    { type: "custom", name: "apply_patch" },
    {
      type: "namespace",
      name: "mcp__one",
      tools: [{ type: "function", name: "add" }, {
        type: "function",
        name: LONG,
      }],
    },
    {
      type: "namespace",
      name: "mcp__two",
      tools: [{ type: "function", name: "add" }, {
        type: "custom",
        name: "run",
      }],
    },
    // The same words for other tools, and a tool that is declared twice.
    { type: "custom", name: "add" },
    { type: "function", name: "mcp__one__add" },
    {
      type: "namespace",
      name: "mcp__one",
      tools: [{ type: "function", name: "add", description: "newer" }],
    },
    { type: "web_search" },
  ],
};

/** Every call, as the client must receive it. */
const CALLS: readonly JsonObject[] = [
  { type: "function_call", name: "add" },
  { type: "custom_tool_call", name: "apply_patch" },
  { type: "function_call", name: "add", namespace: "mcp__one" },
  { type: "function_call", name: LONG, namespace: "mcp__one" },
  { type: "function_call", name: "add", namespace: "mcp__two" },
  { type: "custom_tool_call", name: "run", namespace: "mcp__two" },
  { type: "custom_tool_call", name: "add" },
  { type: "function_call", name: "mcp__one__add" },
  { type: "function_call", name: "late" },
];

/** Where an upstream's format has the names of tools, and how its reply calls them all. */
const UPSTREAMS: readonly {
  readonly dialect: UpstreamDialect;
  names(body: JsonObject): unknown[];
  reply(names: readonly unknown[]): JsonObject;
}[] = [
  {
    dialect: messages,
    names: (body) =>
      arrayOr(body["tools"]).map((tool) => objectOr(tool)["name"]),
    reply: (names) => ({
      type: "message",
      role: "assistant",
      content: names.map((name, n) =>
        toolUse(`toolu_${n}`, name, { input: `text ${n}` })
      ),
      stop_reason: "tool_use",
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  },
  {
    dialect: chatCompletions,
    names: (body) =>
      arrayOr(body["tools"]).map((tool) =>
        objectOr(objectOr(tool)["function"])["name"]
      ),
    reply: (names) => ({
      choices: [{
        index: 0,
        message: {
          role: "assistant",
          content: null,
          tool_calls: names.map((name, n) =>
            chatCall(`call_${n}`, name, `{"input":"text ${n}"}`)
          ),
        },
        finish_reason: "tool_calls",
      }],
    }),
  },
  {
    dialect: generateContent,
    names: (body) =>
      arrayOr(body["tools"]).flatMap((tool) =>
        arrayOr(objectOr(tool)["functionDeclarations"])
      ).map((tool) => objectOr(tool)["name"]),
    reply: (names) => ({
      candidates: [{
        content: {
          role: "model",
          parts: names.map((name, n) =>
            functionCall(name, { input: `text ${n}` })
          ),
        },
        finishReason: "STOP",
      }],
    }),
  },
  {
    dialect: responses,
    names: (body) =>
      arrayOr(body["tools"]).map((tool) => objectOr(tool)["name"]),
    reply: (names) => ({
      status: "completed",
      output: names.map((name, n) =>
        callItem(`call_${n}`, name, `{"input":"text ${n}"}`)
      ),
    }),
  },
];

const ENCODE: EncodeContext = {
  model: "m",
  created: 1_780_000_000,
  idSeed: "0123456789abcdefghijklmn",
  wantUsage: true,
  legacyFunctions: false,
  inputEstimate: 1,
  echo: echoOf(BODY),
};

Deno.test("a call has the names that its client declared, from models of every format", () => {
  for (const { dialect, names, reply } of UPSTREAMS) {
    const can = DEFAULT_CAPABILITIES[dialect.name];
    const request = atOnce(responses.decodeRequest(BODY));
    // Tools that only this format has; here only their names matter.
    const tools = (request.tools ?? []).filter(({ type }) =>
      type === "function"
    );
    const encoded = atOnce(dialect.encodeRequest({ ...request, tools }, can));
    const wire = names(encoded.body).map(String);
    assert.equal(wire.length, CALLS.length, dialect.name);
    assert.equal(new Set(wire).size, CALLS.length, dialect.name);
    assert.match(JSON.stringify(encoded.body), /"newer"/);
    for (const name of wire) {
      assert.match(name, /^[A-Za-z_][A-Za-z0-9_-]*$/);
      assert.ok(name.length <= can.maxToolName, name);
    }
    const events = dialect.decodeReply(reply(wire), encoded.context);
    const output = arrayOr(responses.encodeReply(events, ENCODE)["output"])
      .map(objectOr);
    assert.deepEqual(
      output.map(({ type, name, namespace }) => ({
        type,
        name,
        ...compact({ namespace }),
      })),
      CALLS,
      dialect.name,
    );
    const [, patch] = output;
    assert.equal(patch?.["input"], "text 1");
    // The client's next request names the same tools again.
    const next = atOnce(responses.decodeRequest({
      ...BODY,
      input: [
        ...arrayOr(BODY["input"]),
        ...output,
        ...output.map((item) => ({
          type: `${item["type"]}_output`,
          call_id: item["call_id"],
          output: "ok",
        })),
      ],
    }));
    const replayed = next.turns.flatMap(({ parts }) =>
      parts.flatMap((part) => part.type === "tool_call" ? [part] : [])
    );
    assert.deepEqual(
      replayed.map(({ name }) => name),
      tools.map(({ name }) => name),
      dialect.name,
    );
    assert.deepEqual(JSON.parse(replayed[1]?.arguments ?? ""), {
      input: "text 1",
    });
  }
});

/** A request with every kind of tool, and its calls so far. */
const AGENT: JsonObject = {
  ...BODY,
  stream: true,
  store: false,
  input: [
    ...arrayOr(BODY["input"]),
    ...CALLS.map((call, n) => ({
      ...call,
      call_id: `c${n}`,
      ...(call["type"] === "function_call"
        ? { arguments: "{}" }
        : { input: "text" }),
    })),
    ...CALLS.map(({ type }, n) => ({
      type: `${type}_output`,
      call_id: `c${n}`,
      output: "ok",
    })),
  ],
  tools: arrayOr(BODY["tools"]).slice(0, -1),
};

Deno.test("a Responses upstream with functions alone gets functions, and its calls return as declared", () => {
  const request = translateRequest({
    body: new TextEncoder().encode(JSON.stringify(AGENT)),
    from: "responses",
    to: "responses",
    model: "u",
    capabilities: {
      ...DEFAULT_CAPABILITIES.responses,
      toolGroups: false,
      customTools: false,
    },
  });
  assert.equal(request.passedThrough, false);
  assert.deepEqual(request.dropped, []);
  const body = objectOr(JSON.parse(new TextDecoder().decode(request.bytes)));
  const tools = arrayOr(body["tools"]).map(objectOr);
  assert.deepEqual(
    new Set(tools.map(({ type }) => type)),
    new Set(["function"]),
  );
  const names = tools.map(({ name }) => name);
  assert.equal(new Set(names).size, CALLS.length);
  const items = arrayOr(body["input"]).map(objectOr);
  assert.deepEqual(
    items.filter(({ type }) => type === "function_call").map(({ name }) => name)
      .sort(),
    [...names].sort(),
  );
  assert.ok(!JSON.stringify(body).includes("additional_tools"));
  assert.ok(!JSON.stringify(body).includes("custom_tool_call"));

  const items0 = names.map((name, n) =>
    callItem(`d${n}`, name, '{"input":"text"}')
  );
  const whole = { id: "resp_up", status: "completed", output: items0 };
  const stream = [
    ...items0.map((item, n) => ({
      type: "response.output_item.done",
      output_index: n,
      item,
    })),
    { type: "response.completed", response: whole },
  ].map((data) => `data: ${JSON.stringify(data)}\n\n`).join("");
  const options = {
    from: "responses",
    to: "responses",
    request,
    idSeed: ENCODE.idSeed,
    created: ENCODE.created,
  } as const;
  const encoder = new TextEncoder();
  const relay = translateStream(options);
  const parser = sseParser();
  const last = [
    ...parser.push(relay.push(encoder.encode(stream))),
    ...parser.push(relay.end()),
  ].at(-1);
  const replies = [
    objectOr(JSON.parse(last?.data ?? ""))["response"],
    JSON.parse(new TextDecoder().decode(
      translateReply(options, encoder.encode(JSON.stringify(whole))),
    )),
  ].map(objectOr);
  for (const reply of replies) {
    assert.match(String(reply["id"]), /^resp_0123/);
    const returned = arrayOr(reply["output"]).map(objectOr)
      .map(({ type, name, namespace, input }) => ({
        type,
        name,
        ...compact({ namespace, input }),
      }));
    const expected = CALLS.map((call) =>
      call["type"] === "custom_tool_call" ? { ...call, input: "text" } : call
    );
    const sorted = (calls: readonly object[]): string[] =>
      calls.map((call) => JSON.stringify(call)).sort();
    assert.deepEqual(sorted(returned), sorted(expected));
  }
});

Deno.test("a Responses upstream gets a request with functions alone as it is", () => {
  const plain = {
    model: "m",
    input: [user("go")],
    tools: [{ type: "function", name: "add" }, { type: "web_search" }],
  };
  for (const [body, passes] of [[plain, true], [AGENT, false]] as const) {
    for (const toolGroups of [true, false]) {
      const { passedThrough } = translateRequest({
        body: new TextEncoder().encode(JSON.stringify(body)),
        from: "responses",
        to: "responses",
        model: "u",
        capabilities: { ...DEFAULT_CAPABILITIES.responses, toolGroups },
      });
      assert.equal(passedThrough, toolGroups || passes);
    }
  }
});
