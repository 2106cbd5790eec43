/** Checks of the area `responses`: refusals, and replies that fail. */
import { at, textAt } from "../../evidence/json_path.ts";
import { type Exchange, headerOf } from "../../evidence/exchange.ts";
import { fixtureContent } from "../../evidence/content.ts";
import { isObject } from "../../../replay/json.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { fact, type Finding, some, statusIs } from "../../suite/finding.ts";
import { nameOf, textOf, typeOf } from "./reply.ts";
import { UNKNOWN_IDS, UNSERVED, WRONG } from "./scenarios_refusals.ts";

const says = (text: string) => ({ section: "Responses errors", text });

/** Findings that each of these requests is refused with 400 and names its mistake. */
function refused(
  e: { matching(pattern: string): readonly Exchange[] },
  requests: Readonly<Record<string, { readonly param: RegExp }>>,
): Finding[] {
  return Object.entries(requests).flatMap(([name, { param }]) =>
    e.matching(`responses/*/whole/${name}`).flatMap((x) => [
      statusIs(x, 400),
      fact(
        param.test(textAt(x.json, "error.param")) ||
          // A path may also be written with points.
          param.test(
            textAt(x.json, "error.param").replaceAll(/\.(\d+)/g, "[$1]"),
          ),
        "error.param",
        `${param}`,
        at(x.json, "error.param"),
        x,
      ),
    ])
  );
}

/** The frame with the error, and the frame after it. */
function failure(x: Exchange) {
  const index = x.frames.findIndex((frame) => typeOf(frame) === "error");
  return { index, error: x.frames[index], last: x.frames[index + 1] };
}

/** Upstream failures: the statuses and codes that clients read, by the name of the request. */
const FAILURES: Readonly<Record<string, readonly [number, string?]>> = {
  overflow: [400, "context_length_exceeded"],
  "rate-limit": [429, "rate_limit_exceeded"],
  overloaded: [503, "server_is_overloaded"],
};

/** Part of `RESPONSES_CHECKS`. */
export const RESPONSES_REFUSAL_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  needs: "responses",
}, [
  {
    id: "responses.error-body",
    rule: says(
      "A refusal is a JSON object with `error`, whose members are `message`, `type`, `param` and `code`; the last two may be null.",
    ),
    reads: ["responses-wrong", "responses-methods", "responses-unknown-ids"],
    judge: (e) =>
      some(
        e.exchanges.filter((x) => (x.head?.status ?? 0) >= 400).map((x) => {
          const error = at(x.json, "error");
          const isNamed = (name: string): boolean =>
            textAt(error, name).trim() !== "";
          const isOpen = (name: string): boolean =>
            at(error, name) === null || isNamed(name);
          return fact(
            isNamed("message") && isNamed("type") && isOpen("param") &&
              isOpen("code"),
            "error",
            "message, type, param and code",
            x.text.slice(0, 300),
            x,
          );
        }),
        "a refusal",
      ),
    mutants: ["responses-error-bare", "responses-error-no-param"],
  },
  {
    id: "responses.wrong-requests",
    rule: says(
      "A wrong request is refused with 400, and `error.param` is the path of the mistake, such as `input[2].content[0]`.",
    ),
    level: "convention",
    reads: ["responses-wrong"],
    judge: (e) => refused(e, WRONG),
    mutants: ["responses-wrong-is-500", "responses-param-input-only"],
  },
  {
    id: "responses.one-way-back",
    rule: says("`previous_response_id` and `conversation` exclude each other."),
    reads: ["responses-wrong"],
    judge: (e) =>
      e.matching("responses/*/whole/both").map((x) => statusIs(x, 400)),
    mutants: ["responses-both-accepted"],
  },
  {
    id: "responses.unserved",
    rule: says(
      "What this gateway cannot do is refused with 400 and named: `background`, `conversation`, stored prompts and files, compaction, and vendors' tools without any other.",
    ),
    level: "contract",
    reads: ["responses-unserved"],
    judge: (e) => refused(e, UNSERVED),
    mutants: [
      "responses-background-ignored",
      "responses-compaction-ignored",
      "responses-file-id-ignored",
    ],
  },
  {
    id: "responses.unknown-ids",
    rule: says(
      "A `previous_response_id` or an `item_reference` that cannot be resolved is refused with 400, never ignored.",
    ),
    reads: ["responses-unknown-ids"],
    judge: (e) => refused(e, UNKNOWN_IDS),
    mutants: ["responses-previous-ignored", "responses-reference-ignored"],
  },
  {
    id: "responses.unknown-path",
    rule: says(
      "`GET` and `DELETE` of an unknown response are answered with 404.",
    ),
    reads: ["responses-unknown-ids"],
    judge: (e) =>
      ["GET", "DELETE"].flatMap((method) =>
        e.matching(`responses/any/${method}/unknown`).map((x) =>
          statusIs(x, 404)
        )
      ),
    mutants: ["responses-unknown-found"],
  },
  {
    id: "responses.web-socket",
    rule: says(
      "A web socket that the target does not have is refused with 426, so that clients use HTTP at once.",
    ),
    level: "convention",
    reads: ["responses-methods"],
    judge: (e) => [
      statusIs(e.exchange("responses/any/GET/socket"), 426, 101),
    ],
    mutants: ["responses-socket-404"],
  },
  {
    id: "responses.wrong-method",
    rule: says("`GET` without an id is refused with 404 or 405."),
    level: "convention",
    reads: ["responses-methods"],
    judge: (e) => [statusIs(e.exchange("responses/any/GET/plain"), 405, 404)],
    mutants: ["responses-get-answered"],
  },
  {
    id: "responses.no-model",
    rule: says(
      "An unknown model is refused with 400 or 404 and the code `model_not_found`.",
    ),
    level: "convention",
    reads: ["responses-methods"],
    judge: (e) => {
      const x = e.exchange("responses/any/POST/no-model");
      const code = textAt(x.json, "error.code");
      return [
        statusIs(x, 400, 404),
        fact(
          code === "model_not_found",
          "error.code",
          "model_not_found",
          code,
          x,
        ),
      ];
    },
    mutants: ["responses-no-model-code"],
  },
  {
    id: "responses.key-needed",
    rule: says("A request without a key is refused with 401."),
    reads: ["responses-methods"],
    judge: (e) => [statusIs(e.exchange("responses/any/POST/no-key"), 401)],
    mutants: ["responses-no-key-needed"],
  },
  {
    id: "responses.upstream-refusals",
    rule: says(
      "Before the first frame an upstream's failure is an HTTP error: `context_length_exceeded` with 400, `rate_limit_exceeded` with 429 and `retry-after`, `server_is_overloaded` with 503.",
    ),
    level: "convention",
    mode: "replay",
    reads: ["responses-failures"],
    judge: (e) =>
      Object.entries(FAILURES).flatMap(([name, [status, code = ""]]) =>
        e.matching(`responses/*/*/${name}`).flatMap((x) => [
          statusIs(x, status),
          fact(
            textAt(x.json, "error.code") === code,
            "error.code",
            code,
            at(x.json, "error.code"),
            x,
          ),
          fact(
            status !== 429 || /^\d+$/.test(headerOf(x, "retry-after") ?? ""),
            "retry-after",
            "seconds with a 429",
            headerOf(x, "retry-after") ?? "none",
            x,
          ),
        ])
      ),
    mutants: [
      "responses-overloaded-529",
      "responses-overflow-uncoded",
      "responses-no-retry-after",
    ],
  },
  {
    id: "responses.upstream-failures",
    rule: says(
      "A whole reply that failed is an HTTP error, never a reply with the status 200.",
    ),
    mode: "replay",
    reads: ["responses-failures"],
    judge: (e) =>
      e.matching("responses/*/*/failing").map((x) =>
        fact(
          (x.head?.status ?? 0) >= 500 && isObject(at(x.json, "error")),
          "status",
          "500 to 599 with an error",
          `${x.head?.status}: ${x.text.slice(0, 160)}`,
          x,
        )
      ),
    mutants: ["responses-failed-as-200"],
  },
  {
    id: "responses.stream-failures",
    rule: says(
      "After an upstream's failure a stream ends with an `error` frame, whose members stand both flat and in `error`, and then `response.failed` with the same message.",
    ),
    level: "convention",
    mode: "replay",
    reads: ["responses-broken"],
    judge: (e) =>
      broken(e).map((x) => {
        const { index, error, last } = failure(x);
        const message = textAt(error?.json, "message");
        return fact(
          index >= 0 && message !== "" && index === x.frames.length - 2 &&
            textAt(error?.json, "error.message") === message &&
            at(error?.json, "code") !== undefined &&
            textAt(last?.json, "type") === "response.failed" &&
            textAt(last?.json, "response.status") === "failed" &&
            textAt(last?.json, "response.error.message") === message,
          "the end",
          "error, then response.failed with the message",
          x.frames.slice(-2).map(({ data }) => data).join(" ").slice(0, 600),
          x,
          error,
        );
      }),
    mutants: [
      "responses-error-only",
      "responses-failed-only",
      "responses-error-nested-only",
      "responses-cut-is-complete",
    ],
  },
  {
    id: "responses.partial-output",
    rule: says(
      "The text before the failure stays in the stream and in the output of `response.failed`.",
    ),
    level: "contract",
    mode: "replay",
    reads: ["responses-broken"],
    judge: (e) =>
      broken(e).map((x) => {
        const told = x.frames.map(({ json }) =>
          textAt(json, "type") === "response.output_text.delta"
            ? textAt(json, "delta")
            : ""
        ).join("");
        const full = fixtureContent("text", x.via).text;
        return fact(
          full.startsWith(told) && textOf(x) === told,
          "output",
          `the beginning of: ${full}`,
          `${told} / ${textOf(x)}`,
          x,
        );
      }),
    mutants: ["responses-partial-lost", "responses-error-as-text"],
  },
]);

/** Streams whose upstream failed after the first frame. */
function broken(
  e: { matching(pattern: string): readonly Exchange[] },
): readonly Exchange[] {
  return e.matching("responses/*/stream/*").filter((x) =>
    nameOf(x) !== "" && x.head?.status === 200
  );
}
