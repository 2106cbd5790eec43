import assert from "node:assert/strict";
import { type HostErrors, withHostErrors } from "./host_errors.ts";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import { messages } from "./formats/messages/mod.ts";

interface Row {
  readonly name: string;
  readonly host: HostErrors;
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Kind, whose fault, and whether the same candidate may be asked again. */
  readonly expected: readonly [string, string?, boolean?];
}

const aws = (
  type: string,
  status: number,
  ...expected: [string, string?, boolean?]
): Row => ({
  name: `AWS ${type}`,
  host: "aws",
  status,
  body: '{"message":"words"}',
  headers: {
    "x-amzn-errortype": `${type}Exception:http://internal.amazon.com/x`,
  },
  expected,
});

const ROWS: readonly Row[] = [
  aws("AccessDenied", 403, "upstream", "credential", false),
  aws("UnrecognizedClient", 403, "upstream", "credential", false),
  aws("ExpiredToken", 403, "upstream", "credential", false),
  aws("RequestExpired", 400, "upstream", "credential", false),
  aws("Throttling", 400, "rate_limit"),
  aws("Throttling", 429, "rate_limit"),
  aws("ModelNotReady", 429, "rate_limit"),
  aws("ServiceQuotaExceeded", 400, "rate_limit", "quota", false),
  aws("ModelError", 424, "upstream"),
  aws("ModelTimeout", 408, "timeout"),
  aws("FTUFormNotFilled", 404, "upstream", "setup", false),
  aws("ResourceNotFound", 404, "upstream", "setup", false),
  aws("Validation", 400, "invalid_request"),
  {
    name: "AWS's type in the body",
    host: "aws",
    status: 400,
    body:
      '{"__type":"com.amazon.coral.service#ExpiredTokenException","Message":"x"}',
    expected: ["upstream", "credential", false],
  },
  {
    // In the time that its bytes take: their square would be minutes.
    name: "AWS's type of nothing but colons",
    host: "aws",
    status: 400,
    body: JSON.stringify({ __type: `${":".repeat(500_000)}\n`, Message: "x" }),
    expected: ["invalid_request"],
  },
  {
    name: "a model that AWS does not permit",
    host: "aws",
    status: 403,
    headers: { "x-amzn-errortype": "AccessDeniedException" },
    body:
      '{"message":"You don\'t have access to the model with the specified model ID."}',
    expected: ["upstream", "setup", false],
  },
  {
    name: "a model that needs an inference profile",
    host: "aws",
    status: 400,
    headers: { "x-amzn-errortype": "ValidationException" },
    body:
      '{"message":"Invocation of model ID x with on-demand throughput isn\\u2019t supported."}',
    expected: ["upstream", "setup", false],
  },
  {
    name: "a wrong route of Bedrock's newer endpoint",
    host: "aws",
    status: 400,
    body: '{"error":{"message":"The model isn\'t supported on this route"}}',
    expected: ["upstream", "setup", false],
  },
  {
    name: "an unknown deployment of Azure",
    host: "azure",
    status: 404,
    body:
      '{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}',
    expected: ["upstream", "setup", false],
  },
  {
    name: "an unknown path of Azure",
    host: "azure",
    status: 404,
    body: '{"error":{"code":"404","message":"Resource not found"}}',
    expected: ["upstream", "setup", false],
  },
  {
    name: "Azure's content filter",
    host: "azure",
    status: 400,
    body:
      '{"error":{"message":"The response was filtered","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}',
    expected: ["invalid_request"],
  },
  {
    name: "Azure's content filter by its inner code",
    host: "azure",
    status: 403,
    body:
      '{"error":{"message":"filtered","code":null,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}',
    expected: ["invalid_request"],
  },
  {
    name: "Azure's rate limit",
    host: "azure",
    status: 429,
    headers: { "retry-after": "86400" },
    body: '{"error":{"code":"RateLimitReached","message":"wait"}}',
    expected: ["rate_limit"],
  },
  {
    name: "Azure's 401",
    host: "azure",
    status: 401,
    body:
      '{"error":{"code":"401","message":"Access denied due to invalid key"}}',
    expected: ["upstream", "credential", false],
  },
  {
    name: "an unknown model of Vertex, in an array",
    host: "google",
    status: 404,
    body:
      '[{"error":{"code":404,"message":"Publisher Model `x` was not found","status":"NOT_FOUND"}}]',
    expected: ["upstream", "setup", false],
  },
  {
    name: "an exhausted quota of Vertex",
    host: "google",
    status: 429,
    body:
      '{"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED"}}',
    expected: ["rate_limit"],
  },
  {
    name: "no credit at a router",
    host: "compatible",
    status: 402,
    body:
      '{"error":{"code":402,"message":"This request requires more credits, or fewer max_tokens."}}',
    expected: ["upstream", "account", false],
  },
  {
    name: "a prompt that a router's moderation refused",
    host: "compatible",
    status: 403,
    body:
      '{"error":{"code":403,"message":"flagged","metadata":{"reasons":["violence"],"flagged_input":"x"}}}',
    expected: ["invalid_request"],
  },
  {
    name: "a refused key of Mistral",
    host: "compatible",
    status: 401,
    body: '{"detail":"Invalid API Key"}',
    expected: ["upstream", "credential", false],
  },
  {
    name: "a template of llama.cpp without tools",
    host: "compatible",
    status: 500,
    body:
      '{"error":{"code":500,"message":"Value is not callable: null at row 1 (Jinja)","type":"server_error"}}',
    expected: ["upstream", "setup", false],
  },
  {
    name: "llama.cpp that loads its model",
    host: "compatible",
    status: 503,
    body:
      '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}',
    expected: ["unavailable"],
  },
  {
    name: "a failed tool call of Groq",
    host: "compatible",
    status: 400,
    body:
      '{"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<f>"}}',
    expected: ["invalid_request"],
  },
  {
    name: "a failed model at any host",
    host: "compatible",
    status: 424,
    body: "{}",
    expected: ["upstream"],
  },
];

for (const dialect of [chatCompletions, messages]) {
  Deno.test(`withHostErrors() decides whose fault an error is (${dialect.name})`, async (t) => {
    for (const { name, host, status, body, headers, expected } of ROWS) {
      await t.step(name, () => {
        const error = withHostErrors(dialect, host).decodeError(
          status,
          new Headers(headers),
          body,
        );
        const [kind, refused, retryable] = expected;
        assert.deepEqual(
          [error.kind, error.details.refused, error.details.retryable],
          [kind, refused, retryable],
        );
        assert.equal(error.details.upstreamStatus, status);
      });
    }
  });
}

Deno.test("withHostErrors() keeps the host's words about the operator's set-up out of the message", () => {
  const error = withHostErrors(messages, "azure").decodeError(
    404,
    new Headers(),
    '{"error":{"code":"DeploymentNotFound","message":"deployment gpt-we"}}',
  );
  assert.equal(
    error.message,
    "the upstream does not serve the model under the name and settings that the gateway has for it; the operator must look into it",
  );
  assert.equal(error.details.note, "deployment gpt-we");
});

Deno.test("withHostErrors() recognizes Perplexity's word for a prompt that is too long", () => {
  const error = withHostErrors(chatCompletions, "compatible").decodeError(
    400,
    new Headers(),
    '{"error":{"message":"[\'Too long\']","type":"too_many_prompt_tokens","code":400}}',
  );
  assert.equal(error.details.code, "context_length_exceeded");
});
