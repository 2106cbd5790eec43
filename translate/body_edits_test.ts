import assert from "node:assert/strict";
import { exactJson } from "./bytes/exact_json.ts";
import { objectOr } from "./bytes/json.ts";
import { topLevelOf } from "./bytes/json_splice.ts";
import { type BodyEdits, editBody, planEdits } from "./body_edits.ts";
import { user } from "./testing/request_samples.ts";

const NO_CLIENT = { headers: {}, betas: [] };

Deno.test("planEdits() sends a version that the host knows, otherwise the host's own", async (t) => {
  const newest = { headers: { "anthropic-version": "2026-10-21" }, betas: [] };
  const rows: readonly (readonly [
    string,
    NonNullable<BodyEdits["version"]>,
    typeof newest | typeof NO_CLIENT,
    unknown,
  ])[] = [
    ["any", { in: "header", own: "2023-06-01" }, newest, {
      "anthropic-version": "2026-10-21",
    }],
    [
      "unknown",
      { in: "header", own: "2023-06-01", knows: ["2023-06-01"] },
      newest,
      { "anthropic-version": "2023-06-01" },
    ],
    ["none given", { in: "header", own: "2023-06-01" }, NO_CLIENT, {
      "anthropic-version": "2023-06-01",
    }],
    [
      "in the body",
      { in: "body", own: "vertex-2023-10-16", knows: [] },
      newest,
      {
        anthropic_version: "vertex-2023-10-16",
      },
    ],
  ];
  for (const [name, version, context, expected] of rows) {
    await t.step(name, () => {
      const plan = planEdits({ version }, {}, context);
      assert.deepEqual({ ...plan.headers, ...plan.set }, expected);
      assert.deepEqual(plan.dropped, []);
    });
  }
});

Deno.test("planEdits() sends the betas that the host knows, under its names, and names the others", () => {
  const plan = planEdits(
    {
      betas: {
        in: "body",
        knows: ["tool-search-tool-2025-10-19", "effort-2025-11-24"],
        names: {
          "advanced-tool-use-2025-11-20": "tool-search-tool-2025-10-19",
        },
      },
    },
    { anthropic_beta: ["effort-2025-11-24"] },
    {
      headers: {
        "anthropic-beta": "advanced-tool-use-2025-11-20, prompt-x, of-the-row",
      },
      betas: ["of-the-row"],
    },
  );
  assert.deepEqual(plan.set, {
    anthropic_beta: [
      "tool-search-tool-2025-10-19",
      "of-the-row",
      "effort-2025-11-24",
    ],
  });
  assert.deepEqual(plan.headers, {});
  assert.deepEqual(plan.dropped, ["anthropic-beta.prompt-x"]);
});

Deno.test("planEdits() lists a beta of the client and of the row once", () => {
  const plan = planEdits({}, {}, {
    headers: { "anthropic-beta": "a,b" },
    needed: "c",
    betas: ["b", "d"],
    allowedBetas: ["a", "c"],
  });
  assert.deepEqual(plan.headers, { "anthropic-beta": "a,b,c,d" });
});

Deno.test("planEdits() sends no beta that may have a price, wherever the client names it", async (t) => {
  const long = "context-1m-2025-08-07";
  const effort = "effort-2025-11-24";
  for (const place of ["header", "body"] as const) {
    const rows: readonly (readonly [string, object, readonly string[]])[] = [
      ["a list", { anthropic_beta: [effort, long] }, [
        place === "body" ? `anthropic-beta.${long}` : "anthropic_beta",
      ]],
      ["a text", { anthropic_beta: long }, ["anthropic_beta"]],
      ["the library's name", { betas: [long] }, ["betas"]],
    ];
    for (const [name, body, dropped] of rows) {
      await t.step(`${name}, at a host that reads the ${place}`, () => {
        const plan = planEdits({ betas: { in: place } }, { ...body }, {
          headers: { "anthropic-beta": effort },
          betas: [],
        });
        const sent = place === "body"
          ? plan.set["anthropic_beta"]
          : plan.headers["anthropic-beta"];
        assert.deepEqual(sent, place === "body" ? [effort] : effort);
        assert.deepEqual(plan.dropped, dropped);
      });
    }
  }
});

const REFUSES = [
  "tools.strict",
  "tool_choice.disable_parallel_tool_use",
  "cache_control.scope",
];

function edited(
  text: string,
): { readonly text: string; readonly dropped: readonly string[] } {
  const bytes = new TextEncoder().encode(text);
  const { body, dropped } = editBody(
    { bytes, top: topLevelOf(bytes), body: objectOr(exactJson(text)) },
    { anthropic_version: "v" },
    ["model", "stream"],
    REFUSES,
  );
  return {
    text: body instanceof Uint8Array
      ? new TextDecoder().decode(body)
      : JSON.stringify(body.json),
    dropped,
  };
}

Deno.test("editBody() keeps the bytes of everything but the changed top-level fields", () => {
  assert.deepEqual(
    edited('{"model":"m", "n": 1.0,"id":12345678901234567890, "stream": true}'),
    {
      text: '{"n": 1.0,"id":12345678901234567890,"anthropic_version":"v"}',
      dropped: [],
    },
  );
});

Deno.test("editBody() takes refused keys out at any depth, names their paths, and rounds no number", () => {
  const body = JSON.stringify({
    model: "m",
    tools: [{ name: "t", strict: true }, { name: "u" }],
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
    messages: [
      user({ type: "text", text: "x", cache_control: { scope: "y" } }),
    ],
  }).replace('"name":"u"', '"name":"u","n":12345678901234567890');
  assert.deepEqual(edited(body), {
    text:
      '{"tools":[{"name":"t"},{"name":"u","n":12345678901234567890}],"tool_choice":{"type":"auto"},' +
      '"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{}}]}],"anthropic_version":"v"}',
    dropped: [
      "tools[].strict",
      "tool_choice.disable_parallel_tool_use",
      "messages[].content[].cache_control.scope",
    ],
  });
});

Deno.test("editBody() does not touch the client's own data of the same names", () => {
  const body = JSON.stringify({
    messages: [{
      content: [{ type: "tool_use", input: { tools: [{ strict: 1 }] } }],
    }],
    tools: [{ input_schema: { properties: { tools: { strict: 1 } } } }],
  });
  assert.deepEqual(edited(body), {
    text: body.replace(/\}$/, ',"anthropic_version":"v"}'),
    dropped: [],
  });
});

Deno.test("planEdits() sends a user profile where the host reads it, and names it elsewhere", () => {
  const planned = (edits: BodyEdits) => {
    const { set, headers, dropped } = planEdits(edits, {}, {
      headers: { "anthropic-user-profile-id": "profile-1" },
      betas: [],
    });
    return { set, headers, dropped };
  };
  assert.deepEqual(planned({ profile: "header" }), {
    set: {},
    headers: { "anthropic-user-profile-id": "profile-1" },
    dropped: [],
  });
  assert.deepEqual(planned({ profile: "body" }), {
    set: { user_profile_id: "profile-1" },
    headers: {},
    dropped: [],
  });
  assert.deepEqual(planned({}), {
    set: {},
    headers: {},
    dropped: ["anthropic-user-profile-id"],
  });
});
