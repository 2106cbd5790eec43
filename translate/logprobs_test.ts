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

function firstOf(reply: JsonObject, key: string): JsonObject {
  return objectOr(arrayOr(reply[key])[0]);
}

Deno.test("chat clients receive the probabilities of a generate-content reply", () => {
  const reply = whole(
    "generate_content",
    chatCompletions,
    GENERATE_CONTENT.whole,
  );
  const choice = firstOf(reply, "choices");
  assert.deepEqual(choice["logprobs"], chatLogprobs(CHAT_TOKENS));
  assert.equal(objectOr(choice["message"])["content"], "Hello");
  const choices = streamed(
    "generate_content",
    chatCompletions,
    GENERATE_CONTENT.frames,
  ).map((frame) => firstOf(frame, "choices"));
  assert.deepEqual(
    choices.flatMap(({ logprobs }) => objectOr(logprobs)["content"] ?? []),
    CHAT_TOKENS,
  );
});

Deno.test("generate-content clients receive the probabilities of a chat reply", () => {
  const reply = whole("chat_completions", generateContent, CHAT.whole);
  const answer = firstOf(reply, "candidates");
  assert.deepEqual(answer["logprobsResult"], WHOLE_RESULT);
  const results = streamed("chat_completions", generateContent, CHAT.frames)
    .flatMap((frame) => firstOf(frame, "candidates")["logprobsResult"] ?? []);
  assert.deepEqual(results, RESULTS);
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

Deno.test("clients of formats without probabilities receive the reply without them", () => {
  for (const to of [messages, responses]) {
    const [withThem, without] = [
      CHAT.whole,
      {
        ...CHAT.whole,
        choices: [{
          ...firstOf(CHAT.whole, "choices"),
          logprobs: null,
        }],
      },
    ].map((body) => JSON.stringify(whole("chat_completions", to, body)));
    assert.equal(withThem, without);
  }
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
