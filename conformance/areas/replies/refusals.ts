/** The refusals of every endpoint: one rule, with each format's members and their near misses. */
import {
  isObject,
  type Json,
  type JsonObject,
} from "@model-gateway/replay/json";
import type { Exchange } from "../../evidence/exchange.ts";
import { numberAt, textAt } from "../../evidence/json_path.ts";
import { withAt } from "../../faults/change_reply.ts";
import {
  fieldsOf,
  literal,
  oneOf,
  optional,
  type Right,
  right,
  valueOf,
  whole,
} from "../../faults/field.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type { Check, Misses } from "../../suite/check.ts";
import { factOf, type Finding, some } from "../../suite/finding.ts";
import { contentType } from "../transport/checks_request_ids.ts";
import {
  MESSAGE_TYPES,
  plainMessage,
  TYPES_OF,
} from "../errors/refusal_words.ts";
import { fitsStatus } from "../errors/type_of_status.ts";

/** How the refusals of a format are written. */
interface RefusalForm {
  readonly members: Readonly<Record<string, Right>>;
  /** Whether its words fit the status. */
  readonly fits: (x: Exchange) => Finding;
}

const MESSAGE: Right = right("a plain text", plainMessage, {
  empty: "",
  number: 1,
  page: "<html><body><h1>Bad request</h1></body></html>",
  json: '{"error":{"message":"bad"}}',
});

function word(pattern: RegExp, expected: string, otherCase: string): Right {
  return right(
    expected,
    (value) => typeof value === "string" && pattern.test(value),
    { "empty": "", "other-case": otherCase, "number": 1, "list": ["bad"] },
  );
}

const isFilled = (value: Json | undefined): boolean =>
  typeof value === "string" && value.trim() !== "";

/** A string that is not empty, or null; `from` lists further values. */
function nullable(...from: readonly (Json | undefined)[]): Right {
  return right(
    "a string or null",
    (value) => value === null || from.includes(value) || isFilled(value),
    { number: 1, empty: "", list: ["input", 0], object: {} },
  );
}

const ERROR: Right = right("an object", isObject, { text: "bad request" });

/** The members that the chat and the Responses format share. */
const TYPED = {
  error: ERROR,
  "error.message": MESSAGE,
  "error.type": word(
    /^[a-z][a-z0-9_.-]*$/,
    "a word in lower case",
    "INVALID_REQUEST",
  ),
} as const;

/** The status words of the generate-content format. */
const STATUS_WORDS: Readonly<Record<number, readonly string[]>> = {
  400: ["INVALID_ARGUMENT", "FAILED_PRECONDITION"],
  401: ["UNAUTHENTICATED"],
  403: ["PERMISSION_DENIED"],
  404: ["NOT_FOUND"],
  429: ["RESOURCE_EXHAUSTED"],
  503: ["UNAVAILABLE"],
  504: ["DEADLINE_EXCEEDED"],
};

/** The details of the generate-content format, each with its type. */
const DETAILS: Right = right(
  "objects with their `@type`",
  (value) =>
    Array.isArray(value) &&
    value.every((detail: Json) =>
      /^type\.googleapis\.com\/./.test(textAt(detail, "@type"))
    ),
  {
    object: {},
    untyped: [{ reason: "API_KEY_INVALID" }],
    "other-type": [{ "@type": "ErrorInfo" }],
  },
);

export const REFUSAL_FORMS = {
  messages: {
    members: {
      type: literal("error"),
      error: ERROR,
      "error.message": MESSAGE,
      "error.type": oneOf(MESSAGE_TYPES),
    },
    fits: (x) => {
      const type = textAt(x.json, "error.type");
      const fitting = TYPES_OF[x.head?.status ?? 0];
      return factOf("error.type", type, x).mustBe(
        fitting?.join(" or ") ?? "anything",
        fitting?.includes(type) ?? true,
      );
    },
  },
  chat: {
    members: {
      ...TYPED,
      "error.param": optional(nullable()),
      "error.code": optional(nullable()),
    },
    fits: fitsStatus,
  },
  responses: {
    members: { ...TYPED, "error.param": nullable(), "error.code": nullable() },
    fits: fitsStatus,
  },
  generate_content: {
    members: {
      error: ERROR,
      "error.code": whole(400),
      "error.message": MESSAGE,
      "error.status": word(
        /^[A-Z_]+$/,
        "a word in upper case",
        "invalid_argument",
      ),
      "error.details": optional(DETAILS),
    },
    fits: (x) => {
      const status = x.head?.status ?? 0;
      const found = textAt(x.json, "error.status");
      const fitting = STATUS_WORDS[status];
      return factOf(
        "code and status",
        `${numberAt(x.json, "error.code")} ${found}`,
        x,
      ).mustBe(
        `${status} ${fitting?.join(" or ") ?? "and a word"}`,
        numberAt(x.json, "error.code") === status &&
          (fitting?.includes(found) ?? found !== ""),
      );
    },
  },
} as const satisfies Readonly<Record<string, RefusalForm>>;

function inRefusals(
  isOf: (x: Context) => boolean,
  change: (body: JsonObject) => JsonObject,
): Hooks {
  return {
    reply: (reply, x) =>
      isOf(x) && reply.status >= 400
        ? { ...reply, body: change(reply.body) }
        : reply,
  };
}

/** The rule about the members of the refusals that `of` selects and that faults change. */
export function refusalMembers(
  format: keyof typeof REFUSAL_FORMS,
  isOf: (x: Context) => boolean,
  of: (x: Exchange) => boolean = () => true,
): Pick<Check, "judge"> & { readonly misses: Misses } {
  const { each, misses } = fieldsOf({
    objects: ({ json }) => [{ json }],
    put: (path, value) =>
      inRefusals(isOf, (body) => withAt(body, path, valueOf(value, body))),
  }, REFUSAL_FORMS[format].members);
  return {
    judge: (e) =>
      some(
        e.exchanges.filter((x) =>
          (x.head?.status ?? 0) >= 400 && x.request.method !== "HEAD" && of(x)
        ).flatMap((x) => [...each(x), contentType(x, "application/json")]),
        "a refusal",
      ),
    misses: {
      ...misses,
      "as-text": {
        reply: (reply, x) =>
          isOf(x) && reply.status >= 400
            ? {
              ...reply,
              headers: { ...reply.headers, "content-type": "text/plain" },
            }
            : reply,
      },
    },
  };
}

/** The rule that the words of refusals fit the status. */
export function refusalWords(
  format: keyof typeof REFUSAL_FORMS,
  isOf: (x: Context) => boolean,
  of: (x: Exchange) => boolean = () => true,
): Pick<Check, "judge"> & { readonly misses: Misses } {
  const path = format === "generate_content" ? "error.status" : "error.type";
  const wrong = format === "generate_content" ? "INTERNAL" : "api_error";
  return {
    judge: (e) =>
      some(
        e.exchanges.filter((x) => (x.head?.status ?? 0) >= 400 && of(x)).map(
          REFUSAL_FORMS[format].fits,
        ),
        "a refusal",
      ),
    misses: {
      "word-fixed": inRefusals(isOf, (body) => withAt(body, path, wrong)),
      ...(format === "chat" || format === "responses"
        ? {
          "word-unknown": inRefusals(
            isOf,
            (body) => withAt(body, path, "went_wrong"),
          ),
          "code-fixed": inRefusals(
            isOf,
            (body) => withAt(body, "error.code", "went_wrong"),
          ),
        }
        : {}),
    },
  };
}
