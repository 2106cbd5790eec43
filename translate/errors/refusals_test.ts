import assert from "node:assert/strict";
import type { ApiError } from "../model/error.ts";
import { upstreamDialect } from "../dialects.ts";

type Format = "messages" | "chat_completions" | "generate_content";

function decoded(format: Format, status: number, body: unknown): ApiError {
  return upstreamDialect(format).decodeError(
    status,
    new Headers(),
    typeof body === "string" ? body : JSON.stringify(body),
  );
}

const openai = (message: string, type: string, code: unknown = type) => ({
  error: { message, type, param: null, code },
});
const daily = {
  error: {
    code: 429,
    message:
      "You exceeded your current quota, please check your plan and billing details.",
    status: "RESOURCE_EXHAUSTED",
    details: [{
      "@type": "type.googleapis.com/google.rpc.QuotaFailure",
      violations: [{
        quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
      }],
    }],
  },
};
const minutely = structuredClone(daily);
minutely.error.details[0] = {
  "@type": "type.googleapis.com/google.rpc.QuotaFailure",
  violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel" }],
};

/** Vendors' own texts, what they mean, and the code that operators receive. */
const FORMS: readonly (readonly [
  name: string,
  format: Format,
  status: number,
  body: unknown,
  refused: string | undefined,
  code?: string,
])[] = [
  ...([
    ["ExpiredTokenException", 400, "credential"],
    ["AccessDeniedException", 400, "credential"],
    ["OptInRequired", 403, "setup"],
    ["ResourceNotFoundException", 400, "setup"],
    ["ServiceQuotaExceededException", 400, "quota"],
    ["ValidationException", 400, undefined],
  ] as const).map(([type, status, refused]) =>
    [
      `AWS, through a proxy: ${type}`,
      "chat_completions" as const,
      status,
      { __type: `com.amazon.coral.service#${type}:x`, message: "no" },
      refused,
    ] as const
  ),
  [
    "AWS, through a proxy: no access to a model",
    "chat_completions",
    403,
    { __type: "AccessDeniedException", message: "no access to the model" },
    "setup",
  ],
  [
    "OpenAI: no money",
    "chat_completions",
    429,
    openai(
      "You exceeded your current quota, please check your plan and billing details.",
      "insufficient_quota",
    ),
    "account",
    "insufficient_quota",
  ],
  [
    "OpenAI: limit of spending",
    "chat_completions",
    400,
    openai(
      "Billing hard limit has been reached",
      "invalid_request_error",
      "billing_hard_limit_reached",
    ),
    "account",
    "billing_hard_limit_reached",
  ],
  [
    "OpenAI: deactivated",
    "chat_completions",
    401,
    openai("deactivated", "invalid_request_error", "account_deactivated"),
    "account",
    "account_deactivated",
  ],
  [
    "LiteLLM: budget, as a rate limit",
    "chat_completions",
    429,
    openai(
      "Budget has been exceeded! Current cost: 10.2, Max budget: 10.0",
      "budget_exceeded",
      "429",
    ),
    "account",
    "budget_exceeded",
  ],
  [
    "LiteLLM: budget, as a bad request",
    "chat_completions",
    400,
    openai(
      "Budget has been exceeded! Current cost: 10.2, Max budget: 10.0",
      "budget_exceeded",
      "400",
    ),
    "account",
    "budget_exceeded",
  ],
  [
    "LiteLLM: budget, without a type",
    "chat_completions",
    400,
    openai("ExceededBudget: User=x over budget", "None", "400"),
    "account",
  ],
  [
    "DeepSeek: no money",
    "chat_completions",
    402,
    openai("Insufficient Balance", "unknown_error", "invalid_request_error"),
    "account",
  ],
  [
    "OpenRouter: no credits",
    "chat_completions",
    402,
    { error: { message: "Insufficient credits.", code: 402 } },
    "account",
    "402",
  ],
  [
    "new-api: no quota",
    "chat_completions",
    403,
    openai("no quota", "new_api_error", "insufficient_user_quota"),
    "account",
    "insufficient_user_quota",
  ],
  [
    "xAI: no credits",
    "chat_completions",
    403,
    {
      code:
        "The caller does not have permission to execute the specified operation",
      error:
        "Your team has either used all available credits or reached its monthly spending limit.",
    },
    "account",
  ],
  [
    "Moonshot: no money",
    "chat_completions",
    429,
    {
      error: {
        message: "Your account is suspended, please check your plan",
        type: "exceeded_current_quota_error",
      },
    },
    "account",
    "exceeded_current_quota_error",
  ],
  [
    "Anthropic: no money",
    "messages",
    400,
    {
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "Your credit balance is too low to access the Anthropic API.",
      },
    },
    "account",
  ],
  [
    "Google: billing is off",
    "generate_content",
    403,
    {
      error: {
        code: 403,
        message: "This API method requires billing to be enabled.",
        status: "PERMISSION_DENIED",
        details: [{ reason: "BILLING_DISABLED" }],
      },
    },
    "account",
    "BILLING_DISABLED",
  ],
  [
    "Google: quota of a day",
    "generate_content",
    429,
    daily,
    "quota",
    "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
  ],
  ["Google: quota of a minute", "generate_content", 429, minutely, undefined],
  [
    "OpenAI: requests a day",
    "chat_completions",
    429,
    openai(
      "Rate limit reached for gpt-5 on requests per day (RPD): Limit 200",
      "requests",
      "rate_limit_exceeded",
    ),
    "quota",
    "rate_limit_exceeded",
  ],
  [
    "OpenAI: tokens a minute",
    "chat_completions",
    429,
    openai(
      "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 200",
      "tokens",
      "rate_limit_exceeded",
    ),
    undefined,
  ],
  [
    "OpenRouter: a key without a code",
    "chat_completions",
    401,
    { error: { message: "User not found.", code: 401 } },
    "credential",
    "401",
  ],
  [
    "xAI: a key, as text",
    "chat_completions",
    403,
    { error: "no access" },
    "credential",
    "403",
  ],
  [
    "vLLM: a key",
    "chat_completions",
    401,
    { detail: "Unauthorized" },
    "credential",
    "401",
  ],
  [
    "Mistral: a key",
    "chat_completions",
    401,
    { message: "Unauthorized" },
    "credential",
    "401",
  ],
  ["an empty 403", "messages", 403, "", "credential", "403"],
  [
    "a request that quotes the words",
    "messages",
    400,
    {
      error: {
        type: "invalid_request_error",
        message: "tools.0.name: got 'credit balance is too low'",
      },
    },
    undefined,
  ],
  ["a status that no row knows", "messages", 418, "", undefined, "unknown_418"],
];

Deno.test("a refusal that concerns the operator is never the client's", async (t) => {
  for (const [name, format, status, body, refused, code] of FORMS) {
    await t.step(name, () => {
      const { details, message, kind } = decoded(format, status, body);
      assert.equal(details.refused, refused);
      assert.equal(details.upstreamStatus, status);
      if (code !== undefined) assert.equal(details.upstreamCode, code);
      if (refused === undefined) return;
      assert.equal(details.retryable, false);
      assert.equal(details.code, undefined);
      assert.equal(kind, refused === "quota" ? "rate_limit" : "upstream");
      assert.match(message, /the operator must look into it$/);
    });
  }
});

Deno.test("a quota's facts reach clients of the vendor's format, without a delay", () => {
  const error = decoded("generate_content", 429, daily);
  assert.deepEqual(
    error.details.vendorError?.fields["details"],
    daily.error.details,
  );
  assert.equal(error.details.retryAfterSeconds, undefined);
});
