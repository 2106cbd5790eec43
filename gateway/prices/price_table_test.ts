import assert from "node:assert/strict";
import type { ListedModel } from "./listed_card.ts";
import { readPriceTable, type TableKind } from "./price_table.ts";

function rows(text: string): Readonly<Record<string, ListedModel>> {
  return Object.fromEntries(
    readPriceTable(text).models.map((model) => [model.name, model]),
  );
}

const DEAR = {
  input: 5_000_000,
  output: 25_000_000,
  cache_read: 500_000,
  cache_write: 6_250_000,
};

// The text of the numbers matters, so the tables are text as well.
const LITELLM = `{
  "sample_spec": { "input_cost_per_token": 0.0, "litellm_provider": "one of the providers", "mode": "chat" },
  "house-large-1": {
    "cache_creation_input_token_cost": 6.25e-06,
    "cache_creation_input_token_cost_above_1hr": 1e-05,
    "cache_creation_input_token_cost_above_1hr_above_200k_tokens": 2e-05,
    "cache_read_input_token_cost": 5e-07,
    "cache_read_input_token_cost_above_200k_tokens": 1e-06,
    "input_cost_per_token": 5e-06,
    "input_cost_per_token_above_200k_tokens": 1e-05,
    "input_cost_per_token_batches": 2.5e-06,
    "litellm_provider": "anthropic",
    "max_input_tokens": 1000000,
    "mode": "chat",
    "output_cost_per_token": 2.5e-05,
    "output_cost_per_token_above_200k_tokens": 3.75e-05,
    "provider_specific_entry": { "fast": 6.0, "us": 1.1, "preview": 2 },
    "search_context_cost_per_query": {
      "search_context_size_high": 0.01,
      "search_context_size_low": 0.01,
      "search_context_size_medium": 0.01
    },
    "supports_web_search": true
  },
  "house-chat-2": {
    "cache_read_input_token_cost": 1.25e-07,
    "cache_read_input_token_cost_priority": 2.5e-07,
    "input_cost_per_audio_token": 3.2e-05,
    "input_cost_per_image_token": 1e-06,
    "input_cost_per_request": 0.002,
    "input_cost_per_token": 0.00000125,
    "input_cost_per_token_above_272k_tokens_priority": 5e-06,
    "input_cost_per_token_flex": 6.25e-07,
    "input_cost_per_token_priority": 2.5e-06,
    "litellm_provider": "openai",
    "mode": "responses",
    "output_cost_per_audio_token": 6.4e-05,
    "output_cost_per_image_token": 4e-05,
    "output_cost_per_reasoning_token": 1e-05,
    "output_cost_per_token": 1e-05,
    "output_cost_per_token_flex": 5e-06,
    "output_cost_per_token_priority": 2e-05,
    "regional_processing_uplift_multiplier_eu": 1.1,
    "search_context_cost_per_query": {
      "search_context_size_high": 0.05,
      "search_context_size_low": 0.03,
      "search_context_size_medium": 0.035
    }
  },
  "gemini/house-3": {
    "input_cost_per_token": 2e-06,
    "litellm_provider": "gemini",
    "output_cost_per_reasoning_token": 1.3e-05,
    "output_cost_per_token": 1.2e-05
  },
  "bedrock/us-east-1/maker.house-1:0": {
    "input_cost_per_token": 1.1e-06,
    "litellm_provider": "bedrock_converse",
    "mode": "chat",
    "output_cost_per_token": 2.2e-06
  },
  "dashscope/house-tiers": {
    "litellm_provider": "dashscope",
    "mode": "chat",
    "tiered_pricing": [{ "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06, "range": [0, 32000.0] }]
  },
  "plan/house-free": { "input_cost_per_token": 0.0, "litellm_provider": "plan", "mode": "chat", "output_cost_per_token": 0.0 },
  "house-noise": {
    "input_cost_per_token": 1.1000000000000001e-06,
    "litellm_provider": "openai",
    "mode": "chat",
    "output_cost_per_token": 2e-06
  },
  "house-embeddings": { "input_cost_per_token": 1e-08, "litellm_provider": "openai", "mode": "embedding" }
}`;

Deno.test("readPriceTable() reads LiteLLM's rates, conditions, factors and uses", () => {
  const { name, names, maxInputTokens, card, notes, problems } =
    rows(LITELLM)["house-large-1"] ?? {};
  assert.equal(name, "house-large-1");
  assert.deepEqual(names, [{ provider: "anthropic", model: "house-large-1" }]);
  assert.equal(maxInputTokens, 1_000_000);
  assert.deepEqual(problems, []);
  assert.deepEqual(card, {
    rates: { ...DEAR, cache_write_1h: 10_000_000 },
    uses: { web_search: 10_000 },
    when: [
      {
        prompt_above: 200_000,
        rates: {
          cache_write_1h: 20_000_000,
          cache_read: 1_000_000,
          input: 10_000_000,
          output: 37_500_000,
        },
      },
      { speed: "fast", factor: 6 },
      { region: "us", factor: 1.1 },
    ],
  });
  assert.deepEqual(notes, [
    "provider_specific_entry.preview: not part of the card",
  ]);
});

Deno.test("readPriceTable() reads LiteLLM's tiers, modalities and the dearest search", () => {
  const { card, notes } = rows(LITELLM)["house-chat-2"] ?? {};
  assert.deepEqual(card, {
    rates: {
      input: 1_250_000,
      output: 10_000_000,
      cache_read: 125_000,
      audio_input: 32_000_000,
      audio_output: 64_000_000,
      image_input: 1_000_000,
      image_output: 40_000_000,
    },
    uses: { web_search: 50_000 },
    call: 2_000,
    when: [
      { tier: "priority", factor: 2 },
      { tier: "priority", prompt_above: 272_000, rates: { input: 5_000_000 } },
      { tier: "flex", rates: { input: 625_000, output: 5_000_000 } },
    ],
  });
  assert.deepEqual(notes, [
    "regional_processing_uplift_multiplier_eu: not part of the card",
    "search_context_cost_per_query.search_context_size_high: the dearest size counts for all",
  ]);
});

Deno.test("readPriceTable() names the field that no card can express", async (t) => {
  const problems: Readonly<Record<string, RegExp>> = {
    "gemini/house-3":
      /^output_cost_per_reasoning_token: a card has no rate for reasoning alone$/,
    "dashscope/house-tiers": /^tiered_pricing: a card has no such condition/,
    "plan/house-free": /^input and output: cost nothing there/,
    "house-noise":
      /^input_cost_per_token: 1\.1000000000000001e-06 is no whole number/,
  };
  for (const [name, problem] of Object.entries(problems)) {
    await t.step(name, () => {
      const row = rows(LITELLM)[name];
      assert.equal(row?.card, undefined);
      assert.match(row?.problems[0] ?? "", problem);
    });
  }
});

Deno.test("readPriceTable() leaves LiteLLM's sample and other modes out, and tells regions apart", () => {
  const read = rows(LITELLM);
  assert.equal(read["sample_spec"], undefined);
  assert.equal(read["house-embeddings"], undefined);
  const { names, region } = read["bedrock/us-east-1/maker.house-1:0"] ?? {};
  assert.deepEqual({ names, region }, {
    names: [{ provider: "bedrock_converse", model: "maker.house-1:0" }],
    region: "us-east-1",
  });
});

const MODELS_DEV = `{
  "anthropic": {
    "id": "anthropic",
    "models": {
      "house-large-1": {
        "id": "house-large-1",
        "cost": { "input": 5, "output": 25, "cache_read": 0.5, "cache_write": 6.25 },
        "experimental": { "modes": { "fast": {
          "cost": { "input": 30, "output": 150, "cache_read": 3, "cache_write": 37.5 },
          "provider": { "body": { "speed": "fast" }, "headers": { "anthropic-beta": "fast" } }
        } } },
        "limit": { "context": 1000000, "output": 64000 }
      }
    }
  },
  "openai": {
    "id": "openai",
    "models": {
      "house-chat-2": {
        "cost": {
          "input": 1.25, "output": 10, "cache_read": 0.125, "reasoning": 10, "input_audio": 32, "output_audio": 64,
          "tiers": [{ "input": 2.5, "output": 15, "tier": { "type": "context", "size": 272000 } }],
          "context_over_200k": { "input": 2.5, "output": 15 }
        },
        "experimental": { "modes": {
          "fast": { "cost": { "input": 2.5, "output": 20 }, "provider": { "body": { "service_tier": "priority" } } },
          "other": { "cost": { "input": 9, "output": 9 } }
        } }
      },
      "house-unknown": { "cost": { "input": 1, "output": 2, "per_mood": 3 } },
      "house-mode": { "cost": { "input": 1, "output": 2, "tiers": [{ "input": 2, "tier": { "type": "output", "size": 5 } }] } },
      "house-thinking": { "cost": { "input": 1, "output": 2, "reasoning": 3 } },
      "house-without": { "limit": {} }
    }
  },
  "google": {
    "models": {
      "house-3": { "cost": { "input": 2, "output": 12, "context_over_200k": { "input": 4, "output": 18 } } }
    }
  }
}`;

Deno.test("readPriceTable() reads the rates, steps and modes of models.dev", () => {
  const read = rows(MODELS_DEV);
  assert.deepEqual(read["anthropic/house-large-1"]?.card, {
    rates: DEAR,
    uses: {},
    when: [{ speed: "fast", factor: 6 }],
  });
  assert.deepEqual(read["openai/house-chat-2"]?.card, {
    rates: {
      input: 1_250_000,
      output: 10_000_000,
      cache_read: 125_000,
      audio_input: 32_000_000,
      audio_output: 64_000_000,
    },
    uses: {},
    when: [
      {
        prompt_above: 272_000,
        rates: { input: 2_500_000, output: 15_000_000 },
      },
      { tier: "priority", factor: 2 },
    ],
  });
  assert.deepEqual(read["openai/house-chat-2"]?.notes, [
    "experimental.modes.other: not part of the card",
  ]);
  const rates = { input: 4_000_000, output: 18_000_000 };
  assert.deepEqual(
    read["google/house-3"]?.card?.when,
    [{ prompt_above: 200_000, rates }],
  );
  assert.equal(read["openai/house-without"], undefined);
});

Deno.test("readPriceTable() names what a row of models.dev has and no card", () => {
  const read = rows(MODELS_DEV);
  for (
    const [name, problem] of [
      ["unknown", "per_mood: is not known"],
      ["mode", "tiers.0.tier: a card has no such condition"],
      ["thinking", "reasoning: a card has no rate for reasoning alone"],
    ] as const
  ) {
    const found = read[`openai/house-${name}`]?.problems;
    assert.deepEqual(found, [`cost.${problem}`]);
  }
});

const OPEN_ROUTER = `{
  "data": [
    {
      "id": "anthropic/house-large-1.1",
      "context_length": 1000000,
      "pricing": {
        "prompt": "0.000005", "completion": "0.000025", "request": "0", "image": "0.0048", "web_search": "0.01",
        "internal_reasoning": "0", "input_cache_read": "0.0000005", "input_cache_write": "0.00000625",
        "input_cache_write_1h": "0.00001",
        "overrides": [{ "min_prompt_tokens": 200001, "prompt": "0.00001" }]
      }
    },
    {
      "id": "google/house-3",
      "pricing": {
        "prompt": "0.000002", "completion": "0.000012", "image": "0.000002", "audio": "0.000003", "request": "0.001",
        "internal_reasoning": "0.000012"
      }
    },
    { "id": "openrouter/auto", "pricing": { "prompt": "-1", "completion": "-1" } },
    { "id": "maker/house-written", "pricing": { "prompt": "0.000002", "completion": "0.000012", "input_cache_write": "0.0000000833333333333" } },
    { "id": "maker/house-odd", "pricing": { "prompt": "0.000002", "completion": "0.000012", "discount": 0.5, "internal_reasoning": "1" } }
  ]
}`;

Deno.test("readPriceTable() reads OpenRouter's strings", () => {
  const read = rows(OPEN_ROUTER);
  const large = read["anthropic/house-large-1.1"];
  assert.deepEqual(large?.names, [
    { provider: "openrouter", model: "anthropic/house-large-1.1" },
    { provider: "anthropic", model: "house-large-1.1" },
  ]);
  assert.deepEqual(large?.card, {
    rates: { ...DEAR, cache_write_1h: 10_000_000 },
    uses: { web_search: 10_000 },
    when: [{ prompt_above: 200_000, rates: { input: 10_000_000 } }],
  });
  assert.deepEqual(large?.notes, ["pricing.image: not part of the card"]);
  assert.deepEqual(read["google/house-3"]?.card, {
    rates: {
      input: 2_000_000,
      output: 12_000_000,
      image_input: 2_000_000,
      audio_input: 3_000_000,
    },
    uses: {},
    call: 1_000,
    when: [],
  });
  assert.deepEqual(
    read["openrouter/auto"]?.problems[0],
    "pricing.prompt: -1 is below zero",
  );
  assert.match(
    read["maker/house-written"]?.problems[0] ?? "",
    /^pricing\.input_cache_write: .* no whole number/,
  );
  assert.deepEqual(read["maker/house-odd"]?.problems, [
    "pricing.discount: is not known",
    "pricing.internal_reasoning: a card has no rate for reasoning alone",
  ]);
});

Deno.test("readPriceTable() recognises each table by its shape, and refuses anything else", () => {
  const kinds: Readonly<Record<TableKind, string>> = {
    litellm: LITELLM,
    "models.dev": MODELS_DEV,
    openrouter: OPEN_ROUTER,
  };
  for (const [kind, text] of Object.entries(kinds)) {
    assert.equal(readPriceTable(text).kind, kind);
  }
  assert.equal(readPriceTable(LITELLM, "litellm").kind, "litellm");
  assert.throws(
    () => readPriceTable(LITELLM, "openrouter"),
    /file: does not have the shape of openrouter/,
  );
  for (const text of ["", "[]", "{}", '{"data":[]}', "3", "null"]) {
    assert.throws(() => readPriceTable(text), /file: /);
  }
});

Deno.test("readPriceTable() never throws anything else for spoiled tables", () => {
  for (const table of [LITELLM, MODELS_DEV, OPEN_ROUTER]) {
    const tokens = table.match(/"[^"]*"(?=\s*:)|[-\d.e]+(?=\s*[,}\]])/g) ?? [];
    for (const token of new Set(tokens)) {
      for (const other of ["null", '"x"', "{}", "[1]", "true", "-3"]) {
        const text = token.startsWith('"')
          ? table.replace(`${token}:`, `${token}: ${other}, "y":`)
          : table.replace(token, other);
        try {
          readPriceTable(text);
        } catch (error) {
          assert.match(String(error), /ApiError|file: /);
        }
      }
    }
  }
});
