/**
 * Errors from an upstream, by status or in place of a reply, as clients of both formats receive
 * them.
 */
import assert from "node:assert/strict";
import { jsonScript, type Script, wholeScript } from "../../replay/mod.ts";
import {
  CALLERS,
  callScripted,
  type UpstreamFormat,
} from "../support/tables/reply_script.ts";
import { startTestGateway } from "../support/test_gateway.ts";

/** What a client receives: status, `type`, and a part of the message. */
type Expected = readonly [status: number, type: string, message: string];

interface Row {
  readonly name: string;
  readonly script: Script;
  readonly messages: Expected;
  readonly chat: Expected;
  readonly retryAfter?: string | null;
  readonly shouldRetry?: string | null;
  readonly from?: UpstreamFormat;
}

const GOOGLE_429 = {
  error: {
    code: 429,
    message: "Quota exceeded",
    status: "RESOURCE_EXHAUSTED",
    details: [{
      "@type": "type.googleapis.com/google.rpc.RetryInfo",
      retryDelay: "48.9s",
    }],
  },
};

const API_ERROR = "api_error";
const SERVER_ERROR = "server_error";

const ROWS: readonly Row[] = [
  {
    name: "429 with seconds",
    script: jsonScript(429, { error: { message: "slow" } }, {
      "retry-after": "12",
    }),
    messages: [429, "rate_limit_error", "slow"],
    chat: [429, "requests", "slow"],
    retryAfter: "12",
  },
  {
    name: "429 with milliseconds, which take precedence",
    script: jsonScript(429, { error: { message: "slow" } }, {
      "retry-after": "12",
      "retry-after-ms": "1500",
    }),
    messages: [429, "rate_limit_error", "slow"],
    chat: [429, "requests", "slow"],
    retryAfter: "2",
  },
  {
    name: "429 with a date",
    script: jsonScript(429, { error: { message: "slow" } }, {
      date: "Sat, 21 Nov 2026 05:00:00 GMT",
      "retry-after": "Sat, 21 Nov 2026 05:00:09 GMT",
    }),
    messages: [429, "rate_limit_error", "slow"],
    chat: [429, "requests", "slow"],
    retryAfter: "9",
  },
  {
    name: "429 with an empty retry-after",
    script: jsonScript(429, { error: { message: "slow" } }, {
      "retry-after": "",
    }),
    messages: [429, "rate_limit_error", "slow"],
    chat: [429, "requests", "slow"],
    retryAfter: null,
  },
  {
    name: "429 with RetryInfo",
    script: jsonScript(429, GOOGLE_429),
    messages: [429, "rate_limit_error", "Quota exceeded"],
    chat: [429, "requests", "Quota exceeded"],
    retryAfter: "49",
    from: "gemini",
  },
  {
    name: "429 in an array",
    script: jsonScript(429, [GOOGLE_429]),
    messages: [429, "rate_limit_error", "Quota exceeded"],
    chat: [429, "requests", "Quota exceeded"],
    retryAfter: "49",
    from: "gemini",
  },
  {
    name: "429 for too many tokens is a rate limit, not a context overflow",
    script: jsonScript(429, {
      message: "Too many tokens, please wait before trying again.",
    }),
    messages: [429, "rate_limit_error", "Too many tokens"],
    chat: [429, "requests", "Too many tokens"],
  },
  {
    name: "429 of an empty account",
    script: jsonScript(429, {
      error: {
        message: "You exceeded your current quota",
        type: "insufficient_quota",
        code: "insufficient_quota",
      },
    }),
    messages: [502, API_ERROR, "the gateway's own credentials or account"],
    chat: [502, "server_error", "the gateway's own credentials or account"],
    retryAfter: null,
    shouldRetry: "false",
  },
  {
    name: "500 with a retry-after",
    script: jsonScript(500, { error: "model runner has stopped" }, {
      "retry-after": "3",
      "x-should-retry": "true",
    }),
    messages: [500, API_ERROR, "model runner has stopped"],
    chat: [500, SERVER_ERROR, "model runner has stopped"],
    retryAfter: "3",
    shouldRetry: "true",
  },
  {
    name: "401 concerns the gateway's own key",
    script: jsonScript(401, { detail: "Invalid API Key" }),
    messages: [502, API_ERROR, "credentials"],
    chat: [502, SERVER_ERROR, "credentials"],
    shouldRetry: "false",
  },
  {
    name: "400 that concerns the gateway's own key",
    script: jsonScript(400, {
      error: { message: "Incorrect API key provided: xa***yz" },
    }),
    messages: [502, API_ERROR, "credentials"],
    chat: [502, SERVER_ERROR, "credentials"],
    from: "chat",
  },
  {
    name: "422 of FastAPI as a list",
    script: jsonScript(422, {
      detail: [{ loc: ["body", "n", 0], msg: "Input should be 1" }],
    }),
    messages: [400, "invalid_request_error", "n.0: Input should be 1"],
    chat: [400, "invalid_request_error", "n.0: Input should be 1"],
  },
  {
    name: "400 with a list of errors",
    script: jsonScript(400, { errors: [{ message: "bad n", code: 7003 }] }),
    messages: [400, "invalid_request_error", "bad n"],
    chat: [400, "invalid_request_error", "bad n"],
  },
  {
    name: "400 framed like a stream",
    script: wholeScript(
      400,
      "text/event-stream",
      'event: error\ndata: {"error":{"message":"bad n"}}\n\n',
    ),
    messages: [400, "invalid_request_error", "bad n"],
    chat: [400, "invalid_request_error", "bad n"],
  },
  {
    name: "404 as an HTML page",
    script: wholeScript(
      404,
      "text/html",
      "<html><head><title>Error 404 (Not Found)!!1</title></head><body>x</body></html>",
    ),
    messages: [404, "not_found_error", "Error 404 (Not Found)!!1"],
    chat: [404, "invalid_request_error", "Error 404 (Not Found)!!1"],
  },
  {
    name: "413",
    script: wholeScript(413, "text/plain", "Payload Too Large"),
    messages: [413, "request_too_large", "Payload Too Large"],
    chat: [413, "invalid_request_error", "Payload Too Large"],
  },
  {
    name: "503 with an empty body",
    script: wholeScript(503, "text/plain", ""),
    messages: [503, "overloaded_error", "the upstream is unavailable"],
    chat: [503, SERVER_ERROR, "the upstream is unavailable"],
    retryAfter: null,
  },
  {
    name: "529",
    script: jsonScript(529, { error: { message: "Overloaded" } }),
    messages: [529, "overloaded_error", "Overloaded"],
    chat: [503, SERVER_ERROR, "Overloaded"],
    retryAfter: null,
  },
  {
    name: "529 with seconds",
    script: jsonScript(529, { error: { message: "Overloaded" } }, {
      "retry-after": "7",
    }),
    messages: [529, "overloaded_error", "Overloaded"],
    chat: [503, SERVER_ERROR, "Overloaded"],
    retryAfter: "7",
  },
  {
    name: "524 of a proxy",
    script: wholeScript(524, "text/html", "<h1>A timeout occurred</h1>"),
    messages: [504, "timeout_error", "A timeout occurred"],
    chat: [504, SERVER_ERROR, "A timeout occurred"],
  },
  {
    name: "context overflow in xai's wording",
    script: jsonScript(400, {
      error:
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    }),
    messages: [
      400,
      "invalid_request_error",
      "prompt is too long: 537812 tokens > 131072 maximum",
    ],
    chat: [400, "invalid_request_error", "537812 tokens"],
    from: "chat",
  },
  {
    name: "200 with an error in place of a reply",
    script: jsonScript(200, {
      error: { message: "no capacity", type: "overloaded_error" },
    }),
    messages: [529, "overloaded_error", "no capacity"],
    chat: [503, SERVER_ERROR, "no capacity"],
    retryAfter: null,
    from: "chat",
  },
  {
    name: "200 with minimax's status code and no choices",
    script: jsonScript(200, {
      id: "1",
      choices: null,
      base_resp: { status_code: 1002, status_msg: "rate limit" },
    }),
    messages: [429, "rate_limit_error", "rate limit"],
    chat: [429, "requests", "rate limit"],
    from: "chat",
  },
  {
    name: "200 with an array that contains an error",
    script: jsonScript(200, [{ error: { message: "bad n", code: 400 } }]),
    messages: [400, "invalid_request_error", "bad n"],
    chat: [400, "invalid_request_error", "bad n"],
    from: "chat",
  },
];

Deno.test("an upstream error reaches clients of both formats in their format, streamed or not", async (t) => {
  await using gateway = await startTestGateway();
  for (const row of ROWS) {
    const upstreams = row.from === undefined
      ? ["messages", "chat", "gemini"] as const
      : [row.from];
    for (const upstream of upstreams) {
      for (const caller of CALLERS) {
        for (const stream of [false, true]) {
          const name = `${row.name}: ${caller} from ${upstream} ${stream}`;
          await t.step(name, async () => {
            const response = await callScripted(
              gateway,
              caller,
              upstream,
              row.script,
              { stream },
            );
            const body = await response.json();
            const [status, type, message] = row[caller];
            assert.equal(response.status, status, JSON.stringify(body));
            assert.equal(body.type, "error");
            assert.equal(body.error.type, type);
            assert.ok(
              body.error.message.includes(message),
              body.error.message,
            );
            assert.equal(body.request_id, response.headers.get("request-id"));
            if (row.retryAfter !== undefined) {
              assert.equal(
                response.headers.get("retry-after"),
                row.retryAfter,
              );
            }
            if (row.shouldRetry !== undefined) {
              assert.equal(
                response.headers.get("x-should-retry"),
                row.shouldRetry,
              );
            }
          });
        }
      }
    }
  }
});
