/** Settings that few formats have, from one to another. */
import {
  checkRows,
  type RequestRow,
  type RequestTable,
} from "../testing/request_table.ts";
import { messagesOf, user } from "../testing/request_samples.ts";

const CHAT: RequestRow["body"] = messagesOf(user("a"));
const RESPONSES: RequestRow["body"] = { input: "a" };

type Case = readonly [
  from: RequestTable["from"],
  to: RequestTable["to"],
  row: RequestRow,
];

const CASES: readonly Case[] = [
  ["chat_completions", "responses", {
    name: "verbosity beside a form of the reply",
    body: { verbosity: "low", response_format: { type: "json_object" } },
    arrives: { text: { format: { type: "json_object" }, verbosity: "low" } },
  }],
  ["chat_completions", "responses", {
    name: "verbosity alone",
    body: { verbosity: "high" },
    arrives: { text: { verbosity: "high" } },
  }],
  ["chat_completions", "generate_content", {
    name: "probabilities of tokens",
    body: { logprobs: true, top_logprobs: 2 },
    arrives: {
      generationConfig: { responseLogprobs: true, logprobs: 2 },
    },
  }],
  ["chat_completions", "responses", {
    name: "probabilities of tokens",
    body: { logprobs: true, top_logprobs: 2 },
    arrives: {
      top_logprobs: 2,
      include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
    },
  }],
  ["responses", "chat_completions", {
    name: "probabilities of the chosen tokens alone",
    body: { include: ["message.output_text.logprobs"] },
    arrives: { logprobs: true, top_logprobs: undefined },
  }],
  ["responses", "generate_content", {
    name: "probabilities of tokens",
    body: { top_logprobs: 3 },
    arrives: { generationConfig: { responseLogprobs: true, logprobs: 3 } },
  }],
  ["responses", "messages", {
    name: "probabilities of tokens are asked of no upstream of the format",
    body: { include: ["message.output_text.logprobs"] },
    dropped: ["include"],
  }],
  ["responses", "messages", {
    name: "alternatives of tokens are asked of no upstream of the format",
    body: { top_logprobs: 3 },
    dropped: ["top_logprobs"],
  }],
  ["responses", "chat_completions", {
    name: "verbosity",
    body: { text: { verbosity: "low" } },
    arrives: { verbosity: "low" },
  }],
  ["responses", "chat_completions", {
    name: "verbosity where the model has none",
    body: { model: "plain", text: { verbosity: "low" } },
    arrives: { verbosity: undefined },
    dropped: ["text.verbosity"],
  }],
  ["responses", "messages", {
    name: "the usual verbosity is no loss",
    body: { text: { verbosity: "medium" } },
  }],
  ["chat_completions", "responses", {
    name: "an unknown verbosity",
    body: { verbosity: "chatty" },
    arrives: { text: undefined },
    dropped: ["verbosity"],
  }],
  ["chat_completions", "responses", {
    name: "a key of the cache",
    body: { prompt_cache_key: "k" },
    arrives: { prompt_cache_key: "k" },
  }],
  ["responses", "chat_completions", {
    name: "a key of the cache",
    body: { prompt_cache_key: "k" },
    arrives: { prompt_cache_key: "k" },
  }],
  ["responses", "chat_completions", {
    name: "its loss is not named: agents send it with every request",
    body: { model: "plain", prompt_cache_key: "k" },
    arrives: { prompt_cache_key: undefined },
  }],
  ["chat_completions", "responses", {
    name: "its loss is named for clients that chose it",
    body: { model: "plain", prompt_cache_key: "k" },
    arrives: { prompt_cache_key: undefined },
    dropped: ["prompt_cache_key"],
  }],
];

for (const [from, to, row] of CASES) {
  Deno.test(`${from} to ${to}`, (t) =>
    checkRows(t, {
      from,
      to,
      base: { model: "able", ...(from === "responses" ? RESPONSES : CHAT) },
      models: { able: { verbosity: true, cacheMarks: "prompt" }, plain: {} },
    }, [row]));
}
