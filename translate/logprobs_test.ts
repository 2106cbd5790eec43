/** The probabilities of a reply's tokens, between the formats that have them. */
import assert from "node:assert/strict";
import { arrayOr, type JsonObject, objectOr } from "./bytes/json.ts";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import { generateContent } from "./formats/generate_content/mod.ts";
import { messages } from "./formats/messages/mod.ts";
import { responses } from "./formats/responses/mod.ts";
import { streamed, whole } from "./testing/relayed.ts";

const chatEntry = (token: string, logprob: number, likeliest: unknown[]) => ({
  token,
  logprob,
  bytes: null,
  top_logprobs: likeliest,
});
const chatOther = (token: string, logprob: number) => ({
  token,
  logprob,
  bytes: null,
});
const CHAT_TOKENS = [
  chatEntry("Hel", -0.25, [chatOther("Hel", -0.25), chatOther("Bye", -1.5)]),
  chatEntry("lo", 0, [chatOther("lo", 0), chatOther("p", -9999)]),
];
const chatLogprobs = (content: readonly unknown[]): JsonObject => ({
  content,
  refusal: null,
});

const token = (text: string, logProbability: number): JsonObject => ({
  token: text,
  logProbability,
});
const RESULTS = [
  {
    chosenCandidates: [token("Hel", -0.25)],
    topCandidates: [{ candidates: [token("Hel", -0.25), token("Bye", -1.5)] }],
  },
  {
    chosenCandidates: [token("lo", 0)],
    topCandidates: [{ candidates: [token("lo", 0), token("p", -9999)] }],
  },
];
const WHOLE_RESULT = {
  chosenCandidates: RESULTS.flatMap((one) => one.chosenCandidates),
  topCandidates: RESULTS.flatMap((one) => one.topCandidates),
};

const chatChoice = (fields: JsonObject): JsonObject => ({
  id: "c",
  choices: [{ index: 0, ...fields }],
});
const candidate = (text: string, fields: JsonObject): JsonObject => ({
  candidates: [{
    index: 0,
    content: { role: "model", parts: [{ text }] },
    ...fields,
  }],
});

const CHAT = {
  whole: chatChoice({
    message: { content: "Hello" },
    logprobs: chatLogprobs(CHAT_TOKENS),
    finish_reason: "stop",
  }),
  frames: [
    ...["Hel", "lo"].map((content, at) =>
      chatChoice({
        delta: { content },
        logprobs: chatLogprobs(CHAT_TOKENS.slice(at, at + 1)),
      })
    ),
    chatChoice({ delta: {}, logprobs: null, finish_reason: "stop" }),
  ],
};
const GENERATE_CONTENT = {
  whole: candidate("Hello", {
    finishReason: "STOP",
    logprobsResult: WHOLE_RESULT,
  }),
  frames: [
    candidate("Hel", { logprobsResult: RESULTS[0] }),
    candidate("lo", { logprobsResult: RESULTS[1], finishReason: "STOP" }),
  ],
};

const RESPONSES_TOKENS = CHAT_TOKENS.map((entry) => ({
  ...entry,
  bytes: [],
  top_logprobs: entry.top_logprobs.map((other) => ({
    ...objectOr(other),
    bytes: [],
  })),
}));
const item = (text: string, logprobs: readonly unknown[]): JsonObject => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [], logprobs }],
});
const PLACE = { item_id: "msg_1", output_index: 0, content_index: 0 };
const RESPONSES = {
  whole: {
    id: "r",
    status: "completed",
    output: [item("Hello", CHAT_TOKENS)],
  },
  frames: [
    ...["Hel", "lo"].map((delta, at) => ({
      type: "response.output_text.delta",
      ...PLACE,
      delta,
      logprobs: CHAT_TOKENS.slice(at, at + 1),
    })),
    {
      type: "response.output_text.done",
      ...PLACE,
      text: "Hello",
      logprobs: CHAT_TOKENS,
    },
    {
      type: "response.output_item.done",
      output_index: 0,
      item: item("Hello", CHAT_TOKENS),
    },
    {
      type: "response.completed",
      response: {
        id: "r",
        status: "completed",
        output: [item("Hello", CHAT_TOKENS)],
      },
    },
  ],
};

function firstOf(reply: JsonObject, key: string): JsonObject {
  return objectOr(arrayOr(reply[key])[0]);
}

const REPLIES = {
  chat_completions: CHAT,
  generate_content: GENERATE_CONTENT,
  responses: RESPONSES,
};
const FORMATS = ["chat_completions", "generate_content", "responses"] as const;

for (const from of FORMATS) {
  const reply = REPLIES[from];
  Deno.test(`chat clients receive the probabilities of a reply of ${from}`, () => {
    const choice = firstOf(
      whole(from, chatCompletions, reply.whole),
      "choices",
    );
    assert.deepEqual(choice["logprobs"], chatLogprobs(CHAT_TOKENS));
    assert.equal(objectOr(choice["message"])["content"], "Hello");
    const choices = streamed(from, chatCompletions, reply.frames)
      .map((frame) => firstOf(frame, "choices"));
    assert.deepEqual(
      choices.flatMap(({ logprobs }) => objectOr(logprobs)["content"] ?? []),
      CHAT_TOKENS,
    );
  });

  Deno.test(`generate-content clients receive the probabilities of a reply of ${from}`, () => {
    const answer = firstOf(
      whole(from, generateContent, reply.whole),
      "candidates",
    );
    assert.deepEqual(answer["logprobsResult"], WHOLE_RESULT);
    const results = streamed(from, generateContent, reply.frames)
      .flatMap((frame) => firstOf(frame, "candidates")["logprobsResult"] ?? []);
    assert.deepEqual(results, RESULTS);
  });

  Deno.test(`Responses clients receive the probabilities of a reply of ${from}`, () => {
    const part = (response: unknown): JsonObject =>
      firstOf(firstOf(objectOr(response), "output"), "content");
    const { text, logprobs } = part(whole(from, responses, reply.whole));
    assert.equal(text, "Hello");
    assert.deepEqual(logprobs, RESPONSES_TOKENS);
    const frames = streamed(from, responses, reply.frames);
    const deltas = frames.filter(({ type }) =>
      type === "response.output_text.delta"
    );
    assert.deepEqual(
      deltas.map((frame) => [frame["delta"], frame["logprobs"]]),
      [["Hel", RESPONSES_TOKENS.slice(0, 1)], [
        "lo",
        RESPONSES_TOKENS.slice(1),
      ]],
    );
    const done = frames.find(({ type }) =>
      type === "response.output_text.done"
    );
    assert.deepEqual(done?.["logprobs"], RESPONSES_TOKENS);
    assert.deepEqual(
      part(frames.at(-1)?.["response"])["logprobs"],
      RESPONSES_TOKENS,
    );
  });
}

Deno.test("the probabilities of two equal frames reach the client twice", () => {
  const same = (fields: JsonObject): JsonObject[] => [
    chatChoice({ delta: { content: "a" } }),
    chatChoice(fields),
    chatChoice(fields),
    chatChoice({ delta: {}, finish_reason: "stop" }),
  ];
  const frames = streamed(
    "chat_completions",
    generateContent,
    same({
      delta: { content: "!" },
      logprobs: chatLogprobs([chatEntry("!", 0, [])]),
    }),
  );
  const tokens = frames.flatMap((frame) =>
    firstOf(frame, "candidates")["logprobsResult"] ?? []
  );
  assert.deepEqual(tokens, [
    { chosenCandidates: [token("!", 0)] },
    { chosenCandidates: [token("!", 0)] },
  ]);
});

Deno.test("the bytes of a token are kept", () => {
  const entry = { token: "\ufffd", logprob: 0, bytes: [240], top_logprobs: [] };
  const reply = whole(
    "chat_completions",
    responses,
    chatChoice({
      message: { content: "x" },
      logprobs: chatLogprobs([entry]),
      finish_reason: "stop",
    }),
  );
  const message = firstOf(reply, "output");
  assert.deepEqual(firstOf(message, "content")["logprobs"], [entry]);
});

Deno.test("probabilities of the chosen tokens alone have no alternatives", () => {
  const reply = whole("chat_completions", generateContent, {
    ...chatChoice({
      message: { content: "Hel" },
      logprobs: { content: [{ token: "Hel", logprob: -0.25 }] },
      finish_reason: "stop",
    }),
  });
  assert.deepEqual(firstOf(reply, "candidates")["logprobsResult"], {
    chosenCandidates: [token("Hel", -0.25)],
  });
});

Deno.test("clients of the messages format receive the reply without probabilities", () => {
  const [withThem, without] = [
    CHAT.whole,
    {
      ...CHAT.whole,
      choices: [{
        ...firstOf(CHAT.whole, "choices"),
        logprobs: null,
      }],
    },
  ].map((body) => JSON.stringify(whole("chat_completions", messages, body)));
  assert.equal(withThem, without);
});

Deno.test("probabilities that are no numbers, or of no token, are left out", () => {
  const entry = { token: "a", logprob: -1, top_logprobs: [] };
  const reply = whole(
    "chat_completions",
    generateContent,
    chatChoice({
      message: { content: "a" },
      logprobs: {
        content: [{ ...entry, logprob: "x" }, null, { logprob: -1 }, entry, 7],
      },
      finish_reason: "stop",
    }),
  );
  assert.deepEqual(firstOf(reply, "candidates")["logprobsResult"], {
    chosenCandidates: [token("a", -1)],
  });
});
