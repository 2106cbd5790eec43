import assert from "node:assert/strict";
import { compact } from "../bytes/compact.ts";
import { encodeError as encodeChatError } from "../formats/chat_completions/error.ts";
import {
  isContextOverflow,
  overflowNumbers,
  withNumbers,
} from "./context_overflow.ts";
import { ApiError } from "../model/error.ts";
import { isObject } from "../bytes/json.ts";
import { encodeError as encodeMessagesError } from "../formats/messages/error.ts";
import {
  encodeError as encodeResponsesError,
  streamError,
} from "../formats/responses/error.ts";

Deno.test("a long text is searched for numbers in no longer than its bytes take", () => {
  // Where it takes as long as the square or the cube of them, this takes minutes.
  const half = 60_000;
  for (
    const text of [
      `${"1000 tokens ".repeat(half / 12)}${"limit ".repeat(half / 6)}`,
      "1".repeat(10 * half),
      "model token limit: 1".repeat(half / 20),
    ]
  ) assert.equal(overflowNumbers(`context window ${text}`), undefined);
});

/** Wordings of vendors and servers, with prompt, limit and output cap where they give them. */
const WORDINGS: readonly (readonly [string, number?, number?, number?])[] = [
  ["prompt is too long: 210000 tokens > 200000 maximum", 210000, 200000],
  [
    "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000, decrease input length or `max_tokens` and try again",
    180000,
    200000,
    32000,
  ],
  [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130,000 tokens (129000 in the messages, 1000 in the functions). Please reduce the length of the messages or functions.",
    130000,
    128000,
  ],
  [
    "This model's maximum context length is 4097 tokens, however you requested 5000 tokens (4000 in your prompt; 1000 for the completion). Please reduce your prompt; or completion length.",
    5000,
    4097,
  ],
  [
    "Input tokens exceed the configured limit of 272,000 tokens. Your messages resulted in 300,123 tokens. Please reduce the length of the messages.",
    300123,
    272000,
  ],
  [
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
  ],
  [
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    1200000,
    1048576,
  ],
  [
    "The input token count exceeds the maximum number of tokens allowed 1048576.",
  ],
  [
    "Unable to submit request because the input token count is 1200000 but model only supports up to 1048576. Reduce the input token count and try again.",
    1200000,
    1048576,
  ],
  [
    "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (136000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
    140000,
    131072,
  ],
  ["invalid params, context window exceeds limit (2013)"],
  [
    "Please reduce the length of the messages or completion. Current length is 8500 while limit is 8192",
    8500,
    8192,
  ],
  ["Please reduce the length of the messages or completion."],
  [
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages, Please reduce the length of the messages.",
    5000,
    4096,
  ],
  [
    "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please reduce the length of the input messages.",
    5000,
    4096,
  ],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 1000 input tokens (5000 > 4096 - 1000).",
    1000,
    4096,
    5000,
  ],
  [
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.",
    5000,
    4096,
  ],
  [
    "You passed 4097 input tokens and requested 100 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3996 tokens. Please reduce the length of the input prompt.",
    4097,
    4096,
  ],
  ["prompt too long; exceeded max context length by 12 tokens"],
  ["the input length exceeds the context length"],
  [
    "the request exceeds the available context size, try increasing it",
  ],
  [
    "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    5000,
    4096,
  ],
  [
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    40000,
    32768,
  ],
  [
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    537812,
    131072,
  ],
  [
    "Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)",
    140000,
    131072,
  ],
  ["Prompt exceeds max length"],
  ["<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]"],
  ["Input is too long for requested model."],
  [
    "prompt token count of 140000 exceeds the limit of 128000",
    140000,
    128000,
  ],
  [
    "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
    5000,
    4096,
  ],
  [
    "The prompt is too long: 140000, model maximum context length: 131071",
    140000,
    131071,
  ],
  [
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (139000 of text input, 1000 in the output). Please reduce the length of either one.",
    140000,
    131072,
  ],
  [
    "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4090. Try using a shorter prompt.",
    4090,
    4081,
  ],
  [
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    5000,
    4096,
  ],
  [
    "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
    5000,
    4096,
  ],
];

function overflow(message: string): ApiError {
  return new ApiError("invalid_request", message, {
    code: "context_length_exceeded",
  });
}

function messageOf(body: unknown): string {
  const error = isObject(body) ? body["error"] : undefined;
  return isObject(error) ? String(error["message"]) : "";
}

Deno.test("an overflow is recognized by every vendor's wording, and its numbers are read", async (t) => {
  for (const [message, tokens, maximum, output] of WORDINGS) {
    await t.step(message, () => {
      assert.equal(isContextOverflow({ message }), true);
      assert.deepEqual(
        overflowNumbers(message),
        tokens === undefined || maximum === undefined ? undefined : {
          tokens,
          maximum,
          ...compact({ output }),
        },
      );
    });
  }
});

Deno.test("clients of every format get the upstream's numbers in the words that agents look for", async (t) => {
  for (const [message, tokens, maximum, output] of WORDINGS) {
    await t.step(message, () => {
      const chat = messageOf(encodeChatError(overflow(message), "r").body);
      const own = messageOf(encodeMessagesError(overflow(message), "r").body);
      if (tokens === undefined) {
        assert.equal(chat, message);
        assert.ok(
          own.startsWith("prompt is too long: ") && own.endsWith(message),
        );
        return;
      }
      const third = messageOf(
        encodeResponsesError(overflow(message), "r").body,
      );
      assert.match(third, /maximum (?:context|prompt) length (?:is|of) \d+/);
      for (const text of [chat, own, third]) {
        assert.ok(text.replaceAll(",", "").includes(String(tokens)), text);
        assert.ok(text.replaceAll(",", "").includes(String(maximum)), text);
      }
      assert.match(chat, /maximum (?:context|prompt) length (?:is|of) \d+/);
      assert.ok(
        own.includes(
          output === undefined
            ? `prompt is too long: ${tokens} tokens > ${maximum} maximum`
            : `exceed context limit: ${tokens} + ${output} > ${maximum}`,
        ),
        own,
      );
    });
  }
});

Deno.test("a chat client gets the chat format's wording with another format's numbers", () => {
  const reworded = (message: string): string =>
    messageOf(encodeChatError(overflow(message), "r").body);
  assert.equal(
    reworded("prompt is too long: 210000 tokens > 200000 maximum"),
    "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens. Please reduce the length of the messages.",
  );
  assert.equal(
    reworded(
      "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000, decrease input length or `max_tokens` and try again",
    ),
    "This model's maximum context length is 200000 tokens. However, you requested 212000 tokens (180000 in the messages, 32000 in the completion). Please reduce the length of the messages or completion.",
  );
});

Deno.test("a Responses client gets the code and sentence that its agents look for, in a stream too", () => {
  const error = overflow(
    "prompt is too long: 210000 tokens > 200000 maximum",
  );
  const sentence =
    "Your input exceeds the context window of this model. Its maximum context length is 200000 tokens, and your input has 210000 tokens. Please shorten the input.";
  const { status, body } = encodeResponsesError(error, "r");
  assert.equal(status, 400);
  assert.equal(messageOf(body), sentence);
  const { event, ofReply } = streamError(error);
  assert.equal(event["code"], "context_length_exceeded");
  assert.deepEqual(ofReply, {
    code: "context_length_exceeded",
    message: sentence,
  });
});

Deno.test("what is no overflow is not taken for one", () => {
  for (
    const message of [
      "max_tokens: 300000 > 200000, which is the maximum allowed number of output tokens for this model",
      "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 8000, please reduce your message size and try again.",
      "messages: text content blocks must be non-empty",
      "Invalid value for 'limit'",
    ]
  ) assert.equal(isContextOverflow({ message }), false, message);
});

Deno.test("an overflow is recognized by its code or type alone", () => {
  for (
    const error of [
      { code: "context_length_exceeded" },
      { code: "model_max_prompt_tokens_exceeded" },
      { type: "exceed_context_size_error" },
    ]
  ) assert.equal(isContextOverflow(error), true);
});

Deno.test("withNumbers() adds numbers that are in separate fields", () => {
  const detail = { n_prompt_tokens: 5000, n_ctx: 4096 };
  const message = withNumbers("the request exceeds the context", detail);
  assert.deepEqual(overflowNumbers(message), { tokens: 5000, maximum: 4096 });
  assert.ok(message.startsWith("the request exceeds the context"));
  const numbered =
    "request (7000 tokens) exceeds the available context size (4096 tokens)";
  assert.equal(withNumbers(numbered, detail), numbered);
  assert.equal(withNumbers("x", {}), "x");
});

Deno.test("isContextOverflow() does not read what an error quotes of the request", () => {
  for (
    const message of [
      "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$', got 'resize context window'",
      'Invalid value: "prompt is too long" for field title',
      "unknown tool `count too many tokens`",
      "description “input is too long for me” is not allowed",
      "tools[3].name: resize context window is no valid name",
    ]
  ) assert.equal(isContextOverflow({ message }), false, message);
  for (
    const message of [
      `AnthropicException - {"error":{"message":"prompt is too long: 3 tokens > 2 maximum"}}`,
      "This model's maximum context length is 8 tokens, and it's exceeded",
    ]
  ) assert.equal(isContextOverflow({ message }), true, message);
});
