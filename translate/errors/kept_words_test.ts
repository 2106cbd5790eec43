import assert from "node:assert/strict";
import { keptCode, keptWords } from "./kept_words.ts";

/** Messages of several vendors and hosts; operators need every word. */
const WHOLE: readonly string[] = [
  "prompt is too long: 201234 tokens > 200000 maximum",
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  "messages.3.content.0.text: text content blocks must be non-empty",
  "messages.1.content.0: Invalid 'signature' in 'thinking' block",
  "Your credit balance is too low to access the Anthropic API.",
  "You don't have access to the model with the specified model ID.",
  "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  "The model is overloaded. Please try again later.",
  "The server had an error while processing your request. Sorry about that!",
  "Resource exhausted",
  "Could not process image",
  "image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
  "Output blocked by content filtering policy",
  "Expecting value: line 1 column 5 (char 4)",
  "'temperature' and 'top_p' cannot both be specified for this model. Please use only one.",
  "We're currently processing too many requests - please try again later.",
  "API key not valid. Please pass a valid API key.",
  "Too many tokens, please wait before trying again.",
  "The security token is expired",
  "The API deployment for this resource does not exist.",
  "Request had invalid authentication credentials.",
  "the connection to the upstream broke",
  "could not reach the upstream",
  "the upstream did not answer in time",
  "the upstream's event stream is corrupt",
  "the upstream's reply ended in the middle of a frame",
  "the upstream sent a part of a reply (status 206), although no part was asked for",
  "the gateway has no valid credential for the upstream",
];

Deno.test("keptWords() keeps what vendors and the gateway write of failures", () => {
  for (const text of WHOLE) assert.equal(keptWords(text), text);
});

const CUT: readonly (readonly [text: string, kept: string])[] = [
  [
    "Invalid value: 'my secret text'. Supported values are: 'low' and 'high'.",
    "Invalid value: … . Supported values are: 'low' and 'high'.",
  ],
  ["Invalid value: my secret text is not valid", "Invalid value: …"],
  [
    "Unknown name \"Erika\" at 'contents[0].parts[0]': Cannot find field.",
    "Unknown name … at 'contents[0].parts[0]': Cannot find field.",
  ],
  ["Invalid value: 'never closed", "Invalid value: …"],
  ["cannot parse `rm -rf` as JSON", "cannot parse … as JSON"],
  [
    'bad request: {"a": {"b": "c"}} is not valid',
    "bad request: … is not valid",
  ],
  ['bad request: {\\"a\\": \\"c', "bad request: …"],
  ['bad request: ["a", "b"] is not valid', "bad request: … is not valid"],
  ["&quot;Erika&quot; is invalid", "…; is invalid"],
  ["invalid Erika%20M given", "invalid … given"],
  ["invalid RXJpa2EgTXVzdGVybWFubg== given", "invalid … given"],
  [
    "metadata.Erika_M: extra inputs are not permitted",
    "…: extra inputs are not permitted",
  ],
  ["the number 4111111111111111 is invalid", "the number … is invalid"],
  ["the number 4821 is invalid", "the number … is invalid"],
  ["at most 5 items, not 4821", "at most 5 items, not …"],
  ["die Anfrage ist falsch", "…"],
  ["请求无效", ""],
  ["the request 🔥🔥 is invalid", "the request is invalid"],
  ["the key [removed] has expired", "the key … has expired"],
  [
    "User: arn:aws:sts::1:role/x is not authorized to perform: bedrock:InvokeModel",
    "User: … is not authorized to perform: bedrock:InvokeModel",
  ],
  [
    "AADSTS7000215: the client is invalid",
    "AADSTS7000215: the client is invalid",
  ],
  ["", ""],
];

Deno.test("keptWords() cuts out quotes, JSON, names, numbers, and all behind an unknown word", () => {
  for (const [text, kept] of CUT) {
    assert.equal(keptWords(text), kept === "…" ? "" : kept, text);
  }
});

Deno.test("keptWords() reads long texts of nothing but openings up to a limit", () => {
  for (
    const part of ["{", "[", "\\", "'", '"', "` ", "the ", "a.", "…", "[[0]"]
  ) assert.ok(keptWords(part.repeat(1_000_000)).length <= 4_001, part);
});

Deno.test("keptCode() keeps codes of vendors, and nothing that may be a text of the request", () => {
  for (
    const code of [
      "invalid_api_key",
      "context_length_exceeded",
      "RESOURCE_EXHAUSTED",
      "DeploymentNotFound",
      "AccessDeniedException",
      "AADSTS7000215",
      "1211",
      "organization_spend_limit_exceeded",
      "misalignment_policy_violation",
    ]
  ) assert.equal(keptCode(code), code);
  for (
    const text of [
      "Erika",
      "Erika_Mustermann",
      "my secret",
      "invalid Erika",
      "4111111111111111",
      "a".repeat(65),
      "кот",
    ]
  ) assert.equal(keptCode(text), undefined, text);
});
