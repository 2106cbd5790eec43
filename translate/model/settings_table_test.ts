import assert from "node:assert/strict";
import { z } from "zod";
import { sampleRequest } from "../testing/sample_request.ts";
import { type Capabilities, DEFAULT_CAPABILITIES } from "./capabilities.ts";
import { droppedFieldsOf } from "./dropped_fields.ts";
import type { Settings } from "./settings.ts";
import {
  at,
  decodeSettings,
  encodeSettings,
  namesIn,
  settingsShape,
  settingsTable,
} from "./settings_table.ts";
import { newUnknownFields } from "./unknown_fields.ts";

const TABLE = settingsTable<{ readonly isCold: boolean }>({
  maxTokens: at("cap", { schema: z.int(), absent: () => 9 }),
  temperature: at("config.heat", {
    schema: z.number(),
    range: [0.1, 1],
    unless: (_, { facts }) => facts.isCold,
  }),
  topP: at("config.share", { schema: z.number() }),
  topK: at("k"),
  stop: at("ends", { schema: z.array(z.string()) }),
  logprobs: at("probabilities", {
    encodeFields: (count) => ({ probabilities: true, alternatives: count }),
  }),
  user: at("old_id", {
    schema: z.string(),
    newer: ["new_id", z.string()],
    writeTo: () => "new_id",
  }),
  serviceTier: at("tier", {
    schema: z.string(),
    words: { fast: "auto", slow: "default" },
  }),
});
const CAN = DEFAULT_CAPABILITIES.chat_completions;

function encode(
  settings: Partial<Settings>,
  can: Partial<Capabilities> = {},
  isCold = false,
): readonly unknown[] {
  const request = sampleRequest(settings);
  const dropped = droppedFieldsOf(request);
  const fields = encodeSettings(
    TABLE,
    request,
    { ...CAN, ...can },
    dropped,
    { isCold },
  );
  return [fields, ...dropped.all()];
}

Deno.test("encodeSettings() writes what has a row and names what has none", () => {
  assert.deepEqual(
    encode({
      maxTokens: 5,
      temperature: 0.5,
      topP: 0.5,
      stop: ["a", ""],
      logprobs: 2,
      user: "u",
      serviceTier: "default",
      seed: 1,
      presencePenalty: 0,
      frequencyPenalty: 1,
      replyCount: 1,
    }),
    [
      {
        cap: 5,
        config: { heat: 0.5, share: 0.5 },
        ends: ["a"],
        probabilities: true,
        alternatives: 2,
        new_id: "u",
        tier: "slow",
      },
      "SEED",
      "FREQUENCY",
    ],
  );
});

Deno.test("encodeSettings() names what a bound or a capability changes", () => {
  const rows: readonly (readonly [
    Partial<Settings>,
    Partial<Capabilities>,
    unknown,
    readonly string[],
  ])[] = [
    [{ maxTokens: 3 }, { minOutputTokens: 4 }, { cap: 4 }, ["MAX_TOKENS"]],
    [{ maxTokens: 3 }, { maxOutputTokens: 2 }, { cap: 2 }, ["MAX_TOKENS"]],
    [{ temperature: 2 }, {}, { cap: 9, config: { heat: 1 } }, ["TEMPERATURE"]],
    [{ temperature: 0 }, {}, { cap: 9, config: { heat: 0.1 } }, [
      "TEMPERATURE",
    ]],
    [{ temperature: 1 }, { sampling: "none" }, { cap: 9 }, ["TEMPERATURE"]],
    [
      { temperature: 1, topP: 1 },
      { sampling: "one" },
      { cap: 9, config: { heat: 1 } },
      ["TOP_P"],
    ],
    [{ topK: 1 }, { topK: false }, { cap: 9 }, ["TOP_K"]],
    [{ topK: 1 }, { topK: true }, { cap: 9, k: 1 }, []],
    [{ stop: ["a", "b"] }, { maxStops: 1 }, { cap: 9, ends: ["a"] }, ["STOP"]],
    [{ stop: ["a"] }, { maxStops: 0 }, { cap: 9 }, ["STOP"]],
    [{ stop: [""] }, { maxStops: 0 }, { cap: 9 }, []],
  ];
  for (const [settings, can, fields, dropped] of rows) {
    assert.deepEqual(encode(settings, can), [fields, ...dropped]);
  }
  assert.deepEqual(
    encode({ temperature: 1, topP: 1 }, {
      sampling: "one",
    }, true),
    [{ cap: 9, config: { share: 1 } }, "TEMPERATURE"],
  );
});

Deno.test("encodeSettings() refuses what can be neither sent nor dropped", () => {
  assert.throws(() => encode({ replyCount: 2 }), {
    message: "REPLY_COUNT: this model gives one reply at a time",
  });
  assert.throws(() => encode({ maxTokens: 0 }), {
    message: "MAX_TOKENS: this model generates at least one token",
  });
});

Deno.test("decodeSettings() reads by the rows; empty values are absent, unknown words are unknown fields", () => {
  const unknown = newUnknownFields();
  const read = (body: Record<string, unknown>) =>
    decodeSettings(TABLE, body, unknown);
  assert.deepEqual(
    read({
      cap: 5,
      config: { heat: 0, share: null },
      ends: ["a"],
      tier: "fast",
      old_id: "a",
    }),
    {
      maxTokens: 5,
      temperature: 0,
      stop: ["a"],
      serviceTier: "auto",
      user: "a",
    },
  );
  assert.deepEqual(read({ cap: null, ends: [], old_id: "", tier: null }), {});
  assert.deepEqual([...unknown.optional], []);
  assert.deepEqual(read({ tier: "constructor", old_id: "a", new_id: "b" }), {
    user: "b",
  });
  assert.deepEqual([...unknown.optional], ["old_id", "tier"]);
});

Deno.test("a table has the client's names and the schema of each object", () => {
  assert.equal(TABLE.names.temperature, "config.heat");
  assert.equal(TABLE.names.seed, "seed");
  assert.equal(namesIn(TABLE, { new_id: "a" }).user, "new_id");
  assert.equal(namesIn(TABLE, { new_id: null }), TABLE.names);
  assert.deepEqual(Object.keys(settingsShape(TABLE, "config")), [
    "heat",
    "share",
  ]);
  assert.deepEqual(Object.keys(settingsShape(TABLE)), [
    "cap",
    "ends",
    "old_id",
    "new_id",
    "tier",
  ]);
});
