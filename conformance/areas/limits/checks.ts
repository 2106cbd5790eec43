/** Checks of the area `limits`. */
import { factOf, type Finding } from "../../suite/finding.ts";
import {
  formsOf,
  limit,
  REFUSAL_CHECKS,
  refusals,
  sent,
} from "./checks_refusals.ts";
import { problemOf } from "../../reference_gateway/problems.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { acceptWhere, changeBody, field, refuseParam } from "./faults.ts";
import { type Exchange, isStream } from "../../evidence/exchange.ts";
import { isObject } from "@model-gateway/replay/json";
import { WITHIN } from "./scenarios.ts";
import type { Generation } from "../../suite/requests.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { REQUEST_FORM_CHECKS } from "./checks_request_forms.ts";
import { STOP_STRING_CHECKS } from "./checks_stop_strings.ts";
import { LIMITS_UPSTREAM_CHECKS } from "./checks_upstream.ts";
import { INPUT_TOKEN_CHECKS } from "./checks_input_tokens.ts";
import { LIMITS_REPORTED_CHECKS } from "./checks_reported.ts";
import { LIMITS_USAGE_CHECKS } from "./checks_usage.ts";

/**
 * Refused as the client's mistake; the exact status and body of such a refusal are not documented.
 */
function refused(x: Exchange): Finding {
  const status = x.head?.status ?? 0;
  return factOf("status", x.head?.status ?? x.ending, x).mustBe(
    "4xx",
    status >= 400 && status < 500,
  );
}

/** Answered in the requested form, whole or streamed. */
function answered(x: Exchange): Finding {
  const good = x.head?.status === 200 &&
    (x.label.endsWith("-stream") ? isStream(x) : isObject(x.json));
  return factOf(
    "reply",
    `${x.head?.status ?? x.ending}: ${x.text.slice(0, 160)}`,
    x,
  ).mustBe("200", good);
}

function acceptances(
  e: Evidence,
  endpoint: Generation,
  field: string,
): Finding[] {
  return formsOf(e, WITHIN, endpoint, field).flatMap((form) =>
    sent(e, endpoint, form).map(answered)
  );
}

const MESSAGES_TEMPERATURE =
  "| `temperature` range 0 to 1 | message endpoint |";
const CHAT_TEMPERATURE =
  "| `temperature` range 0 to 2 | chat-completion endpoint |";

export const LIMITS_CHECKS: readonly Check[] = checksWith({
  section: "POST /v1/chat/completions (operation `createChatCompletion`)",
  mode: "both",
  reads: ["limits"],
}, [
  limit(
    "limits.max_tokens-required",
    "| `max_tokens` is required and is an upper bound on output tokens | message endpoint |",
    (e) => sent(e, "messages", "no-max_tokens").map(refused),
    {
      "max_tokens-has-default": changeBody((body) => ({
        max_tokens: 64,
        ...body,
      })),
      "max_tokens-default-in-streams": changeBody((body) =>
        body["stream"] === true ? { max_tokens: 64, ...body } : body
      ),
    },
  ),
  limit(
    "limits.max_tokens-optional",
    "| `max_tokens` is optional | chat-completion endpoint |",
    (e) => acceptances(e, "chat", "max_tokens"),
    {
      "chat-needs-max_tokens": refuseParam(
        "max_tokens",
        (body, { endpoint }) =>
          endpoint === "chat" && body["max_tokens"] === undefined,
      ),
      ...sharedFaults("chat-streams-need-max_tokens"),
    },
  ),
  {
    id: "limits.max_tokens-integer",
    section: "POST /v1/messages (operation `createMessage`)",
    rule:
      "| max_tokens | integer | yes | Maximum output tokens; generation stops at this count |",
    mode: "replay",
    judge: (e) => refusals(e, "messages", "max_tokens").map(refused),
    faults: {
      "max_tokens-coerced": changeBody((body) =>
        field(body, "max_tokens", (value) => value)
      ),
      "max_tokens-rounded": changeBody((body) =>
        typeof body["max_tokens"] === "number"
          ? field(body, "max_tokens", Math.ceil)
          : body
      ),
      "max_tokens-negative-ok": acceptWhere((body) =>
        body["max_tokens"] === -1
      ),
    },
  },
  {
    id: "limits.chat-max_tokens-integer",
    rule:
      "| max_tokens | integer | no | Optional here (required on the message endpoint) |",
    mode: "replay",
    judge: (e) => refusals(e, "chat", "max_tokens").map(refused),
    faults: sharedFaults("max_tokens-coerced", "max_tokens-rounded"),
  },
  limit(
    "limits.temperature-range",
    MESSAGES_TEMPERATURE,
    (e) => refusals(e, "messages", "temperature").map(refused),
    {
      "temperature-of-chat-on-messages": acceptWhere((body, { endpoint }) =>
        endpoint === "messages" && typeof body["temperature"] === "number" &&
        body["temperature"] > 1 && body["temperature"] <= 2
      ),
      "temperature-clamped": changeBody((body, { endpoint }) =>
        typeof body["temperature"] === "number"
          ? field(
            body,
            "temperature",
            (value) =>
              Math.max(0, Math.min(value, endpoint === "chat" ? 2 : 1)),
          )
          : body
      ),
      "temperature-below-ok": changeBody((body) =>
        typeof body["temperature"] === "number"
          ? field(body, "temperature", (value) => Math.max(0, value))
          : body
      ),
      "temperature-coerced": changeBody((body) =>
        field(body, "temperature", (value) => value)
      ),
      ...sharedFaults("temperature-unchecked"),
    },
  ),
  limit(
    "limits.temperature-edges",
    MESSAGES_TEMPERATURE,
    (e) => acceptances(e, "messages", "temperature"),
    {
      "temperature-one-refused": refuseParam(
        "temperature",
        (body) => body["temperature"] === 1,
      ),
      ...sharedFaults("temperature-zero-refused"),
    },
    // Live models may have limits of their own; `limits.takes-temperature` asks several models.
    "replay",
  ),
  limit(
    "limits.chat-temperature-range",
    CHAT_TEMPERATURE,
    (e) => refusals(e, "chat", "temperature").map(refused),
    sharedFaults(
      "temperature-unchecked",
      "temperature-clamped",
      "temperature-coerced",
    ),
  ),
  limit(
    "limits.chat-temperature-edges",
    CHAT_TEMPERATURE,
    (e) => acceptances(e, "chat", "temperature"),
    sharedFaults(
      "temperature-zero-refused",
      "temperature-of-messages-on-chat",
      "temperature-two-refused",
    ),
    "replay",
  ),
  limit(
    "limits.top_p-or-temperature",
    "| Use `top_p` or `temperature`, not both | message endpoint |",
    (e) => [
      ...acceptances(e, "messages", "top_p"),
      ...refusals(e, "messages", "top_p").map(refused),
    ],
    {
      "top_p-refused": refuseParam(
        "top_p",
        (body) => body["top_p"] !== undefined,
      ),
      "both-samplings-accepted": acceptWhere((body) =>
        body["top_p"] !== undefined && body["temperature"] !== undefined
      ),
      "both-samplings-500": {
        accept: (problem, body) =>
          body["top_p"] !== undefined && body["temperature"] !== undefined
            ? problemOf(500, "failed")
            : problem,
      },
    },
  ),
  {
    id: "limits.chat-system",
    // The sentence binds clients.
    level: "convention",
    rule: "a top-level `system` field must not be sent to this endpoint.",
    judge: (e) => [
      ...acceptances(e, "chat", "system"),
      ...refusals(e, "chat", "system").map(refused),
    ],
    faults: {
      "chat-system-dropped": changeBody(({ system: _, ...body }) => body),
      "chat-system-blocks-dropped": changeBody((body) => {
        const { system, ...rest } = body;
        return Array.isArray(system) ? rest : body;
      }),
      ...sharedFaults("chat-system-first-refused"),
    },
  },
  ...REFUSAL_CHECKS,
  ...LIMITS_USAGE_CHECKS,
  ...LIMITS_REPORTED_CHECKS,
  ...INPUT_TOKEN_CHECKS,
  ...LIMITS_UPSTREAM_CHECKS,
  ...REQUEST_FORM_CHECKS,
  ...STOP_STRING_CHECKS,
]);
