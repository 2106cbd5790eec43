/** Checks of the area `responses`: refusals, and replies that fail. */
import {
  admit,
  changeParts,
  changeReplies,
} from "../../faults/change_hooks.ts";
import {
  compare,
  fact,
  factOf,
  type Finding,
  NotTestable,
  statusIs,
} from "../../suite/finding.ts";
import { withAt } from "../../faults/change_reply.ts";
import {
  accepts,
  below,
  inFrames,
  inProblems,
  ONE,
  status,
  uncoded,
  without,
} from "./faults.ts";
import { problemOf } from "../../reference_gateway/problems.ts";
import { at, sameJson, textAt } from "../../evidence/json_path.ts";
import { type Exchange, headerOf } from "../../evidence/exchange.ts";
import { fixtureContent } from "../../evidence/content.ts";
import { isObject } from "@model-gateway/replay/json";
import { type Check, checksWith } from "../../suite/check.ts";
import { refusalMembers } from "../replies/refusals.ts";
import { textOf, typeOf } from "../../endpoints/read_responses.ts";
import { follows } from "./grammar_finding.ts";
import { UNKNOWN_IDS, UNSERVED, WRONG } from "./scenarios_refusals.ts";

/** Findings that each of these requests is refused, with 400 unless otherwise given, and names its mistake. */
function refused(
  e: { matching(pattern: string): readonly Exchange[] },
  requests: Readonly<Record<string, { readonly param: RegExp }>>,
  ...statuses: readonly number[]
): Finding[] {
  return Object.entries(requests).flatMap(([name, { param }]) =>
    e.matching(`responses/*/whole/${name}`).flatMap((x) => [
      statusIs(x, ...(statuses.length === 0 ? [400] : statuses)),
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

export const RESPONSES_REFUSAL_CHECKS: readonly Check[] = checksWith({
  section: "Responses errors",
  mode: "both",
  needs: "responses",
  reads: ["responses-methods"],
}, [
  {
    id: "responses.error-body",
    rule:
      "A refusal is a JSON object with `error`, whose members are `message`, `type`, `param` and `code`; the last two may be null.",
    reads: ["responses-wrong", "responses-methods", "responses-unknown-ids"],
    ...refusalMembers(
      "responses",
      ({ endpoint }) => endpoint === "responses",
    ),
  },
  {
    id: "responses.wrong-requests",
    rule:
      "A wrong request is refused with 400, and `error.param` is the path of the mistake, such as `input[2].content[0]`.",
    level: "convention",
    reads: ["responses-wrong"],
    judge: (e) => refused(e, WRONG),
    faults: {
      "responses-wrong-is-500": status(400, 500),
      "responses-param-input-only": inProblems((problem) => ({
        ...problem,
        ...(problem.param?.startsWith("input") ? { param: "input" } : {}),
      })),
    },
  },
  {
    id: "responses.one-way-back",
    rule: "`previous_response_id` and `conversation` exclude each other.",
    reads: ["responses-wrong"],
    matching: "responses/*/whole/both",
    each: (x) => statusIs(x, 400),
    faults: {
      "responses-both-accepted": accepts(({ param }) =>
        param === "conversation"
      ),
    },
  },
  {
    id: "responses.unserved",
    rule:
      "What this gateway cannot do is refused with 400 and named: `background`, `conversation`, stored prompts and files, compaction, and vendors' tools without any other.",
    level: "contract",
    reads: ["responses-unserved"],
    judge: (e) => refused(e, UNSERVED),
    faults: {
      "responses-background-ignored": accepts(({ param }) =>
        param === "background"
      ),
      "responses-compaction-ignored": accepts(({ message }) =>
        message.includes("compaction_trigger")
      ),
      "responses-file-id-ignored": accepts(({ param }) =>
        param === "input[0].content[0]"
      ),
    },
  },
  {
    id: "responses.unknown-ids",
    rule:
      "A `previous_response_id` or an `item_reference` that cannot be resolved is refused with 400 or 404, never ignored.",
    reads: ["responses-unknown-ids"],
    judge: (e) => refused(e, UNKNOWN_IDS, 400, 404),
    faults: {
      "responses-previous-ignored": accepts(({ code }) =>
        code === "previous_response_not_found"
      ),
      "responses-reference-ignored": accepts(({ message }) =>
        message.includes("no such item")
      ),
    },
  },
  {
    id: "responses.unknown-path",
    rule: "`GET` and `DELETE` of an unknown response are answered with 404.",
    reads: ["responses-unknown-ids"],
    judge: (e) =>
      ["GET", "DELETE"].flatMap((method) =>
        e.matching(`responses/any/${method}/unknown`).map((x) =>
          statusIs(x, 404)
        )
      ),
    faults: { "responses-unknown-found": below("GET", ONE, () => ({}), 200) },
  },
  {
    id: "responses.web-socket",
    rule:
      "A web socket that the target does not have is refused with 426, so that clients use HTTP at once; `upgrade` names the protocol.",
    level: "convention",
    judge: (e) => {
      const x = e.exchange("responses/any/GET/socket");
      const protocol = headerOf(x, "upgrade");
      return [
        statusIs(x, 426, 101),
        factOf("upgrade", protocol ?? "none", x).mustBe(
          "websocket",
          protocol?.toLowerCase() === "websocket",
        ),
      ];
    },
    faults: {
      "responses-socket-404": { upgrade: () => problemOf(404, "Not here") },
      "responses-socket-unnamed": {
        upgrade: () => problemOf(426, "Not here"),
        reply: (reply) => {
          const { upgrade: _, ...headers } = reply.headers;
          return { ...reply, headers };
        },
      },
    },
  },
  {
    id: "responses.wrong-method",
    rule: "`GET` without an id is refused with 404 or 405.",
    level: "convention",
    judge: (e) => [statusIs(e.exchange("responses/any/GET/plain"), 405, 404)],
    faults: { "responses-get-answered": status(405, 200) },
  },
  {
    id: "responses.no-model",
    rule:
      "An unknown model is refused with 400 or 404 and the code `model_not_found`.",
    level: "convention",
    judge: (e) => {
      const x = e.exchange("responses/any/POST/no-model");
      const code = textAt(x.json, "error.code");
      return [
        statusIs(x, 400, 404),
        compare("error.code", code, "model_not_found", x),
      ];
    },
    faults: { "responses-no-model-code": uncoded("model_not_found") },
  },
  {
    id: "responses.key-needed",
    rule: "A request without a key is refused with 401.",
    judge: (e) => [statusIs(e.exchange("responses/any/POST/no-key"), 401)],
    faults: {
      "responses-no-key-needed": admit({ endpoint: "responses" }),
    },
  },
  {
    id: "responses.upstream-refusals",
    rule:
      "Before the first frame an upstream's failure is an HTTP error: `context_length_exceeded` with 400, `rate_limit_exceeded` with 429 and `retry-after`, `server_is_overloaded` with 503.",
    level: "convention",
    mode: "replay",
    reads: ["responses-failures"],
    judge: (e) =>
      Object.entries(FAILURES).flatMap(([name, [status, code = ""]]) =>
        e.matching(`responses/*/*/${name}`).flatMap((x) => [
          statusIs(x, status),
          factOf("error.code", at(x.json, "error.code"), x).mustBe(
            code,
            textAt(x.json, "error.code") === code,
          ),
          factOf("retry-after", headerOf(x, "retry-after") ?? "none", x)
            .mustBe(
              "seconds with a 429",
              status !== 429 || /^\d+$/.test(headerOf(x, "retry-after") ?? ""),
            ),
        ])
      ),
    faults: {
      "responses-overloaded-529": status(503, 529),
      "responses-overflow-uncoded": uncoded("context_length_exceeded"),
      "responses-no-retry-after": inProblems(({ retryAfter: _, ...problem }) =>
        problem
      ),
    },
  },
  {
    id: "responses.upstream-failures",
    rule:
      "A whole reply that failed is an HTTP error, never a reply with the status 200.",
    mode: "replay",
    reads: ["responses-failures"],
    matching: "responses/*/*/failing",
    each: (x) =>
      factOf("status", `${x.head?.status}: ${x.text.slice(0, 160)}`).mustBe(
        "500 to 599 with an error",
        (x.head?.status ?? 0) >= 500 && isObject(at(x.json, "error")),
      ),
    faults: {
      "responses-failed-as-200": changeReplies({
        endpoint: "responses",
        least: 500,
      }, { status: 200, body: { object: "response", status: "failed" } }),
    },
  },
  {
    id: "responses.stream-failures",
    rule:
      "After an upstream's failure a stream ends with an `error` frame, whose members stand both flat and in `error`, and then `response.failed` with the same message.",
    level: "convention",
    mode: "replay",
    reads: ["responses-broken"],
    judge: (e) =>
      broken(e).map((x) => {
        const { index, error, last } = failure(x);
        const message = textAt(error?.json, "message");
        return factOf(
          "the end",
          x.frames.slice(-2).map(({ data }) => data).join(" ").slice(0, 600),
          x,
          error,
        ).mustBe(
          "error, then response.failed with the message",
          index >= 0 && message !== "" && index === x.frames.length - 2 &&
            ["message", "code", "param"].every((name) =>
              sameJson(
                at(error?.json, name) ?? null,
                at(error?.json, `error.${name}`) ?? null,
              )
            ) &&
            /^[a-z][\w.-]*$/.test(textAt(error?.json, "error.type")) &&
            at(error?.json, "code") !== undefined &&
            textAt(last?.json, "type") === "response.failed" &&
            textAt(last?.json, "response.status") === "failed" &&
            textAt(last?.json, "response.error.message") === message,
        );
      }),
    faults: {
      "responses-error-code-other": inFrames(
        /^error$/,
        { code: "another" },
      ),
      "responses-error-untyped": inFrames(
        /^error$/,
        (data) => withAt(data, "error.type", undefined),
      ),
      "responses-error-only": without(/^failed$/),
      "responses-failed-only": without(/^error$/),
      "responses-error-nested-only": inFrames(
        /^error$/,
        ({ type, error, sequence_number }) => ({
          type,
          error,
          sequence_number,
        }),
      ),
      "responses-cut-is-complete": changeParts(
        "failed",
        () => ({ type: "stop", cause: "end" }),
      ),
    },
  },
  {
    id: "responses.broken-frames",
    rule: "The `event` of a frame equals the `type` of its data.",
    section: "Responses stream",
    mode: "replay",
    reads: ["responses-broken"],
    of: broken,
    each: follows("event", "sequence"),
    faults: {
      "responses-error-unnamed": inFrames(/^error$/, (data) => [{ data }]),
      "responses-error-unnumbered": inFrames(
        /^error$/,
        { sequence_number: undefined },
      ),
    },
  },
  {
    id: "responses.partial-output",
    rule:
      "The text before the failure stays in the stream and in the output of `response.failed`.",
    level: "contract",
    mode: "replay",
    reads: ["responses-broken"],
    judge: (e) =>
      broken(e).map((x) => {
        const partial = x.frames.map(({ json }) =>
          textAt(json, "type") === "response.output_text.delta"
            ? textAt(json, "delta")
            : ""
        ).join("");
        const full = fixtureContent("text", x.via).text;
        return factOf("output", `${partial} / ${textOf(x)}`, x).mustBe(
          `the beginning of: ${full}`,
          full.startsWith(partial) && textOf(x) === partial,
        );
      }),
    faults: {
      "responses-partial-lost": inFrames(
        /^failed$/,
        (data) => withAt(data, "response.output", []),
      ),
      "responses-error-as-text": changeParts(
        "failed",
        (part) => [{ type: "text", text: part.problem.message }, part],
      ),
    },
  },
]);

/** Streams whose upstream failed after the first frame. */
function broken(
  e: { matching(pattern: string): readonly Exchange[] },
): readonly Exchange[] {
  const found = e.matching("responses/*/stream/*").filter(({ head }) =>
    head?.status === 200
  );
  if (found.length > 0) return found;
  throw new NotTestable("no stream was answered 200");
}
