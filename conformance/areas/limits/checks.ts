/** Checks of the area `limits`. */
import type { Exchange } from "../../evidence/exchange.ts";
import { isStream } from "../../evidence/exchange.ts";
import { at, textAt } from "../../evidence/json_path.ts";
import { isObject } from "@model-gateway/replay/json";
import { BEYOND, WITHIN } from "./scenarios.ts";
import { GENERATION, type Generation } from "../../suite/requests.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import {
  fact,
  type Finding,
  NotTestable,
  statusIs,
} from "../../suite/finding.ts";
import { REQUEST_FORM_CHECKS } from "./checks_request_forms.ts";
import { STOP_STRING_CHECKS } from "./checks_stop_strings.ts";
import { LIMITS_UPSTREAM_CHECKS } from "./checks_upstream.ts";
import { INPUT_TOKEN_CHECKS } from "./checks_input_tokens.ts";
import { LIMITS_REPORTED_CHECKS } from "./checks_reported.ts";
import { LIMITS_USAGE_CHECKS } from "./checks_usage.ts";

const SECTION = "Limits";

/**
 * The exchanges of a form, whole and streamed; refusals count only when a request beside them was
 * answered.
 */
function sent(
  e: Evidence,
  endpoint: Generation,
  form: string,
): readonly Exchange[] {
  e.replies(`${endpoint}/*/control`);
  const found = e.exchanges.filter(({ label }) => {
    const [of, , last] = label.split("/");
    return of === endpoint && (last === form || last === `${form}-stream`);
  });
  if (found.length > 0) return found;
  throw new NotTestable(`nothing was sent as ${endpoint} ${form}`);
}

/** The forms of a field that this kind of run sent. */
function formsOf(
  e: Evidence,
  from: typeof BEYOND,
  endpoint: Generation,
  field: string,
): string[] {
  return Object.entries(from[endpoint]).filter(([, limit]) =>
    limit.field === field && (e.mode === "replay" || limit.live !== "never")
  ).map(([form]) => form);
}

function refusals(
  e: Evidence,
  endpoint: Generation,
  field: string,
): Exchange[] {
  return formsOf(e, BEYOND, endpoint, field).flatMap((form) =>
    sent(e, endpoint, form)
  );
}

function allRefusals(e: Evidence): Exchange[] {
  return GENERATION.flatMap((endpoint) =>
    ["max_tokens", "temperature", "system"].flatMap((field) =>
      refusals(e, endpoint, field)
    )
  );
}

/**
 * Refused as the client's mistake; the exact status and body of such a refusal are not documented.
 */
function refused(x: Exchange): Finding {
  const status = x.head?.status ?? 0;
  return fact(
    status >= 400 && status < 500,
    "status",
    "4xx",
    x.head?.status ?? x.ending,
    x,
  );
}

/** Answered in the requested form, whole or streamed. */
function answered(x: Exchange): Finding {
  const good = x.head?.status === 200 &&
    (x.label.endsWith("-stream") ? isStream(x) : isObject(x.json));
  return fact(
    good,
    "reply",
    "200",
    `${x.head?.status ?? x.ending}: ${x.text.slice(0, 160)}`,
    x,
  );
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

function limit(
  id: string,
  text: string,
  judge: (e: Evidence) => Finding[],
  mutants: readonly string[],
  mode: Check["mode"] = "both",
): Check {
  return {
    id,
    rule: { section: SECTION, text },
    level: "documented",
    mode,
    reads: ["limits"],
    judge,
    mutants,
  };
}

const MESSAGES_TEMPERATURE =
  "| `temperature` range 0 to 1 | message endpoint |";
const CHAT_TEMPERATURE =
  "| `temperature` range 0 to 2 | chat-completion endpoint |";

/** All checks of the area `limits`. */
export const LIMITS_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: ["limits"],
}, [
  limit(
    "limits.max_tokens-required",
    "| `max_tokens` is required and is an upper bound on output tokens | message endpoint |",
    (e) => sent(e, "messages", "no-max_tokens").map(refused),
    ["max_tokens-has-default", "max_tokens-default-in-streams"],
  ),
  limit(
    "limits.max_tokens-optional",
    "| `max_tokens` is optional | chat-completion endpoint |",
    (e) => acceptances(e, "chat", "max_tokens"),
    ["chat-needs-max_tokens", "chat-streams-need-max_tokens"],
  ),
  {
    id: "limits.max_tokens-integer",
    rule: {
      section: "POST /v1/messages (operation `createMessage`)",
      text:
        "| max_tokens | integer | yes | Maximum output tokens; generation stops at this count |",
    },
    mode: "replay",
    judge: (e) => refusals(e, "messages", "max_tokens").map(refused),
    mutants: [
      "max_tokens-coerced",
      "max_tokens-rounded",
      "max_tokens-negative-ok",
    ],
  },
  {
    id: "limits.chat-max_tokens-integer",
    rule: {
      section: "POST /v1/chat/completions (operation `createChatCompletion`)",
      text:
        "| max_tokens | integer | no | Optional here (required on the message endpoint) |",
    },
    mode: "replay",
    judge: (e) => refusals(e, "chat", "max_tokens").map(refused),
    mutants: ["max_tokens-coerced", "max_tokens-rounded"],
  },
  limit(
    "limits.temperature-range",
    MESSAGES_TEMPERATURE,
    (e) => refusals(e, "messages", "temperature").map(refused),
    [
      "temperature-unchecked",
      "temperature-of-chat-on-messages",
      "temperature-clamped",
      "temperature-below-ok",
      "temperature-coerced",
    ],
  ),
  limit(
    "limits.temperature-edges",
    MESSAGES_TEMPERATURE,
    (e) => acceptances(e, "messages", "temperature"),
    ["temperature-zero-refused", "temperature-one-refused"],
    // Live models may have limits of their own; `limits.takes-temperature` asks several models.
    "replay",
  ),
  limit(
    "limits.chat-temperature-range",
    CHAT_TEMPERATURE,
    (e) => refusals(e, "chat", "temperature").map(refused),
    ["temperature-unchecked", "temperature-clamped", "temperature-coerced"],
  ),
  limit(
    "limits.chat-temperature-edges",
    CHAT_TEMPERATURE,
    (e) => acceptances(e, "chat", "temperature"),
    [
      "temperature-zero-refused",
      "temperature-of-messages-on-chat",
      "temperature-two-refused",
    ],
    "replay",
  ),
  limit(
    "limits.top_p-or-temperature",
    "| Use `top_p` or `temperature`, not both | message endpoint |",
    (e) => [
      ...acceptances(e, "messages", "top_p"),
      ...sent(e, "messages", "temperature-and-top_p").map((x) =>
        statusIs(x, 200, 400, 422)
      ),
    ],
    ["top_p-refused", "both-samplings-500"],
  ),
  {
    id: "limits.chat-system",
    rule: {
      section: "POST /v1/chat/completions (operation `createChatCompletion`)",
      text: "a top-level `system` field must not be sent to this endpoint.",
    },
    judge: (e) => [
      ...acceptances(e, "chat", "system"),
      ...refusals(e, "chat", "system").map(refused),
    ],
    mutants: [
      "chat-system-dropped",
      "chat-system-blocks-dropped",
      "chat-system-first-refused",
    ],
  },
  {
    id: "limits.refusal-names-field",
    rule: {
      source: "Claude Code and both libraries show `error.message` to users",
      text: "A refusal names the wrong field, in a JSON error.",
    },
    judge: (e) =>
      GENERATION.flatMap((endpoint) =>
        ["max_tokens", "temperature", "system"].flatMap((field) =>
          refusals(e, endpoint, field).map((x) =>
            fact(
              textAt(x.json, "error.message").includes(field) ||
                at(x.json, "error.param") === field,
              "error.message",
              `names ${field}`,
              textAt(x.json, "error.message") || x.text.slice(0, 120),
              x,
            )
          )
        )
      ),
    mutants: ["refusal-without-field", "refusal-names-other-field"],
  },
  {
    id: "limits.refusal-body",
    rule: {
      source:
        "Both formats' documentation: a wrong request gets `invalid_request_error`",
      text:
        "A refusal is a 400 or 422 with a JSON error of the type `invalid_request_error`, also for a stream request.",
    },
    judge: (e) =>
      allRefusals(e).flatMap((x) => [
        statusIs(x, 400, 422),
        fact(
          at(x.json, "error.type") === "invalid_request_error",
          "error.type",
          "invalid_request_error",
          at(x.json, "error.type"),
          x,
        ),
        fact(
          x.endpoint === "chat" || at(x.json, "type") === "error",
          "type",
          "error, on the message endpoint",
          at(x.json, "type"),
          x,
        ),
        fact(
          x.frames.length === 0 && !isStream(x),
          "reply",
          "no event stream",
          x.text.slice(0, 80),
          x,
        ),
      ]),
    mutants: [
      "refusal-type-api_error",
      "refusal-without-top-type",
      "refusal-as-stream",
    ],
  },
  ...LIMITS_USAGE_CHECKS,
  ...LIMITS_REPORTED_CHECKS,
  ...INPUT_TOKEN_CHECKS,
  ...LIMITS_UPSTREAM_CHECKS,
  ...REQUEST_FORM_CHECKS,
  ...STOP_STRING_CHECKS,
]);
