/** Marks of what to cache, from each format that has them to each other one. */
import assert from "node:assert/strict";
import { compact } from "../bytes/compact.ts";
import {
  type ClientFormat,
  type DialectName,
  translateRequest,
} from "../mod.ts";
import {
  type Capabilities,
  DEFAULT_CAPABILITIES,
} from "../model/capabilities.ts";
import { checkRows, type RequestTable } from "../testing/request_table.ts";
import {
  assistant,
  calling,
  callItem,
  chatCall,
  outputItem,
  toolMessage,
  toolUse,
  user,
} from "../testing/request_samples.ts";

/** Models that take marks, in each format, and one that takes none. */
const MODELS: RequestTable["models"] = {
  m: { cacheMarks: "prompt", imagesInToolResult: true },
  all: { cacheMarks: "all" },
  whole: { cacheMarks: "all", promptCaching: true },
  none: { cacheMarks: "none" },
};
const PICTURE = "data:image/png;base64,iVBORw0KGgo=";
/** A breakpoint of the chat and the Responses formats. */
const point = (ttl?: string) => ({
  prompt_cache_breakpoint: {
    mode: "explicit",
    ...compact({ ttl }),
  },
});
const SHORT = { cache_control: { type: "ephemeral" } };
const LONG = { cache_control: { type: "ephemeral", ttl: "1h" } };
const chatText = (text: string, rest: object = {}) => ({
  type: "text",
  text,
  ...rest,
});

const CHAT = {
  model: "m",
  messages: [
    { role: "system", content: [chatText("A", point("12h"))] },
    user(chatText("B", point()), {
      type: "image_url",
      image_url: { url: PICTURE },
      ...point("30m"),
    }),
    calling([chatText("C", point("30m"))], chatCall("c")),
    toolMessage("c", [chatText("D", point())]),
  ],
};

const RESPONSES = {
  model: "m",
  input: [
    {
      role: "developer",
      content: [{ type: "input_text", text: "A", ...point("12h") }],
    },
    user({ type: "input_text", text: "B", ...point() }, {
      type: "input_image",
      image_url: PICTURE,
      ...point("30m"),
    }),
    callItem("c"),
    outputItem("c", [{ type: "input_text", text: "D", ...point() }]),
  ],
};

const MESSAGES = {
  model: "m",
  max_tokens: 99,
  system: [{ type: "text", text: "A", ...LONG }],
  messages: [
    user({ type: "text", text: "B", ...SHORT }, {
      type: "image",
      source: {
        type: "base64",
        media_type: "image/png",
        data: "iVBORw0KGgo=",
      },
      ...SHORT,
    }),
    assistant(toolUse("c")),
    user({
      type: "tool_result",
      tool_use_id: "c",
      content: "D",
      ...SHORT,
    }),
  ],
};

/** Client formats whose requests state what to cache. */
type MarkingFormat = Exclude<ClientFormat, "generate_content">;

const BODIES: Readonly<
  Record<MarkingFormat, Readonly<Record<string, unknown>>>
> = {
  chat_completions: CHAT,
  responses: RESPONSES,
  messages: MESSAGES,
};

function sent(
  from: ClientFormat,
  to: DialectName,
  body: object,
  over: Partial<Capabilities> = MODELS["m"] ?? {},
) {
  const { bytes, dropped } = translateRequest({
    body: new TextEncoder().encode(JSON.stringify(body)),
    from,
    to,
    model: "m",
    capabilities: { ...DEFAULT_CAPABILITIES[to], ...over },
  });
  return { body: JSON.parse(new TextDecoder().decode(bytes)), dropped };
}

/** The texts and pictures whose object, or the one after it, is marked, with the mark's life. */
function marksOf(value: unknown): string[] {
  const found: string[] = [];
  const name = (one: Record<string, unknown>): string => {
    const text = JSON.stringify(one).match(/"text":"(\w)"|"content":"(\w)"/);
    return text?.[1] ?? text?.[2] ?? "picture";
  };
  const look = (inner: unknown): void => {
    if (Array.isArray(inner)) {
      inner.forEach((one, at) => {
        if (one?.cachePoint !== undefined) found.push(name(inner[at - 1]));
        look(one);
      });
    } else if (typeof inner === "object" && inner !== null) {
      const one = inner as Record<string, Record<string, unknown>>;
      const mark = one["cache_control"] ?? one["prompt_cache_breakpoint"];
      if (mark !== undefined) {
        found.push(`${name(one)} ${mark["ttl"] ?? "5m"}`);
      }
      for (const next of Object.values(one)) look(next);
    }
  };
  look(value);
  return found;
}

Deno.test("marks of what to cache keep their places and lives in other formats", async (t) => {
  const rows: readonly [MarkingFormat, DialectName, readonly string[]][] = [
    // The first one is left out: the format takes four.
    ["chat_completions", "messages", [
      "B 5m",
      "picture 5m",
      "C 5m",
      "D 5m",
    ]],
    ["responses", "messages", ["A 1h", "B 5m", "picture 5m", "D 5m"]],
    ["chat_completions", "responses", [
      "A 12h",
      "B 30m",
      "picture 30m",
      "D 30m",
    ]],
    ["responses", "chat_completions", [
      "A 12h",
      "B 30m",
      "picture 30m",
      "D 30m",
    ]],
    ["messages", "chat_completions", [
      "A 12h",
      "B 30m",
      "picture 30m",
      "D 30m",
    ]],
    ["messages", "responses", ["A 12h", "B 30m", "picture 30m", "D 30m"]],
    ["chat_completions", "converse", ["A", "B", "picture", "C", "D"]],
    ["responses", "converse", ["A", "B", "picture", "D"]],
    ["messages", "converse", ["A", "B", "picture", "D"]],
    ["messages", "generate_content", []],
  ];
  for (const [from, to, marks] of rows) {
    await t.step(`${from} to ${to}`, () =>
      assert.deepEqual(
        marksOf(sent(from, to, BODIES[from]).body),
        marks,
      ));
  }
});

Deno.test("marks of what to cache that do not arrive are named", () => {
  const chat = "messages[].content[].prompt_cache_breakpoint";
  const responses = "input[].content[].prompt_cache_breakpoint";
  const system = "system[].cache_control";
  const turns = "messages[].content[].cache_control";
  const none = { cacheMarks: "none" } as const;
  for (
    const [from, to, over, dropped] of [
      ["chat_completions", "messages", none, [chat]],
      ["chat_completions", "messages", undefined, [chat]],
      ["chat_completions", "responses", none, [chat]],
      ["chat_completions", "responses", undefined, [chat]],
      ["chat_completions", "generate_content", undefined, [chat]],
      ["chat_completions", "converse", undefined, [`${chat}.ttl`]],
      ["responses", "messages", none, [responses]],
      ["responses", "messages", undefined, []],
      ["responses", "chat_completions", none, [responses]],
      ["responses", "chat_completions", undefined, []],
      ["messages", "chat_completions", none, [system, turns]],
      ["messages", "chat_completions", undefined, []],
      ["messages", "responses", none, [system, turns]],
      ["messages", "responses", undefined, []],
    ] as const
  ) {
    assert.deepEqual(
      sent(from, to, BODIES[from], over).dropped,
      dropped,
      `${from} to ${to}`,
    );
  }
});

Deno.test("a mark of a tool or a call is named where the format has no place for it", () => {
  const body = {
    ...MESSAGES,
    tools: [{ name: "f", input_schema: { type: "object" }, ...SHORT }],
    messages: [
      MESSAGES.messages[0],
      assistant({
        type: "tool_use",
        id: "c",
        name: "f",
        input: {},
        ...SHORT,
      }),
      MESSAGES.messages[2],
    ],
  };
  for (const to of ["chat_completions", "responses"] as const) {
    assert.deepEqual([...sent("messages", to, body).dropped].sort(), [
      "messages[].content[].cache_control",
      "tools[].cache_control",
    ], to);
  }
});

Deno.test("no short mark precedes a long one: the messages format refuses it", () => {
  const body = {
    model: "m",
    messages: [
      { role: "system", content: [chatText("A", point())] },
      user(chatText("B", point("12h"))),
      assistant("C"),
      user(chatText("D", point())),
    ],
  };
  const { body: written, dropped } = sent("chat_completions", "messages", body);
  assert.deepEqual(marksOf(written), ["A 1h", "B 1h", "D 5m"]);
  assert.deepEqual(dropped, []);
});

Deno.test("what the upstream caches by itself", async (t) => {
  const said = user("hi");
  const table = (from: ClientFormat, to: DialectName) => ({
    from,
    to,
    base: from === "responses"
      ? { model: "all", input: [said] }
      : { model: "all", max_tokens: 99, messages: [said] },
    models: MODELS,
  });
  const chat = "prompt_cache_options";
  await checkRows(t, table("chat_completions", "messages"), [
    {
      name: "nothing, where the client wants no more than its marks",
      body: { model: "whole", [chat]: { mode: "explicit" } },
      arrives: { cache_control: undefined },
    },
    {
      name: "the whole prompt for a long time",
      body: { model: "whole", [chat]: { ttl: "12h" } },
      arrives: { cache_control: { type: "ephemeral", ttl: "1h" } },
    },
    {
      name: "the whole prompt for the usual time",
      body: { model: "whole", [chat]: { mode: "implicit" } },
      arrives: { cache_control: { type: "ephemeral" } },
    },
    {
      name: "three marks beside the whole prompt",
      body: {
        model: "whole",
        messages: [{
          role: "user",
          content: ["a", "b", "c", "d"].map((text) => chatText(text, point())),
        }],
      },
      arrives: {
        cache_control: { type: "ephemeral" },
        "messages[0].content[0].cache_control": undefined,
        "messages[0].content[1].cache_control": { type: "ephemeral" },
      },
      dropped: ["messages[].content[].prompt_cache_breakpoint"],
    },
    {
      name: "it is named where the operator did not allow it",
      body: { [chat]: { ttl: "12h" } },
      arrives: { cache_control: undefined },
      dropped: [chat],
    },
    {
      name: "filling the cache without an answer is refused",
      body: { [chat]: { prewarm: true } },
      param: "prompt_cache_options.prewarm",
    },
    {
      name: "a comparison is dropped and named",
      body: { [chat]: { comparison_response_id: "resp_1" } },
      dropped: ["prompt_cache_options.comparison_response_id"],
    },
    {
      name: "a form that cannot be read is refused",
      body: { [chat]: "30m" },
      param: chat,
    },
  ]);
  await checkRows(t, table("responses", "messages"), [{
    name: "a mark without a life has that of the request",
    body: {
      input: [user({ type: "input_text", text: "B", ...point() })],
      [chat]: { mode: "explicit", ttl: "12h" },
    },
    arrives: {
      "messages[0].content[0].cache_control": {
        type: "ephemeral",
        ttl: "1h",
      },
    },
  }]);
  await checkRows(t, table("messages", "responses"), [
    {
      name: "a messages client's whole prompt",
      body: LONG,
      arrives: { [chat]: { mode: "implicit", ttl: "12h" } },
    },
    {
      name: "dropped where the model has no such field",
      body: { model: "none", ...LONG },
      arrives: { [chat]: undefined },
      dropped: ["cache_control"],
    },
  ]);
  await checkRows(t, table("messages", "chat_completions"), [{
    name: "the chat format's own field knows one life",
    body: LONG,
    arrives: { [chat]: { mode: "implicit", ttl: "30m" } },
  }]);
});
