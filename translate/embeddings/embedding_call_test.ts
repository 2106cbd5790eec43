import { atOnce } from "../steps.ts";
import assert from "node:assert/strict";
import type { JsonObject } from "../bytes/json.ts";
import { topLevelOf } from "../bytes/json_splice.ts";
import { ApiError } from "../model/error.ts";
import {
  embeddingReply,
  embeddingReplySteps,
  embeddingRequest,
  readEmbeddings,
  readManyEmbeddings,
} from "./embedding_call.ts";
import type { EmbeddingForm } from "./embedding_form.ts";
import { decodeEmbeddings } from "./embedding_request.ts";

const bytesOf = (value: unknown): Uint8Array =>
  new TextEncoder().encode(
    typeof value === "string" ? value : JSON.stringify(value),
  );
const jsonOf = (bytes: Uint8Array): unknown =>
  JSON.parse(new TextDecoder().decode(bytes));

function sent(form: EmbeddingForm, body: JsonObject) {
  const bytes = bytesOf(body);
  const { bytes: written, dropped } = atOnce(embeddingRequest(
    { request: decodeEmbeddings(body), bytes, top: topLevelOf(bytes) },
    form,
    "up",
  ));
  return { body: jsonOf(written), dropped };
}

const REQUESTS: readonly {
  readonly form: EmbeddingForm;
  readonly body: JsonObject;
  readonly sent: unknown;
  readonly dropped?: readonly string[];
}[] = [
  {
    form: "chat",
    body: { model: "m", input: [[1, 2]], user: "u", dimensions: 9, own: 1 },
    sent: { model: "up", input: [[1, 2]], user: "u", dimensions: 9, own: 1 },
  },
  {
    form: "generate_content",
    body: { model: "m", input: ["a", "b"], dimensions: 9, user: "u" },
    sent: {
      requests: [
        {
          model: "models/up",
          content: { parts: [{ text: "a" }] },
          outputDimensionality: 9,
        },
        {
          model: "models/up",
          content: { parts: [{ text: "b" }] },
          outputDimensionality: 9,
        },
      ],
    },
    dropped: ["user"],
  },
  {
    form: "titan",
    body: { model: "m", input: "a", dimensions: 256 },
    sent: { inputText: "a", dimensions: 256 },
  },
  {
    form: "cohere",
    body: { model: "m", input: ["a", "b"], encoding_format: "base64" },
    sent: {
      texts: ["a", "b"],
      input_type: "search_document",
      embedding_types: ["float"],
    },
  },
];

for (const { form, body, sent: expected, dropped = [] } of REQUESTS) {
  Deno.test(`a request for embeddings in the form ${form}`, () => {
    assert.deepEqual(sent(form, body), { body: expected, dropped });
  });
}

const REFUSED: readonly (readonly [EmbeddingForm, JsonObject, string])[] = [
  ["chat", { input: "a" }, "model"],
  ["chat", { model: "m" }, "input"],
  ["chat", { model: "m", input: "" }, "input"],
  ["chat", { model: "m", input: [] }, "input"],
  ["chat", { model: "m", input: [""] }, "input"],
  ["chat", { model: "m", input: ["a", 1] }, "input"],
  ["chat", { model: "m", input: [[]] }, "input"],
  ["chat", { model: "m", input: { a: 1 } }, "input"],
  ["chat", { model: "m", input: Array(2049).fill("a") }, "input"],
  ["chat", { model: "m", input: "a", dimensions: 0 }, "dimensions"],
  [
    "chat",
    { model: "m", input: "a", encoding_format: "hex" },
    "encoding_format",
  ],
  ["generate_content", { model: "m", input: [1, 2] }, "input"],
  ["titan", { model: "m", input: ["a", "b"] }, "input"],
];

for (const [form, body, param] of REFUSED) {
  Deno.test(`${JSON.stringify(body).slice(0, 60)} is refused by ${form} at ${param}`, () => {
    assert.throws(() => sent(form, body), (error) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.kind, "invalid_request");
      assert.match(error.details.param ?? "", new RegExp(`^${param}`));
      return true;
    });
  });
}

/** [1, -2] as 32-bit floats. */
const BASE64 = "AACAPwAAAMA=";

const REPLIES: readonly {
  readonly name: string;
  readonly form: EmbeddingForm;
  readonly encoding?: "float" | "base64";
  readonly upstream: unknown;
  readonly headers?: Record<string, string>;
  readonly vector: unknown;
  readonly inputTokens?: number;
}[] = [
  {
    name: "the chat form in the encoding that was asked for",
    form: "chat",
    upstream: {
      object: "list",
      model: "up",
      data: [{ object: "embedding", index: 0, embedding: [1, -2] }],
      usage: { prompt_tokens: 3, total_tokens: 3 },
    },
    vector: [1, -2],
    inputTokens: 3,
  },
  {
    name: "numbers from an upstream that does not know base64",
    form: "chat",
    encoding: "base64",
    upstream: {
      data: [{ embedding: [1, -2] }],
      usage: { prompt_tokens: 3 },
    },
    vector: BASE64,
    inputTokens: 3,
  },
  {
    name: "base64 that was not asked for, without usage",
    form: "chat",
    upstream: { data: [{ embedding: BASE64 }] },
    vector: [1, -2],
  },
  {
    name: "generate content",
    form: "generate_content",
    upstream: { embeddings: [{ values: [1, -2] }] },
    vector: [1, -2],
  },
  {
    name: "Titan",
    form: "titan",
    encoding: "base64",
    upstream: { embedding: [1, -2], inputTextTokenCount: 5 },
    vector: BASE64,
    inputTokens: 5,
  },
  {
    name: "Cohere by type",
    form: "cohere",
    upstream: { embeddings: { float: [[1, -2]] } },
    headers: { "x-amzn-bedrock-input-token-count": "6" },
    vector: [1, -2],
    inputTokens: 6,
  },
  {
    name: "Cohere as a list",
    form: "cohere",
    upstream: { embeddings: [[1, -2]] },
    vector: [1, -2],
  },
];

for (
  const {
    name,
    form,
    encoding = "float",
    upstream,
    headers,
    vector,
    inputTokens,
  } of REPLIES
) {
  Deno.test(`a reply with embeddings: ${name}`, () => {
    const reply = embeddingReply(
      { form, request: { model: "m", encoding }, count: 1, inputEstimate: 7 },
      readEmbeddings(bytesOf(upstream)),
      new Headers(headers),
    );
    const used = inputTokens ?? 7;
    assert.deepEqual(jsonOf(reply.body), {
      object: "list",
      data: [{ object: "embedding", index: 0, embedding: vector }],
      model: "m",
      usage: { prompt_tokens: used, total_tokens: used },
    });
    assert.equal(reply.inputTokens, inputTokens);
  });
}

Deno.test("vectors that are written anew are those of the inputs that the upstream names", () => {
  const reading = {
    form: "chat",
    request: { model: "m", encoding: "base64" },
    count: 2,
    inputEstimate: 7,
  } as const;
  const entry = (index: number, embedding: readonly number[]) => ({
    index,
    embedding,
  });
  const { body, inputTokens } = embeddingReply(
    reading,
    readEmbeddings(bytesOf({
      data: [entry(1, [3, 3]), entry(0, [1, -2])],
      // Zero tokens are no count.
      usage: { prompt_tokens: 0, total_tokens: 0 },
    })),
    new Headers(),
  );
  assert.deepEqual(jsonOf(body), {
    object: "list",
    data: [
      { object: "embedding", index: 0, embedding: BASE64 },
      { object: "embedding", index: 1, embedding: "AABAQAAAQEA=" },
    ],
    model: "m",
    usage: { prompt_tokens: 7, total_tokens: 7 },
  });
  assert.equal(inputTokens, undefined);
  assert.throws(() =>
    embeddingReply(
      reading,
      readEmbeddings(bytesOf({ data: [entry(0, [3]), entry(0, [1])] })),
      new Headers(),
    )
  );
});

Deno.test("a chat upstream's reply keeps its own bytes but the model's id", () => {
  const upstream =
    '{ "data":[{"embedding":[0.12345678901234567890]}],"model":"up", "usage":{"prompt_tokens":1}, "own":1}';
  const { body } = embeddingReply(
    {
      form: "chat",
      request: { model: "m", encoding: "float" },
      count: 1,
      inputEstimate: 1,
    },
    readEmbeddings(bytesOf(upstream)),
    new Headers(),
  );
  assert.equal(
    new TextDecoder().decode(body),
    upstream.replace('"up"', '"m"'),
  );
});

const USED = { prompt_tokens: 3, total_tokens: 3 };
const BROKEN: readonly (readonly [EmbeddingForm, unknown, "base64"?])[] = [
  ["chat", "<html>"],
  ["chat", "[1]"],
  ["chat", {}],
  ["chat", { data: [] }],
  ["chat", { data: [{ embedding: [1] }, { embedding: [1] }] }],
  ["chat", { data: [{ embedding: [] }] }],
  ["chat", { data: [{ embedding: ["1"] }] }],
  ["chat", { data: [{ embedding: "no base64!" }] }],
  ["chat", { data: [{ embedding: "AAAA" }] }],
  ["chat", { data: [{ embedding: "AAAA" }], usage: USED }, "base64"],
  ["chat", { data: [{ embedding: "%%%" }], usage: USED }, "base64"],
  ["chat", { data: [{ embedding: "" }], usage: USED }, "base64"],
  ["chat", { data: [{ embedding: "AADAfw==" }] }],
  ["chat", { data: [{ embedding: "AADAfw==" }], usage: USED }, "base64"],
  ["chat", { data: [{ embedding: "%%%%%%==" }], usage: USED }, "base64"],
  ["chat", { data: [{ embedding: [1e39] }], usage: USED }, "base64"],
  ["titan", { embedding: [-1e308] }, "base64"],
  ["chat", '{"data":[{"embedding":[1e400]}]}'],
  ["chat", { data: [{ embedding: [1], index: 1 }] }],
  ["chat", { data: [{ embedding: [1], index: "0" }] }],
  ["generate_content", { embeddings: [{}] }],
  ["titan", { embedding: null }],
  ["cohere", { embeddings: { int8: [[1]] } }],
];

for (const [form, upstream, encoding = "float"] of BROKEN) {
  Deno.test(`no embeddings from ${form}, ${encoding}: ${JSON.stringify(upstream)}`, () => {
    assert.throws(
      () =>
        embeddingReply(
          {
            form,
            request: { model: "m", encoding },
            count: 1,
            inputEstimate: 1,
          },
          readEmbeddings(bytesOf(upstream)),
          new Headers(),
        ),
      (error) => error instanceof ApiError && error.kind === "upstream",
    );
  });
}

Deno.test("an error under the status 200 is that error", () => {
  const body = { error: { message: "No quota", code: "insufficient_quota" } };
  for (const form of ["chat", "generate_content", "titan"] as const) {
    assert.throws(
      () =>
        embeddingReply(
          {
            form,
            request: { model: "m", encoding: "float" },
            count: 1,
            inputEstimate: 1,
          },
          readEmbeddings(bytesOf(body)),
          new Headers(),
        ),
      (error) =>
        error instanceof ApiError && error.kind === "upstream" &&
        error.details.refused === "account",
    );
  }
});

Deno.test("a reply of many vectors is read and written in steps, and none may be longer than any model's", () => {
  const reading = {
    form: "cohere",
    request: { model: "m", encoding: "base64" },
    count: 100,
    inputEstimate: 7,
  } as const;
  const of = (length: number, count: number) =>
    embeddingReplySteps(
      { ...reading, count },
      readEmbeddings(bytesOf({
        embeddings: Array.from({ length: count }, () => Array(length).fill(1)),
      })),
      new Headers(),
    );
  assert.ok([...of(1, 100)].length >= 200);
  assert.equal([...of(65_536, 1)].length, 2);
  assert.throws(() => [...of(65_537, 1)], ApiError);
});

Deno.test("vectors of different lengths are no reply", () => {
  const lists: readonly (readonly [EmbeddingForm, unknown])[] = [
    ["chat", {
      data: [{ embedding: [1] }, { embedding: [1, 2] }],
      usage: USED,
    }],
    ["chat", {
      data: [{ embedding: BASE64 }, { embedding: [1] }],
      usage: USED,
    }],
    ["chat", {
      data: [{ embedding: BASE64 }, { embedding: "AADAfw==" }],
      usage: USED,
    }],
    ["generate_content", { embeddings: [{ values: [1] }, { values: [1, 2] }] }],
    ["cohere", { embeddings: [[1], [1, 2]] }],
  ];
  for (const [form, upstream] of lists) {
    for (const encoding of ["float", "base64"] as const) {
      assert.throws(
        () =>
          embeddingReply(
            {
              form,
              request: { model: "m", encoding },
              count: 2,
              inputEstimate: 1,
            },
            readEmbeddings(bytesOf(upstream)),
            new Headers(),
          ),
        (error) => error instanceof ApiError && error.kind === "upstream",
        JSON.stringify(upstream),
      );
    }
  }
});

Deno.test("a large reply of more numbers than its bound is refused", () => {
  const bytes = bytesOf({ data: [{ embedding: Array(2_000).fill(1) }] });
  const read = (maxParts: number): unknown => {
    const steps = readManyEmbeddings(bytes, maxParts);
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value.json;
    }
  };
  assert.deepEqual(read(2_100), jsonOf(bytes));
  assert.throws(
    () => read(1_900),
    (error) => error instanceof ApiError && error.kind === "upstream",
  );
});

Deno.test("a large reply is read in steps, as one that is read at once", () => {
  const vector = Array.from({ length: 40_000 }, (_, at) => at / 7);
  const bytes = bytesOf({
    data: [{ embedding: vector, index: 0 }, { embedding: vector, index: 1 }],
    usage: { prompt_tokens: 3 },
  });
  const drained = (given: Uint8Array) => {
    const steps = readManyEmbeddings(given);
    for (let count = 0;; count++) {
      const { done, value } = steps.next();
      if (done === true) return { count, value };
    }
  };
  const { count, value } = drained(bytes);
  assert.ok(count > 10, `${count} steps`);
  assert.deepEqual(value, { ...readEmbeddings(bytes), top: value.top });
  assert.deepEqual(value.top.fields, readEmbeddings(bytes).top.fields);
  assert.throws(
    () => drained(bytes.subarray(0, -1)),
    (error) => error instanceof ApiError && error.kind === "upstream",
  );
});

Deno.test("a long request is written in steps, and equals a short one's form", () => {
  const inputs = Array.from(
    { length: 300 },
    (_, at) => `${at} é\u{1f600}"`.repeat(2_000),
  );
  const body = { model: "m", input: inputs };
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const client = {
    request: decodeEmbeddings(body),
    bytes,
    top: topLevelOf(bytes),
  };
  const steps = embeddingRequest(client, "cohere", "up");
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count++;
  assert.ok(count > 20, `${count} steps`);
  const written = JSON.parse(new TextDecoder().decode(step.value.bytes));
  assert.deepEqual(written.texts, inputs);
});
