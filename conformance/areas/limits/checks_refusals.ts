/** Checks of the area `limits`: how a value outside the limits is refused. */
import { changeProblems, changeReplies } from "../../faults/change_hooks.ts";
import {
  equals,
  factOf,
  type Finding,
  NotTestable,
  statusIs,
} from "../../suite/finding.ts";
import { type Check, checksWith, type Faults } from "../../suite/check.ts";
import { refusalBody } from "./faults.ts";
import { type Exchange, isStream } from "../../evidence/exchange.ts";
import { at, textAt } from "../../evidence/json_path.ts";
import { BEYOND } from "./scenarios.ts";
import { GENERATION, type Generation } from "../../suite/requests.ts";
import type { Evidence } from "../../suite/evidence.ts";

const SECTION = "Limits";

/**
 * The exchanges of a form, whole and streamed; refusals count only when a request beside them was
 * answered.
 */
export function sent(
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
export function formsOf(
  e: Evidence,
  from: typeof BEYOND,
  endpoint: Generation,
  field: string,
): string[] {
  return Object.entries(from[endpoint]).filter(([, limit]) =>
    limit.field === field && (e.mode === "replay" || limit.live !== "never")
  ).map(([form]) => form);
}

export function refusals(
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

export function limit(
  id: string,
  text: string,
  judge: (e: Evidence) => Finding[],
  faults: Faults,
  mode: Check["mode"] = "both",
): Check {
  return {
    id,
    rule: { section: SECTION, text },
    level: "documented",
    mode,
    reads: ["limits"],
    judge,
    faults,
  };
}

export const REFUSAL_CHECKS: readonly Check[] = checksWith({
  section: "POST /v1/chat/completions (operation `createChatCompletion`)",
  mode: "both",
  reads: ["limits"],
}, [
  {
    id: "limits.refusal-names-field",
    source: "Claude Code and both libraries show `error.message` to users",
    rule: "A refusal names the wrong field, in a JSON error.",
    judge: (e) =>
      GENERATION.flatMap((endpoint) =>
        ["max_tokens", "temperature", "system"].flatMap((field) =>
          refusals(e, endpoint, field).map((x) =>
            factOf(
              "error.message",
              textAt(x.json, "error.message") || x.text.slice(0, 120),
              x,
            ).mustBe(
              `names ${field}`,
              textAt(x.json, "error.message").includes(field) ||
                at(x.json, "error.param") === field,
            )
          )
        )
      ),
    faults: {
      "refusal-without-field": {
        problem: ({ param: _, ...problem }) =>
          problem.status === 400
            ? { ...problem, message: "The request is invalid" }
            : problem,
      },
      "refusal-names-other-field": {
        problem: ({ param: _, ...problem }) =>
          problem.status === 400
            ? { ...problem, message: "messages: wrong" }
            : problem,
      },
    },
  },
  {
    id: "limits.refusal-body",
    source:
      "Both formats' documentation: a wrong request gets `invalid_request_error`",
    rule:
      "A refusal is a 400 or 422 with a JSON error of the type `invalid_request_error`, also for a stream request.",
    judge: (e) =>
      allRefusals(e).flatMap((x) => [
        statusIs(x, 400, 422),
        equals(x, "error.type", "invalid_request_error"),
        factOf("type", at(x.json, "type"), x).mustBe(
          "error, on the message endpoint",
          x.endpoint === "chat" || at(x.json, "type") === "error",
        ),
        factOf("reply", x.text.slice(0, 80), x).mustBe(
          "no event stream",
          x.frames.length === 0 && !isStream(x),
        ),
      ]),
    faults: {
      "refusal-type-api_error": changeProblems({ status: 400 }, {
        type: "api_error",
      }),
      "refusal-without-top-type": refusalBody((body) => ({
        error: body["error"],
      })),
      "refusal-as-stream": changeReplies({ status: 400, stream: true }, {
        headers: { "content-type": "text/event-stream" },
      }),
    },
  },
]);
