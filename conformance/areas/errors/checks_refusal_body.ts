/** Checks of the area `errors`: the shape of every refusal in the whole run. */
import {
  factOf,
  type Finding,
  NotTestable,
  satisfies,
  valueAt,
} from "../../suite/finding.ts";
import { type Check, type Faults, nearMisses } from "../../suite/check.ts";
import { isObject, type Json, objectOf } from "@model-gateway/replay/json";
import { refusal, withType, withValue } from "./faults.ts";
import { withAt } from "../../faults/change_reply.ts";
import { fieldOf, type Right, valueOf } from "../../faults/field.ts";
import { REFUSAL_FORMS } from "../replies/refusals.ts";
import { TYPES_OF } from "./refusal_words.ts";
import { fitsStatus } from "./type_of_status.ts";
import { type Exchange, headerOf } from "../../evidence/exchange.ts";
import { at, textAt } from "../../evidence/json_path.ts";
import type { Evidence } from "../../suite/evidence.ts";

const PROVED_BY = ["wrong-bodies"];

/** All refusals in the run by the three operations, of requests that a library can send. */
function refusals(
  e: Evidence,
  endpoints: readonly Exchange["endpoint"][],
): readonly Exchange[] {
  const found = e.exchanges.filter(({ head, request, endpoint, ending }) =>
    (head?.status ?? 0) >= 400 && request.method !== "HEAD" &&
    request.client === "fetch" && endpoints.includes(endpoint) &&
    ending === "complete"
  );
  if (found.length > 0) return found;
  throw new NotTestable("the whole run has no refusal");
}

const ALL = ["messages", "chat", "models"] as const;

function ofEvery(
  name: string,
  text: string,
  endpoints: readonly Exchange["endpoint"][],
  judge: (refusal: Exchange) => readonly Finding[],
  faults: Faults,
): Check {
  return {
    id: `errors.${name}`,
    rule: {
      source:
        "The libraries of both formats read error bodies; see also section Errors of the specification",
      text,
    },
    level: "convention",
    mode: "both",
    reads: "everything",
    provedBy: PROVED_BY,
    judge: (e) => refusals(e, endpoints).flatMap(judge),
    faults,
  };
}

/** A rule about one member, with its near misses. */
function ofMember(
  name: string,
  text: string,
  endpoints: readonly Exchange["endpoint"][],
  path: string,
  right: Right,
): Check {
  const { each, misses } = fieldOf(
    {
      objects: ({ json }) => [{ json }],
      put: (path, value) =>
        refusal((reply) => ({
          ...reply,
          body: withAt(reply.body, path, valueOf(value, reply.body)),
        }), endpoints.includes("chat") ? undefined : "messages"),
    },
    path,
    right,
  );
  return ofEvery(
    name,
    text,
    endpoints,
    (x) => [each(x)],
    nearMisses(`errors.${name}`, misses),
  );
}

function word(value: Json | undefined): boolean {
  return typeof value === "string" && value.trim() !== "";
}

export const REFUSAL_BODY_CHECKS: readonly Check[] = [
  ofEvery(
    "every-body-is-json",
    "Every refusal is a JSON object with an `error` object, under `content-type: application/json`.",
    ALL,
    (x) => [
      factOf("content-type", headerOf(x, "content-type") ?? "none", x)
        .mustBe(
          "application/json",
          /^application\/json\b/i.test(headerOf(x, "content-type") ?? ""),
        ),
      satisfies(x, "", "a JSON object", isObject),
      satisfies(x, "error", "an object", isObject),
    ],
    {
      "error-as-text-plain": withType("text/plain; charset=utf-8"),
      "error-as-html": withType("text/html"),
      "error-is-a-string": withValue(
        "error",
        ({ body }) => objectOf(body["error"])["message"] ?? "",
      ),
    },
  ),
  ofMember(
    "every-message-is-text",
    "`error.message` is a string that is not empty: no HTML page, no JSON inside it, no stack trace.",
    ALL,
    "error.message",
    REFUSAL_FORMS.messages.members["error.message"],
  ),
  ofEvery(
    "no-traces",
    "No member of a refusal exposes internals: no stack trace, no file and line.",
    ALL,
    (x) => [
      factOf("body", x.text.slice(0, 300), x).mustBe(
        "no internals",
        !/\\n\s+at \S|\bfile:\/\/\/|\.(ts|js|py|go|rs):\d+(:\d+)?\b|"(stack|stacktrace|traceback)"\s*:/i
          .test(x.text),
      ),
    ],
    {
      "error-with-stack": withValue(
        "error.stack",
        "Error: no\n    at handle (gateway.ts:10:3)",
      ),
    },
  ),
  ofMember(
    "every-error-has-a-type",
    "`error.type` is a word in lower case.",
    ALL,
    "error.type",
    REFUSAL_FORMS.chat.members["error.type"],
  ),
  ofMember(
    "message-envelope",
    "An error of the message endpoint has `type` = `error` beside the `error` object.",
    ["messages"],
    "type",
    REFUSAL_FORMS.messages.members.type,
  ),
  ofMember(
    "message-type-vocabulary",
    "On the message endpoint `error.type` is one of the types that the format's libraries know.",
    ["messages"],
    "error.type",
    REFUSAL_FORMS.messages.members["error.type"],
  ),
  ofEvery(
    "message-type-fits-status",
    "On the message endpoint `error.type` fits the status.",
    ["messages"],
    (x) => {
      const fitting = TYPES_OF[x.head?.status ?? 0];
      return [
        valueAt(x, "error.type").mustBe(
          `one that fits ${x.head?.status}: ${
            fitting?.join(" or ") ?? "anything"
          }`,
          (type) =>
            fitting === undefined ||
            (typeof type === "string" && fitting.includes(type)),
        ),
      ];
    },
    {
      "error-type-always-api_error": withValue("error.type", "api_error"),
      "error-type-always-invalid": withValue(
        "error.type",
        "invalid_request_error",
      ),
    },
  ),
  ofEvery(
    "chat-type-fits-status",
    "On the chat endpoint `error.type` does not contradict the status: a mistake of the client is no failure of the server, and the other way round.",
    ["chat"],
    (x) => [fitsStatus(x)],
    {
      "chat-error-type-always-api_error": withValue(
        "error.type",
        "api_error",
        "chat",
      ),
    },
  ),
  ofEvery(
    "chat-fields",
    "On the chat endpoint `error.param` is a string or null, and `error.code` a string, a number or null.",
    ["chat"],
    (x) => [
      valueAt(x, "error.param").mustBe(
        "a string, null or absent",
        (param) => (param ?? null) === null || typeof param === "string",
      ),
      valueAt(x, "error.code").mustBe(
        "a string, a number, null or absent",
        (code) =>
          (code ?? null) === null || typeof code === "number" || word(code),
      ),
    ],
    {
      "chat-error-param-list": withValue(
        "error.param",
        ["messages", 0],
        "chat",
      ),
      "chat-error-code-object": withValue("error.code", {}, "chat"),
    },
  ),
  ofEvery(
    "one-request-id",
    "A `request_id` in the body of an error is the one in the `request-id` header.",
    ALL,
    (x) => {
      const requestId = at(x.json, "request_id");
      const header = headerOf(x, "request-id");
      return [
        factOf("request_id", requestId ?? "none", x).mustBe(
          header ?? "any",
          requestId === undefined || header === undefined ||
            requestId === header,
        ),
      ];
    },
    {
      "error-request-id-of-another": withValue(
        "request_id",
        "req_0000000000000000000000ff",
      ),
    },
  ),
  ofEvery(
    "one-error-object",
    "A refusal contains one error and no reply: it has no `choices`, no `content` and no `usage`.",
    ALL,
    (x) =>
      ["choices", "content", "usage", "object"].map((name) =>
        satisfies(x, name, "nothing", (found) => (found ?? null) === null)
      ),
    {
      "error-beside-a-reply": refusal((reply) => ({
        ...reply,
        body: { ...reply.body, choices: [], content: [] },
      })),
    },
  ),
  ofEvery(
    "auth-words-only-for-keys",
    "`authentication_error` and `invalid_api_key` come only with 401: libraries then ask for another key.",
    ALL,
    (x) => {
      const names = [
        textAt(x.json, "error.type"),
        textAt(x.json, "error.code"),
      ];
      const blamed = names.some((name) =>
        name === "authentication_error" || name === "invalid_api_key"
      );
      return [
        factOf("error.type and error.code", names.join(", "), x).mustBe(
          "nothing about the key",
          !blamed || x.head?.status === 401,
        ),
      ];
    },
    { "error-blames-the-key": withValue("error.code", "invalid_api_key") },
  ),
];
