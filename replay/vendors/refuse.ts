/** Error replies with the body and headers of each vendor. */
import type { DialectName, ParsedRequest } from "../parse_request.ts";
import { VENDOR_ERRORS } from "./vendor_errors.ts";
import { jsonScript, type Script, wholeScript } from "../script.ts";

/** Value of `retry-after` in errors of status 429, 503 and 529. */
const RETRY_AFTER_SECONDS = 7;

const REQUEST_ID = "req_011CReplayUpstream000001";

/** The error body of a dialect; `message` replaces the vendor's own text. */
export function errorBody(
  dialect: DialectName,
  status: number,
  model: string,
  message?: string,
  param: string | null = null,
): object {
  const words = VENDOR_ERRORS[status] ?? VENDOR_ERRORS[500];
  const messageOr = (text: string | undefined): string =>
    message ?? text?.replaceAll("{{model}}", () => model) ?? "";
  switch (dialect) {
    case "messages":
      return {
        type: "error",
        error: {
          type: words?.messages.type,
          message: messageOr(words?.messages.message),
        },
        request_id: REQUEST_ID,
      };
    case "chat_completions":
    case "responses": {
      const { type, code, message: text } = words?.chat_completions ?? {};
      return { error: { message: messageOr(text), type, param, code } };
    }
    case "generate_content":
      return {
        error: {
          code: status,
          message: messageOr(words?.generate_content.message),
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

/** Script of an error reply, as the vendor of the request's dialect sends it. */
export function refuse(
  call: ParsedRequest,
  status: number,
  message?: string,
  param: string | null = null,
): Script {
  const body = errorBody(call.dialect, status, call.model, message, param);
  if (call.dialect !== "generate_content") {
    return jsonScript(status, body, errorHeaders(call.dialect, status));
  }
  // Without alt=sse, a stream that fails before its first frame is an array with the error in it.
  const text = JSON.stringify(call.asArray ? [body] : body, undefined, 2) +
    "\n";
  return wholeScript(status, "application/json; charset=UTF-8", text);
}

function errorHeaders(
  dialect: DialectName,
  status: number,
): Readonly<Record<string, string>> {
  const retry = status === 429 || status === 503 || status === 529
    ? { "retry-after": String(RETRY_AFTER_SECONDS) }
    : {};
  if (dialect === "chat_completions" || dialect === "responses") {
    return { "x-request-id": "req_replay0upstream0000000000000001", ...retry };
  }
  return {
    "request-id": REQUEST_ID,
    "x-should-retry": String(status === 408 || status === 429 || status >= 500),
    ...retry,
  };
}
