/** Error replies in the words of each vendor. */
import type { Call, Dialect } from "./call.ts";
import { ERROR_WORDS } from "./error_words.ts";
import { jsonScript, type Script, wholeScript } from "./script.ts";

/** Seconds that an error of status 429, 503 or 529 asks the caller to wait. */
export const RETRY_AFTER_SECONDS = 7;

const REQUEST_ID = "req_011CReplayUpstream000001";

/** The error body of a dialect. */
export function errorBody(
  dialect: Dialect,
  status: number,
  model: string,
  message?: string,
  param: string | null = null,
): object {
  const words = ERROR_WORDS[status] ?? ERROR_WORDS[500];
  const say = (text: string | undefined): string =>
    message ?? text?.replaceAll("{{model}}", () => model) ?? "";
  switch (dialect) {
    case "messages":
      return {
        type: "error",
        error: {
          type: words?.messages.type,
          message: say(words?.messages.message),
        },
        request_id: REQUEST_ID,
      };
    case "chat_completions": {
      const { type, code, message: text } = words?.chat_completions ?? {};
      return { error: { message: say(text), type, param, code } };
    }
    case "generate_content":
      return {
        error: {
          code: status,
          message: say(words?.generate_content.message),
          status: words?.generate_content.status,
          ...geminiDetails(status),
        },
      };
  }
}

function geminiDetails(status: number): object {
  if (status !== 429) return {};
  return {
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        violations: [{
          quotaMetric:
            "generativelanguage.googleapis.com/generate_content_free_tier_requests",
          quotaId: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
          quotaValue: "10",
        }],
      },
      {
        "@type": "type.googleapis.com/google.rpc.RetryInfo",
        retryDelay: `${RETRY_AFTER_SECONDS}s`,
      },
    ],
  };
}

/** Refuses a request with a status, as the vendor of its dialect does. */
export function refuse(
  call: Call,
  status: number,
  message?: string,
  param: string | null = null,
): Script {
  const body = errorBody(call.dialect, status, call.model, message, param);
  if (call.dialect !== "generate_content") {
    return jsonScript(status, body, errorHeaders(call.dialect, status));
  }
  // Without alt=sse a stream that fails at once is an array with the error in it.
  const text = JSON.stringify(call.asArray ? [body] : body, undefined, 2) +
    "\n";
  return wholeScript(status, "application/json; charset=UTF-8", text);
}

function errorHeaders(
  dialect: Dialect,
  status: number,
): Readonly<Record<string, string>> {
  const retry = status === 429 || status === 503 || status === 529
    ? { "retry-after": String(RETRY_AFTER_SECONDS) }
    : {};
  if (dialect === "chat_completions") {
    return { "x-request-id": "req_replay0upstream0000000000000001", ...retry };
  }
  return {
    "request-id": REQUEST_ID,
    "x-should-retry": String(status === 408 || status === 429 || status >= 500),
    ...retry,
  };
}
