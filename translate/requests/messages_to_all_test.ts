/** Fields of the messages format that become the same in every other format. */
import { DEFAULT_CAPABILITIES } from "../model/capabilities.ts";
import type { DialectName } from "../mod.ts";
import { checkRows, type RequestRow } from "../testing/request_table.ts";
import {
  assistant,
  messagesOf,
  objectOf,
  text,
  toolResult,
  toolUse,
  user,
} from "../testing/request_samples.ts";

const HI = user("hi");
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

/** Fields that only the vendor itself serves: each one that is dropped is named. */
const NAMED: readonly RequestRow[] = [
  {
    name: "settings of the vendor's account, checks and diagnosis are named",
    body: {
      safeguards: { classifier: "on" },
      diagnostics: { previous_message_id: "msg_1" },
      fallbacks: "default",
      fallback_credit_token: { mode: "best_effort" },
      billing_policy: { type: "bill_to", bill_to: "user_profile" },
      user_profile_id: "u",
      workspace_id: "wrkspc_1",
      context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
    },
    dropped: [
      "safeguards",
      "diagnostics",
      "fallbacks",
      "fallback_credit_token",
      "billing_policy",
      "user_profile_id",
      "workspace_id",
      "context_management",
    ],
  },
  {
    name: "a task's budget and the binding of reasoning are named",
    body: {
      output_config: { task_budget: { type: "tokens", total: 20_000 } },
      thinking: {
        type: "disabled",
        block_binding: { prefix_mismatch_behavior: "drop_block" },
      },
    },
    dropped: ["output_config.task_budget", "thinking.block_binding"],
  },
  {
    name: "how a picture is made smaller is named",
    body: messagesOf(user({
      type: "image",
      source: {
        type: "base64",
        media_type: "image/png",
        data: "iVBORw0KGgo=",
      },
      transformations: { oversized_image: "downsize" },
    })),
    dropped: ["messages[].content[].transformations"],
  },
  {
    name: "the effort of a single turn is named",
    body: messagesOf(HI, {
      role: "system",
      content: "Hurry.",
      output_config: { effort: "low" },
    }),
    dropped: ["messages[].output_config"],
  },
  ...[
    "computer_toolset_20260801",
    "browser_toolset_20260801",
    "mcp_toolset",
    "advisor_20260301",
    "web_search_20260318",
    "web_fetch_20260309",
    "code_execution_20260521",
  ].map((type): RequestRow => ({
    name: `${type} alone is refused`,
    body: { tools: [{ type, name: "t" }] },
    param: "tools[0]",
  })),
  {
    name: "the state of a vendor's browser is refused",
    body: messagesOf(
      HI,
      assistant(toolUse("c")),
      user(toolResult("c", [{ type: "browser_state", tabs: [] }])),
    ),
    param: "messages[2].content[0].content[0]",
  },
];

const tool = (name: string, rest: object = {}) => ({
  name,
  input_schema: objectOf({}),
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

/** The expected `arrives` of rows with tools, by the place of a tool's name in the format. */
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
          assistant("yes"),
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
          system(define(tool("b")), text("now")),
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
      body: messagesOf(
        HI,
        system(define(tool("a")), define(tool("b"))),
        HI,
        system(remove("a"), remove("b"), add("b")),
      ),
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
      body: messagesOf(HI, system(define(tool("a", { defer_loading: true })))),
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
      body: messagesOf(HI, system(define({ name: "a", input_schema: 1 }))),
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
    body: messagesOf(HI, {
      role: "system",
      content: "SECRET",
      clear_at: "next_user_message",
    }),
    arrivesContaining: ["SECRET"],
  },
  {
    name: "an instruction without an end arrives",
    body: messagesOf(HI, {
      role: "system",
      content: "SECRET",
      clear_at: "never",
    }, HI),
    arrivesContaining: ["SECRET"],
  },
  {
    name: "an unknown end is dropped and named",
    body: messagesOf(HI, {
      role: "system",
      content: "SECRET",
      clear_at: "soon",
    }),
    arrivesContaining: ["SECRET"],
    dropped: ["messages[].clear_at"],
  },
];

const EXPIRED: readonly RequestRow[] = ["SECRET", [text("SECRET")]].map((
  content,
) => ({
  name: `an expired instruction is left out: ${JSON.stringify(content)}`,
  body: messagesOf(
    HI,
    { role: "system", content, clear_at: "next_user_message" },
    assistant("yes"),
    HI,
  ),
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
        {
          from: "messages",
          to,
          base: BASE,
          models: { m: { reasoningOff: true } },
        },
        [
          ...REFUSED,
          ...NAMED,
          ...EXPIRING,
          ...EXPIRED,
          ...CHANGES.map((row) => named(row, to)),
        ],
      ));
  }
});
