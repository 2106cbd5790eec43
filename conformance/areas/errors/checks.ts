/** Checks of the area `errors`: wrong requests. */
import { changeProblems } from "../../faults/change_hooks.ts";
import type { Evidence } from "../../suite/evidence.ts";
import {
  factOf,
  type Finding,
  statusIs,
  valueAt,
} from "../../suite/finding.ts";
import { AFTER_REFUSAL_CHECKS, wrong } from "./checks_after_refusal.ts";
import { changeRequest } from "../../faults/change_request.ts";
import {
  type Check,
  checksWith,
  pick,
  sharedFaults,
} from "../../suite/check.ts";
import { WRONG_REQUEST_FAULTS } from "./faults.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { textAt } from "../../evidence/json_path.ts";
import {
  MISSING,
  MISTYPED,
  type WrongMember,
} from "./scenarios_invalid_requests.ts";
import { REFUSAL_BODY_CHECKS } from "./checks_refusal_body.ts";
import { REPLY_ERROR_CHECKS } from "./checks_replies.ts";

const FORMS = ["no-json", "no-messages", "unknown-role"] as const;

/** Why a wrong request must get a 4xx. */
const CALLERS_FAULT =
  "Client libraries retry 5xx and report 4xx: a client's mistake must be a 4xx";

const BODIES = [
  "body-empty",
  "body-blank",
  "body-array",
  "body-null",
  "body-string",
  "body-number",
  "body-cut",
  "body-trailing",
  "body-form",
] as const;

/** Rows of the specification's tables about required members. */
const REQUIRED: Readonly<Record<string, readonly [string, string]>> = {
  "missing-model": [
    "POST /v1/messages",
    "| model | string | yes | One of the model ids; exactly as listed by `/v1/models` |",
  ],
  "missing-messages": ["POST /v1/messages", "| messages | array | yes |"],
  "missing-max_tokens": [
    "Limits",
    "| `max_tokens` is required and is an upper bound on output tokens | message endpoint |",
  ],
  "missing-role": [
    "POST /v1/messages",
    "Each entry has `role` (`user` or `assistant`) and `content`",
  ],
  "missing-content": [
    "POST /v1/messages",
    "Each entry has `role` (`user` or `assistant`) and `content`",
  ],
};

/** The refusal is a 4xx, and its message names the wrong member. */
function refusedFor(x: Exchange, names: readonly string[]): Finding[] {
  const error = `${textAt(x.json, "error.param")} ${
    textAt(x.json, "error.message")
  }`;
  return [
    statusIs(x, 400, 422),
    factOf("error.param and error.message", error, x).mustBe(
      `name ${names.join(" or ")}`,
      names.some((name) => error.includes(name)),
    ),
  ];
}

function memberCheck(
  form: string,
  { names, only }: WrongMember,
  rule: Check["rule"],
  level: Check["level"],
): Check {
  return {
    id: `errors.${form}`,
    rule,
    level,
    mode: "both",
    reads: ["wrong-bodies"],
    judge: (e) => wrong(e, form, only).flatMap((x) => refusedFor(x, names)),
    faults: pick(
      WRONG_REQUEST_FAULTS,
      `${form}-accepted`,
      "errors-name-nothing",
      "every-wrong-request-500",
    ),
  };
}

/** A check that a missing member is refused; the exact error is not documented. */
function missingCheck(form: string, { only }: WrongMember): Check {
  const [section = "", text = ""] = REQUIRED[form] ?? [];
  return {
    id: `errors.${form}`,
    rule: { section, text },
    level: "documented",
    mode: "both",
    reads: ["wrong-bodies"],
    judge: (e) =>
      wrong(e, form, only).map((x) => {
        const status = x.head?.status ?? 0;
        return factOf("status", x.head?.status ?? x.ending, x).mustBe(
          "4xx",
          status >= 400 && status < 500,
        );
      }),
    faults: pick(
      WRONG_REQUEST_FAULTS,
      `${form}-accepted`,
      "every-wrong-request-500",
    ),
  };
}

/** Both endpoints refuse an unknown model with the same code. */
function modelNotFound(x: Exchange): Finding[] {
  const names = [textAt(x.json, "error.code"), textAt(x.json, "error.type")];
  const usual = x.endpoint === "messages"
    ? ["model_not_found", "not_found_error"]
    : ["model_not_found"];
  return [
    statusIs(x, 404),
    factOf("error.code and error.type", names.join(", "), x).mustBe(
      usual.join(" or "),
      names.some((name) => usual.includes(name)),
    ),
  ];
}

export const ERRORS_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: ["wrong-bodies"],
}, [
  {
    id: "errors.unlisted-model",
    section: "What the service does",
    rule: "An id absent from the list cannot be called with that key.",
    reads: ["wrong-requests"],
    judge: (e) => {
      e.replies("*/*/control");
      return e.matching("*/*/unknown-model").map((x) =>
        factOf("status", x.head?.status ?? x.ending, x).mustBe(
          "400, 403 or 404",
          [400, 403, 404].includes(x.head?.status ?? 0),
        )
      );
    },
    faults: {
      "unknown-model-served": changeRequest((modelRequest) =>
        modelRequest.model.startsWith("vendor")
          ? {}
          : { model: "vendora-haiku-4-5" }
      ),
      "unknown-model-500": changeProblems({ code: "model_not_found" }, {
        status: 500,
      }),
    },
  },
  {
    id: "errors.wrong-request-400",
    source: CALLERS_FAULT,
    rule:
      "A body that is not JSON, no messages, or an unknown role: 400 with a JSON error.",
    reads: ["wrong-requests"],
    judge: (e) => {
      e.replies("*/*/control");
      return FORMS.flatMap((form) => e.matching(`*/*/${form}`)).flatMap((x) => [
        statusIs(x, 400, 422),
        valueAt(x, "error.message").mustBe(
          "a string that is not empty",
          (text) => typeof text === "string" && text !== "",
        ),
      ]);
    },
    faults: {
      "wrong-request-500": changeProblems({ status: 400 }, { status: 500 }),
    },
  },
  ...BODIES.map((form) => ({
    id: `errors.${form}`,
    source: CALLERS_FAULT,
    rule:
      `A body that is not a JSON object (${form}) is refused with 400, 415 or 422 and an error message.`,
    judge: (e: Evidence) =>
      wrong(e, form).flatMap((x) => [
        statusIs(x, 400, 415, 422),
        valueAt(x, "error.message").mustBe(
          "a string that is not empty",
          (text) => typeof text === "string" && text !== "",
        ),
      ]),
    faults: pick(
      WRONG_REQUEST_FAULTS,
      "every-wrong-request-500",
      form === "body-trailing"
        ? "bytes-after-json-ignored"
        : "any-body-will-do",
    ),
  })),
  ...Object.entries(MISSING).map(([form, member]) =>
    missingCheck(form, member)
  ),
  {
    id: "errors.missing-named",
    source: CALLERS_FAULT,
    rule:
      "A missing required member is refused with 400 or 422, and the error names it.",
    judge: (e) =>
      Object.entries(MISSING).flatMap(([form, { names, only }]) =>
        wrong(e, form, only).flatMap((x) => refusedFor(x, names))
      ),
    faults: sharedFaults("errors-name-nothing", "every-wrong-request-500"),
  },
  {
    id: "errors.chat-param-names-member",
    source:
      "https://platform.openai.com/docs/guides/error-codes; the library shows `error.param` as `.param`",
    rule:
      "On the chat endpoint the `error.param` of a wrong member is the path of that member.",
    level: "contract",
    judge: (e) =>
      Object.entries({ ...MISSING, ...MISTYPED }).flatMap((
        [form, { names, only }],
      ) =>
        only === "messages"
          ? []
          : wrong(e, form, "chat").map((x) =>
            factOf("error.param", textAt(x.json, "error.param"), x).mustBe(
              `a path that ends with ${names.join(" or ")}`,
              names.some((name) =>
                new RegExp(`(^|[.\\]])${name}(\\[\\d+\\]|\\.\\d+)?$`).test(
                  textAt(x.json, "error.param"),
                )
              ),
            )
          )
      ),
    faults: {
      "chat-param-lost": {
        problem: ({ param: _, ...problem }) => problem,
      },
      "chat-param-of-another": changeProblems({}, { param: "user" }),
    },
  },
  ...Object.entries(MISTYPED).map(([form, member]) =>
    memberCheck(form, member, {
      source:
        `${CALLERS_FAULT}; sections POST /v1/messages and POST /v1/chat/completions give the types`,
      text:
        `A member of a wrong type (${form}) is refused, and the error names it.`,
    }, "convention")
  ),
  {
    id: "errors.model-not-found",
    section: "Errors",
    rule: "`model_not_found` is the name of an error concerning a model id",
    level: "convention",
    judge: (e) =>
      wrong(e, "unknown-model").concat(wrong(e, "unknown-model-stream"))
        .flatMap(modelNotFound),
    faults: {
      "unknown-model-400": changeProblems({ code: "model_not_found" }, {
        status: 400,
      }),
      // The error of an unknown model has no code on either endpoint.
      "unknown-model-has-no-name": {
        problem: ({ code, ...problem }) =>
          code === "model_not_found"
            ? { ...problem, type: "invalid_request_error" }
            : { ...problem, ...(code === undefined ? {} : { code }) },
      },
      ...sharedFaults("unknown-model-500", "unknown-model-served"),
    },
  },
  {
    id: "errors.model-empty",
    source: CALLERS_FAULT,
    rule: "An empty model id is refused with 400, 404 or 422.",
    judge: (e) =>
      wrong(e, "empty-model").map((x) => statusIs(x, 400, 404, 422)),
    faults: {
      "empty-model-served": {
        accept: (problem, body) => body["model"] === "" ? undefined : problem,
      },
      ...sharedFaults("every-wrong-request-500"),
    },
  },
  ...AFTER_REFUSAL_CHECKS,
  ...REFUSAL_BODY_CHECKS,
  ...REPLY_ERROR_CHECKS,
]);
