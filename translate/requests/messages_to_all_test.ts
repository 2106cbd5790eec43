/** Fields of the messages format whose fate is the same towards every other format. */
import { DEFAULT_CAPABILITIES } from "../model/capabilities.ts";
import type { DialectName } from "../mod.ts";
import { checkRows, type RequestRow } from "../testing/request_table.ts";

const HI = { role: "user", content: "hi" };
const BASE = { model: "m", max_tokens: 500, messages: [HI] };

const REFUSED: readonly RequestRow[] = [
  {
    name: "a request for a compaction is refused",
    body: { compaction: { type: "summarize" } },
    param: "compaction",
  },
  {
    name: "tools of servers that the vendor calls are refused",
    body: {
      mcp_servers: [{ type: "url", name: "s", url: "https://mcp.test/" }],
    },
    param: "mcp_servers",
  },
  {
    name: "a container's name is refused",
    body: { container: "container_1" },
    param: "container",
  },
  {
    name: "a container's skills are refused",
    body: {
      container: { skills: [{ type: "anthropic", skill_id: "pdf" }] },
    },
    param: "container",
  },
  {
    name: "none of them is no loss",
    body: { compaction: null, mcp_servers: [], container: null },
  },
];

const tool = (name: string, rest: object = {}) => ({
  name,
  input_schema: { type: "object", properties: {} },
  ...rest,
});
const system = (...content: unknown[]) => ({ role: "system", content });
const add = (name: string) => ({
  type: "tool_addition",
  tool: { type: "tool_reference", name },
});
const define = (definition: object) => ({
  type: "tool_addition",
  tool: { type: "tool_definition", definition },
});
const remove = (name: string) => ({
  type: "tool_removal",
  tool: { type: "tool_reference", name },
});
const toolNames = (...names: readonly string[]) => ({ toolNames: names });

/** The rows' `arrives` for tools, by where a format has their names. */
const CHANGES:
  readonly (RequestRow & { readonly toolNames?: readonly string[] })[] = [
    {
      name: "a removed tool is not offered",
      body: {
        tools: [tool("a"), tool("b")],
        messages: [HI, system(remove("a"))],
      },
      ...toolNames("b"),
    },
    {
      name: "the last change of a tool counts, and tools keep their places",
      body: {
        tools: [tool("a"), tool("b"), tool("c")],
        messages: [
          HI,
          system(remove("a"), remove("b")),
          { role: "assistant", content: "yes" },
          HI,
          system(add("a"), remove("c")),
        ],
      },
      ...toolNames("a"),
    },
    {
      name: "a tool defined in the conversation is offered behind the others",
      body: {
        tools: [tool("a")],
        messages: [
          HI,
          system(define(tool("b")), { type: "text", text: "now" }),
        ],
      },
      ...toolNames("a", "b"),
    },
    {
      name: "a tool defined in the conversation replaces the one of its name",
      body: {
        tools: [tool("a"), tool("b")],
        messages: [HI, system(define(tool("a", { description: "newer" })))],
      },
      arrivesContaining: ["newer"],
      ...toolNames("a", "b"),
    },
    {
      name: "a removed definition is not offered, its name may be added again",
      body: {
        messages: [
          HI,
          system(define(tool("a")), define(tool("b"))),
          HI,
          system(remove("a"), remove("b"), add("b")),
        ],
      },
      ...toolNames("b"),
    },
    {
      name: "an expired turn's changes stay",
      body: {
        tools: [tool("a"), tool("b")],
        messages: [
          HI,
          { ...system(remove("a")), clear_at: "next_user_message" },
          HI,
        ],
      },
      ...toolNames("b"),
    },
    {
      name: "the removal of a tool that is not there is none",
      body: { tools: [tool("a")], messages: [HI, system(remove("z"))] },
      ...toolNames("a"),
    },
    {
      name: "a definition's unknown field is dropped and named",
      body: {
        messages: [HI, system(define(tool("a", { defer_loading: true })))],
      },
      dropped: ["messages[].content[].tool.definition.defer_loading"],
      ...toolNames("a"),
    },
    {
      name: "a reference to no tool is refused",
      body: { tools: [tool("a")], messages: [HI, system(add("z"))] },
      param: "messages[1].content[0].tool.name",
    },
    {
      name: "a reference to a server's tools is refused",
      body: {
        tools: [tool("a")],
        messages: [
          HI,
          system({
            type: "tool_addition",
            tool: { type: "mcp_toolset_reference", server_name: "s" },
          }),
        ],
      },
      param: "messages[1].content[0]",
    },
    {
      name: "a definition that cannot be read is refused",
      body: { messages: [HI, system(define({ name: "a", input_schema: 1 }))] },
      param: "messages[1].content[0].tool.definition.input_schema",
    },
  ];

/** The path of a tool's name in each format's request. */
const TOOL_NAME: Readonly<Record<DialectName, (at: number) => string>> = {
  messages: (at) => `tools[${at}].name`,
  chat_completions: (at) => `tools[${at}].function.name`,
  generate_content: (at) => `tools[0].functionDeclarations[${at}].name`,
  responses: (at) => `tools[${at}].name`,
  converse: (at) => `toolConfig.tools[${at}].toolSpec.name`,
};

const EXPIRING: readonly RequestRow[] = [
  {
    name: "an instruction that is still in force arrives",
    body: {
      messages: [
        HI,
        { role: "system", content: "SECRET", clear_at: "next_user_message" },
      ],
    },
    arrivesContaining: ["SECRET"],
  },
  {
    name: "an instruction without an end arrives",
    body: {
      messages: [
        HI,
        { role: "system", content: "SECRET", clear_at: "never" },
        HI,
      ],
    },
    arrivesContaining: ["SECRET"],
  },
  {
    name: "an unknown end is dropped and named",
    body: {
      messages: [HI, { role: "system", content: "SECRET", clear_at: "soon" }],
    },
    arrivesContaining: ["SECRET"],
    dropped: ["messages[].clear_at"],
  },
];

const EXPIRED: readonly RequestRow[] = ["SECRET", [{
  type: "text",
  text: "SECRET",
}]].map((content) => ({
  name: `an expired instruction is left out: ${JSON.stringify(content)}`,
  body: {
    messages: [
      HI,
      { role: "system", content, clear_at: "next_user_message" },
      { role: "assistant", content: "yes" },
      HI,
    ],
  },
  arrivesWithout: ["SECRET"],
}));

/** The formats beside the client's. */
const OTHERS = Object.keys(DEFAULT_CAPABILITIES).filter((name) =>
  name !== "messages"
) as DialectName[];

/** The row with its tools' names where the format has them, and no tool behind them. */
function named(
  { toolNames, ...row }: typeof CHANGES[number],
  to: DialectName,
): RequestRow {
  return toolNames === undefined ? row : {
    ...row,
    arrives: Object.fromEntries(
      [...toolNames, undefined].map((name, at) => [TOOL_NAME[to](at), name]),
    ),
  };
}

Deno.test("fields of the messages format have one fate towards all other formats", async (t) => {
  for (const to of OTHERS) {
    await t.step(to, (step) =>
      checkRows(
        step,
        { from: "messages", to, base: BASE, models: { m: {} } },
        [
          ...REFUSED,
          ...EXPIRING,
          ...EXPIRED,
          ...CHANGES.map((row) => named(row, to)),
        ],
      ));
  }
});
