/** Checks of the area `limits`. */
import type { Exchange } from "../evidence/exchange.ts";
import { isStream } from "../evidence/exchange.ts";
import { at, textAt } from "../evidence/json_path.ts";
import { isObject } from "../replay/json.ts";
import { BEYOND, WITHIN } from "../scenarios/limits.ts";
import { GENERATION, type Generation } from "../suite/asks.ts";
import type { Check } from "../suite/check.ts";
import type { Evidence } from "../suite/evidence.ts";
import {
  fact,
  type Finding,
  NotTestable,
  skill,
  statusIs,
} from "../suite/finding.ts";
import { LIMITS_UPSTREAM_CHECKS } from "./limits_upstream.ts";
import { LIMITS_COUNTED_CHECKS } from "./limits_counted.ts";
import { LIMITS_TOLD_CHECKS } from "./limits_told.ts";
import { LIMITS_USAGE_CHECKS } from "./limits_usage.ts";

const SECTION = "Limits";

/** The exchanges of a form, whole and streamed; refusals count only beside a request that is answered. */
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

/** The forms of a field that were sent in this kind of run. */
function formsOf(
  e: Evidence,
  from: typeof BEYOND,
  endpoint: Generation,
  field: string,
): string[] {
  return Object.entries(from[endpoint]).filter(([, limit]) =>
    limit.field === field && (e.mode === "replay" || limit.live !== false)
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

const refused = (x: Exchange): Finding => statusIs(x, 400, 422);

/** Answered in the form that was asked for. */
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

/** Whether a live model takes a sampling parameter at all is its own affair. */
function acceptances(
  e: Evidence,
  endpoint: Generation,
  field: string,
): Finding[] {
  return formsOf(e, WITHIN, endpoint, field).flatMap((form) =>
    sent(e, endpoint, form).map((x) =>
      e.mode === "live" && field !== "max_tokens" && field !== "system"
        ? skill(
          x.head?.status === 200,
          "status",
          "200",
          x.head?.status ?? x.ending,
          x,
        )
        : answered(x)
    )
  );
}

function limit(
  id: string,
  text: string,
  judge: (e: Evidence) => Finding[],
  mutants: readonly string[],
): Check {
  return {
    id,
    rule: { section: SECTION, text },
    level: "documented",
    mode: "both",
    reads: ["limits"],
    judge,
    mutants,
  };
}

const MESSAGES_TEMPERATURE =
  "| `temperature` range 0 to 1 | message endpoint |";
const CHAT_TEMPERATURE =
  "| `temperature` range 0 to 2 | chat-completion endpoint |";

/** The checks. */
export const LIMITS_CHECKS: readonly Check[] = [
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
    level: "documented",
    mode: "replay",
    reads: ["limits"],
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
    level: "documented",
    mode: "replay",
    reads: ["limits"],
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
    level: "documented",
    mode: "both",
    reads: ["limits"],
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
      source: "Claude Code and both libraries show `error.message` to people",
      text: "A refusal says which field is wrong, in a JSON error.",
    },
    level: "convention",
    mode: "both",
    reads: ["limits"],
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
        "Both formats' documentation: a wrong request gives `invalid_request_error`",
      text:
        "A refusal is a JSON error of the type `invalid_request_error`, also where a stream was asked for.",
    },
    level: "convention",
    mode: "both",
    reads: ["limits"],
    judge: (e) =>
      allRefusals(e).flatMap((x) => [
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
  ...LIMITS_TOLD_CHECKS,
  ...LIMITS_COUNTED_CHECKS,
  ...LIMITS_UPSTREAM_CHECKS,
];
