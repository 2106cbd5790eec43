/** Checks of the area `generate_content`: refusals, and upstreams that fail. */
import { admit } from "../../faults/change_hooks.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { listAt, textAt } from "../../evidence/json_path.ts";
import type { Json } from "@model-gateway/replay/json";
import { inErrors, status } from "../../faults/change_generate_content.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { compare, equals, factOf, statusIs } from "../../suite/finding.ts";
import { refusalMembers, refusalWords } from "../replies/refusals.ts";
import { WRONG } from "./scenarios_refusals.ts";

const REFUSED = [
  "generate-content-wrong",
  "generate-content-refused",
  "generate-content-models",
];

const IS_CONTENT = ({ endpoint }: Context): boolean =>
  endpoint === "generate_content";
const WORDS = refusalWords("generate_content", IS_CONTENT);

function detailOf(x: Exchange, kind: string): Json | undefined {
  return listAt(x.json, "error.details").find((detail) =>
    textAt(detail, "@type").endsWith(`google.rpc.${kind}`)
  );
}

/** That a refusal has a status, and the word for it. */
function refused(
  pattern: string,
  code: number,
  word: string,
): Check["judge"] {
  return (e) =>
    e.matching(pattern).flatMap((x) => [
      statusIs(x, code),
      equals(x, "error.status", word),
    ]);
}

/** How the vendor refuses a request without a key, and one with a wrong key. */
const KEY_REFUSALS = {
  "no-key": "403 PERMISSION_DENIED",
  "wrong-key": "400 INVALID_ARGUMENT",
} as const;

/** Accepts every request without a look at its key. */
const NO_KEY: Hooks = admit({ endpoint: "generate_content" });

function worded(code: number, word: string): Hooks {
  return inErrors((error) =>
    error["code"] === code ? { ...error, status: word } : error
  );
}

function without(kind: string): Hooks {
  return inErrors((error) => ({
    ...error,
    details: listAt(error, "details").filter((detail) =>
      !textAt(detail, "@type").endsWith(kind)
    ),
  }));
}

export const GENERATE_CONTENT_REFUSAL_CHECKS: readonly Check[] = checksWith({
  section: "Generate content errors",
  mode: "both",
  needs: "generate-content",
  reads: REFUSED,
}, [
  {
    id: "generate_content.error-body",
    rule:
      "A refusal is a JSON object with `error`, whose members are `code`, `message`, `status` and, where there is more to say, `details`.",
    ...refusalMembers("generate_content", IS_CONTENT),
  },
  {
    id: "generate_content.error-words",
    rule:
      "`code` is the HTTP status, and `status` its word: `INVALID_ARGUMENT` for 400, `UNAUTHENTICATED` for 401, `NOT_FOUND` for 404, `RESOURCE_EXHAUSTED` for 429, `UNAVAILABLE` for 503.",
    judge: WORDS.judge,
    misses: {
      ...WORDS.misses,
      "code-fixed": inErrors({ code: 500 }),
      "401-as-permission": worded(401, "PERMISSION_DENIED"),
    },
  },
  {
    id: "generate_content.wrong-requests",
    rule: "A wrong request is refused with 400.",
    reads: ["generate-content-wrong"],
    judge: (e) =>
      Object.keys(WRONG).flatMap((name) =>
        e.matching(`generate_content/*/whole/${name}`).map((x) =>
          statusIs(x, 400)
        )
      ),
    misses: {
      "as-500": status(400, 500),
      "accepted": {
        accept: (problem, _, { endpoint }) =>
          endpoint === "generate_content" &&
            problem?.param?.endsWith("temperature") === true
            ? undefined
            : problem,
      },
      "role-accepted": {
        accept: (problem, _, { endpoint }) =>
          endpoint === "generate_content" &&
            problem?.param?.endsWith("role") === true
            ? undefined
            : problem,
      },
    },
  },
  {
    id: "generate_content.field-violations",
    rule:
      "The `fieldViolations` among its `details` name the field, such as `contents[0].role`.",
    level: "convention",
    reads: ["generate-content-wrong"],
    judge: (e) =>
      Object.entries(WRONG).flatMap(([name, { field }]) =>
        e.matching(`generate_content/*/whole/${name}`).map((x) => {
          const found = textAt(
            detailOf(x, "BadRequest"),
            "fieldViolations.0.field",
          );
          return factOf("field", found, x).mustBe(
            `${field}`,
            field.test(found),
          );
        })
      ),
    misses: {
      lost: without("BadRequest"),
      "last-part": inErrors((error) => ({
        ...error,
        details: JSON.parse(
          JSON.stringify(error["details"] ?? []).replace(
            /"field":"[^"]*\./,
            '"field":"',
          ),
        ),
      })),
    },
  },
  {
    id: "generate_content.unknown-model",
    rule: "An unknown model is refused with 404 and `NOT_FOUND`.",
    reads: ["generate-content-refused"],
    judge: refused(
      "generate_content/any/whole/unknown-model",
      404,
      "NOT_FOUND",
    ),
    misses: { "as-400": status(404, 400), "word": worded(404, "INTERNAL") },
  },
  {
    id: "generate_content.unknown-verb",
    rule:
      "What follows the model's id and is no verb of the format is refused with 404.",
    level: "convention",
    reads: ["generate-content-refused"],
    judge: (e) => [
      statusIs(e.exchange("generate_content/any/whole/unknown-verb"), 404),
    ],
    misses: { "as-200": status(404, 200) },
  },
  {
    id: "generate_content.key-needed",
    rule:
      "A request without a key, or with a wrong one, is refused with 401 and `UNAUTHENTICATED`, or as the vendor does: with 403 and `PERMISSION_DENIED` for none, with 400 and `INVALID_ARGUMENT` for a wrong one.",
    reads: ["generate-content-refused"],
    judge: (e) =>
      Object.entries(KEY_REFUSALS).flatMap(([name, vendors]) =>
        e.matching(`generate_content/any/whole/${name}`).map((x) => {
          const found = `${x.head?.status} ${textAt(x.json, "error.status")}`;
          return factOf("status and its word", found, x).mustBe(
            `401 UNAUTHENTICATED or ${vendors}`,
            found === "401 UNAUTHENTICATED" || found === vendors,
          );
        })
      ),
    misses: {
      open: NO_KEY,
      "as-403": status(401, 403),
      "as-500": status(401, 500),
      "wrong-key-accepted": {
        key: (key, { request }) =>
          key === undefined || request.headers["x-goog-api-key"] === undefined
            ? key
            : key.replace(/~$/, "0"),
        admit: (problem, { endpoint, request }) =>
          endpoint === "generate_content" &&
            request.headers["x-goog-api-key"]?.endsWith("~") === true
            ? undefined
            : problem,
      },
    },
  },
  {
    id: "generate_content.upstream-limit",
    rule:
      "An upstream's limit is 429 with `RESOURCE_EXHAUSTED`, and the `details` have its `retryDelay`.",
    mode: "replay",
    reads: ["generate-content-failures"],
    judge: (e) => [
      ...refused(
        "generate_content/*/*/rate-limit",
        429,
        "RESOURCE_EXHAUSTED",
      )(e),
      ...e.matching("generate_content/*/*/rate-limit").map((x) => {
        const delay = textAt(detailOf(x, "RetryInfo"), "retryDelay");
        return compare("retryDelay", delay, "7s", x);
      }),
    ],
    misses: {
      "delay-lost": without("RetryInfo"),
      "delay-number": inErrors((error) => ({
        ...error,
        details: JSON.parse(
          JSON.stringify(error["details"] ?? []).replace('"7s"', "7"),
        ),
      })),
      "as-500": status(429, 500),
    },
  },
  {
    id: "generate_content.upstream-overload",
    rule: "An upstream's overload is 503 with `UNAVAILABLE`.",
    mode: "replay",
    reads: ["generate-content-failures"],
    judge: refused("generate_content/*/*/overloaded", 503, "UNAVAILABLE"),
    misses: {
      "as-529": status(503, 529),
      "word": worded(503, "INTERNAL"),
    },
  },
  {
    id: "generate_content.overflow",
    rule: "A prompt longer than the model's window is refused with 400.",
    level: "convention",
    mode: "replay",
    reads: ["generate-content-failures"],
    judge: refused("generate_content/*/*/overflow", 400, "INVALID_ARGUMENT"),
    misses: {
      "as-500": status(400, 500),
      "word": worded(400, "OUT_OF_RANGE"),
    },
  },
  {
    id: "generate_content.upstream-failures",
    rule:
      "A whole reply that failed is an HTTP error, never a reply with the status 200.",
    mode: "replay",
    reads: ["generate-content-failures"],
    matching: "generate_content/*/*/failing",
    each: (x) =>
      factOf("status", `${x.head?.status}: ${x.text.slice(0, 160)}`, x)
        .mustBe(
          "500 to 599 with an error",
          (x.head?.status ?? 0) >= 500 &&
            textAt(x.json, "error.message") !== "",
        ),
    misses: {
      "as-200": status(500, 200),
      "as-400": status(500, 400),
    },
  },
]);
