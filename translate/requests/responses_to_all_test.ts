/** Fields of the Responses format that become the same in every other format. */
import type { DialectName } from "../mod.ts";
import { DEFAULT_CAPABILITIES } from "../model/capabilities.ts";
import { checkRows, type RequestRow } from "../testing/request_table.ts";
import {
  inputOf,
  objectOf,
  outputItem,
  user,
} from "../testing/request_samples.ts";

const BASE = { model: "m", input: [user("hi")] };
const SCHEMA = {
  type: "object",
  properties: { n: { type: "string" } },
  required: ["n"],
  additionalProperties: false,
};
const update = (settings: object) => ({
  type: "configuration_update",
  id: "cu_1",
  ...settings,
});
const input = (...items: readonly unknown[]) => inputOf(user("hi"), ...items);
const named = (name: string) => ({
  format: { type: "json_schema", name, schema: SCHEMA },
});

/** A capability that every format has, so that an effort is seen in the request. */
const MODELS = {
  m: { reasoning: "effort", efforts: ["low", "high"] },
} as const;

const CALLS: readonly RequestRow[] = [
  {
    name: "that the model itself made a call is no loss",
    body: input(
      {
        type: "function_call",
        call_id: "c",
        name: "f",
        arguments: "{}",
        caller: { type: "direct" },
      },
      outputItem("c", "1"),
    ),
  },
  {
    name: "that a program made a call is dropped and named",
    body: input(
      {
        type: "function_call",
        call_id: "c",
        name: "f",
        arguments: "{}",
        caller: { type: "program", caller_id: "p" },
      },
      outputItem("c", "1"),
    ),
    dropped: ["input[].caller"],
  },
];

/** Fields that only vendors of this format serve. */
const OWN: readonly RequestRow[] = [
  {
    name: "settings of the vendor's checks and account are named",
    body: {
      access_programs: { cyber: "standard" },
      moderation: { model: "m", mode: "score" },
      context_management: [{ type: "compaction", compact_threshold: 9 }],
      tunnel_id: "t",
    },
    dropped: [
      "access_programs",
      "moderation",
      "context_management",
      "tunnel_id",
    ],
  },
  {
    name: "who may call a function, and when, is named",
    body: {
      tools: [{
        type: "function",
        name: "f",
        parameters: objectOf({}),
        async: true,
        output_schema: { type: "object" },
        allowed_callers: ["programmatic"],
        defer_loading: true,
      }],
    },
    dropped: [
      "tools[].async",
      "tools[].output_schema",
      "tools[].allowed_callers",
    ],
  },
  ...["program", "program_output", "compaction", "compaction_trigger"].map((
    type,
  ): RequestRow => ({
    name: `an item of type ${type} is refused`,
    body: input({ type, id: "i" }),
    param: "input[1]",
  })),
];

const UPDATES: readonly RequestRow[] = [
  {
    name: "an update's schema is the reply's",
    body: input(update({ text: named("fresh") })),
    arrivesContaining: [JSON.stringify(SCHEMA.properties)],
  },
  {
    name: "the last update of a setting counts",
    body: {
      text: {
        format: {
          ...named("stale").format,
          schema: { ...SCHEMA, properties: { STALE: { type: "string" } } },
        },
      },
      ...input(
        update({ text: { format: { type: "text" } } }),
        update({ text: named("fresh") }),
        user("go"),
      ),
    },
    arrivesContaining: [JSON.stringify(SCHEMA.properties)],
    arrivesWithout: ["STALE"],
  },
  {
    name: "an update to plain text removes the schema",
    body: {
      text: named("stale"),
      ...input(update({ text: { format: { type: "text" } } })),
    },
    arrivesWithout: ["stale", JSON.stringify(SCHEMA.properties)],
  },
  {
    name: "an update without a value changes nothing",
    body: {
      text: named("kept"),
      ...input(update({ reasoning: { effort: null } })),
    },
    arrivesContaining: [JSON.stringify(SCHEMA.properties)],
  },
  {
    name: "unknown settings are dropped and named",
    body: input(
      update({ later: 1, reasoning: { later: 1 }, text: { later: 1 } }),
    ),
    dropped: ["input[].later", "input[].reasoning.later", "input[].text.later"],
  },
  {
    name: "an unknown format is refused where it is",
    body: input(update({ text: { format: { type: "poem" } } })),
    param: "input[1].text.format",
  },
];

Deno.test("fields of the Responses format have one fate towards all other formats", async (t) => {
  const others = Object.keys(DEFAULT_CAPABILITIES).filter((name) =>
    name !== "responses"
  ) as DialectName[];
  for (const to of others) {
    await t.step(
      to,
      (step) =>
        checkRows(step, {
          from: "responses",
          to,
          base: BASE,
          models: { m: {} },
        }, [
          ...CALLS,
          ...OWN,
          ...UPDATES,
        ]),
    );
  }
});

Deno.test("an update's effort is the request's, and its loss is named where it is", async (t) => {
  const body = {
    reasoning: { effort: "low" },
    ...input(
      update({ reasoning: { effort: "low" } }),
      update({ reasoning: { effort: "high" } }),
    ),
  };
  await checkRows(
    t,
    { from: "responses", to: "chat_completions", base: BASE, models: MODELS },
    [{ name: "sent", body, arrives: { reasoning_effort: "high" } }],
  );
  await checkRows(
    t,
    {
      from: "responses",
      to: "chat_completions",
      base: BASE,
      models: { m: { reasoning: "none" } },
    },
    [{ name: "dropped", body, dropped: ["input[2].reasoning.effort"] }],
  );
});
