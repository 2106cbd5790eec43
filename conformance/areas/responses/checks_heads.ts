/**
 * Checks of the area `responses`: headers, the bytes of streams, and what the body of every refusal
 * has in common.
 */
import { changeReplies } from "../../faults/change_hooks.ts";
import {
  factOf,
  type Finding,
  NotTestable,
  some,
} from "../../suite/finding.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { inErrors } from "./faults.ts";
import {
  all,
  ending,
  html,
  json,
  refusals as refusalsWith,
  SAME_IDS,
  streams,
  typed,
} from "../transport/faults.ts";
import { contentType, header } from "../transport/checks_request_ids.ts";
import { plainMessage } from "../errors/refusal_words.ts";
import { fitsStatus } from "../errors/type_of_status.ts";
import { at, textAt } from "../../evidence/json_path.ts";
import { type Exchange, headerOf } from "../../evidence/exchange.ts";
import type { Evidence } from "../../suite/evidence.ts";

const REPLIES = "responses-replies";
const REFUSALS = ["responses-wrong", "responses-methods"];

/** The streams that were answered, whatever their content type. */
function answeredStreams(e: Evidence): readonly Exchange[] {
  const found = e.matching("responses/*/stream/*").filter(({ head }) =>
    head?.status === 200
  );
  if (found.length > 0) return found;
  throw new NotTestable("no stream was answered");
}

/** The refusals; fails when there is none. */
function refusals(e: Evidence): readonly Exchange[] {
  const found = e.exchanges.filter(({ head }) => (head?.status ?? 0) >= 400);
  if (found.length > 0) return found;
  throw new NotTestable("no request was refused");
}

/** That people can read the message of an error, and programs its type. */
function plainError(x: Exchange): readonly Finding[] {
  const message = at(x.json, "error.message");
  const type = textAt(x.json, "error.type");
  return [
    factOf("error.message", message).mustBe(
      "a plain text",
      plainMessage(message),
    ),
    factOf("error.type", type).mustBe(
      "a word in lower case",
      /^[a-z][a-z0-9_.-]*$/.test(type),
    ),
  ];
}

export const RESPONSES_HEAD_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  needs: "responses",
  level: "convention",
  reads: [REPLIES],
}, [
  {
    id: "responses.stream-content-type",
    source: "https://html.spec.whatwg.org/multipage/server-sent-events.html",
    rule: "The content type of a stream is `text/event-stream` in UTF-8.",
    of: answeredStreams,
    each: (x: Exchange) => contentType(x, "text/event-stream"),
    faults: {
      "responses-stream-as-json": streams(typed("application/json")),
      "responses-stream-untyped": streams({ "content-type": undefined }),
      "responses-stream-charset": streams(
        typed("text/event-stream; charset=iso-8859-1"),
      ),
    },
  },
  {
    id: "responses.json-content-type",
    source: "The format's libraries parse a body by its content type",
    rule: "A reply and a refusal are `application/json` in UTF-8.",
    reads: [REPLIES, ...REFUSALS],
    judge: (e) =>
      // After 101 there is a web socket and no body.
      e.exchanges.filter(({ label, head }) =>
        head?.status !== 101 &&
        (!label.includes("/stream/") || head?.status !== 200)
      ).map((x) => contentType(x, "application/json")),
    faults: {
      "responses-json-as-text": json(typed("text/plain")),
      "responses-error-as-page": {
        reply: (reply) => reply.status >= 400 ? html(reply) : reply,
      },
    },
  },
  {
    id: "responses.request-id",
    source:
      "https://platform.openai.com/docs/api-reference/debugging-requests; the library exposes it as `_request_id`",
    rule:
      "Every reply has a request id of its own: `x-request-id`, and the body of an error none but that.",
    reads: [REPLIES, ...REFUSALS],
    judge: (e) => {
      const seen = new Set<string>();
      return e.exchanges.flatMap((x) => [
        header(x, "x-request-id", "a text that no other reply has", (id) => {
          const isNew = id !== undefined && id !== "" && !seen.has(id);
          seen.add(id ?? "");
          return isNew;
        }),
        factOf("request_id", at(x.json, "request_id"), x).mustBe(
          "absent, or that of the header",
          [undefined, headerOf(x, "x-request-id")].includes(
            textAt(x.json, "request_id") || undefined,
          ),
        ),
      ]);
    },
    faults: {
      "responses-no-request-id": all({ "x-request-id": undefined }),
      "responses-other-request-id": changeReplies(
        { least: 400 },
        (reply) => ({ body: { ...reply.body, request_id: "req_other" } }),
      ),
      "responses-one-request-id": all({ ...SAME_IDS }),
    },
  },
  {
    id: "responses.not-cached",
    source: "RFC 9111, 3.5",
    rule: "No reply is declared public, and a stream is not stored by caches.",
    judge: (e) =>
      e.exchanges.map((x) =>
        header(
          x,
          "cache-control",
          "absent, no-cache or no-store, or private",
          (value = "") =>
            !/\b(public|s-maxage|immutable)\b/i.test(value) &&
            (value === "" || !x.label.includes("/stream/") ||
              /no-(cache|store)/i.test(value)),
        )
      ),
    faults: {
      "responses-public": all({ "cache-control": "public, max-age=60" }),
      "responses-stream-stored": streams({ "cache-control": "max-age=60" }),
    },
  },
  {
    id: "responses.stream-closes",
    judgesSilence: true,
    source: "https://github.com/earendil-works/pi/issues/5592",
    rule:
      "After its last frame a stream ends at once, by its framing and behind a blank line.",
    of: answeredStreams,
    each: (x: Exchange) => [
      factOf("the end", x.problem ?? x.ending).mustBe(
        "complete by its framing",
        x.ending === "complete",
      ),
      factOf(
        "frames with and without the last blank line",
        [x.frames.length, x.witness.length],
      ).mustBe("equally many", x.frames.length === x.witness.length),
    ],
    faults: {
      "responses-stream-reset-at-end": ending((writer) => writer.reset()),
      "responses-stream-never-ends": ending(() => {}),
      "responses-stream-last-line-open": {
        wire: (text, { endpoint }) =>
          endpoint === "responses" && text.includes("response.completed")
            ? text.trimEnd()
            : text,
      },
    },
  },
  {
    id: "responses.stream-lines",
    source:
      "https://html.spec.whatwg.org/multipage/server-sent-events.html; the format's library for Python takes a byte order mark as part of the first field",
    rule:
      "A stream begins without a byte order mark, and each of its lines is a field or a comment.",
    of: answeredStreams,
    each: (x: Exchange) => {
      const hasMark = x.body[0] === 0xef && x.body[1] === 0xbb;
      const odd = x.text.split(/\r\n|\n|\r/).find((line) =>
        !/^(|:.*|(data|event|id|retry)(:.*)?)$/s.test(line)
      );
      return factOf("first odd line", hasMark ? "the first" : odd).mustBe(
        "none",
        !hasMark && odd === undefined,
      );
    },
    faults: {
      "responses-stream-with-mark": {
        wire: (text, { endpoint }) =>
          endpoint === "responses" && text.includes("response.created")
            ? `\ufeff${text}`
            : text,
      },
      "responses-stream-begins-with-page": {
        wire: (text, { endpoint }) =>
          endpoint === "responses" && text.includes("response.created")
            ? `<html>\n\n${text}`
            : text,
      },
    },
  },
  {
    id: "responses.refusals-are-plain",
    source: "The format's libraries show `error.message` to people",
    rule:
      "The message of a refusal is plain text, its type a word in lower case, and nothing else of it is a reply or exposes internals.",
    reads: REFUSALS,
    of: refusals,
    each: (x: Exchange) => [
      ...plainError(x),
      factOf("body", x.text.slice(0, 300)).mustBe(
        "an error alone, without internals",
        !/\\n\s+at \S|\bfile:\/\/\/|\.(ts|js|py|go|rs):\d+(:\d+)?\b|"(stack|stacktrace|traceback|output|usage|choices)"\s*:/i
          .test(x.text),
      ),
    ],
    faults: {
      "responses-message-nested": inErrors((error) => ({
        ...error,
        message: JSON.stringify({ error }),
      })),
      "responses-type-class": inErrors({ type: "BadRequestError" }),
      "responses-error-with-usage": changeReplies(
        { least: 400 },
        (reply) => ({ body: { ...reply.body, usage: {} } }),
      ),
    },
  },
  {
    id: "responses.type-fits-status",
    source: "https://platform.openai.com/docs/guides/error-codes",
    rule:
      "`error.type` does not contradict the status: a mistake of the client is no failure of the server, and the other way round.",
    reads: REFUSALS,
    of: refusals,
    each: (x: Exchange) => fitsStatus(x),
    faults: {
      "responses-type-always-api_error": inErrors({ type: "api_error" }),
    },
  },
  {
    id: "responses.failures-are-plain",
    source: "The format's libraries show `error.message` to people",
    rule:
      "The error of a failed upstream has a plain message and a type that fits the status, and a 429 keeps the upstream's `retry-after`.",
    mode: "replay",
    reads: ["responses-failures"],
    of: refusals,
    each: (x: Exchange) => [
      fitsStatus(x),
      ...plainError(x),
      factOf("retry-after", headerOf(x, "retry-after")).mustBe(
        "the 7 seconds of the upstream with a 429",
        x.head?.status !== 429 || headerOf(x, "retry-after") === "7",
      ),
    ],
    faults: {
      "responses-retry-at-once": changeReplies({ status: 429 }, {
        headers: { "retry-after": "0" },
      }),
      "responses-type-always-invalid": inErrors({
        type: "invalid_request_error",
      }),
      ...sharedFaults("responses-message-nested"),
    },
  },
  {
    id: "responses.limits-may-be-retried",
    source:
      "The format's libraries do not retry when `x-should-retry` is false, whatever the status",
    rule:
      "A reply that names the seconds after which a request may be retried does not forbid the retry.",
    mode: "replay",
    reads: ["responses-failures"],
    judge: (e) =>
      some(
        refusals(e).filter((x) => headerOf(x, "retry-after") !== undefined)
          .map((x) =>
            header(
              x,
              "x-should-retry",
              "not false",
              (value) => value !== "false",
            )
          ),
        "with retry-after",
      ),
    faults: {
      "responses-limits-declared-final": refusalsWith(
        "x-should-retry",
        "false",
      ),
    },
  },
  {
    id: "responses.no-upstream-address",
    source: "https://github.com/BerriAI/litellm/issues/39757",
    rule: "No refusal contains the upstream's address.",
    mode: "replay",
    reads: ["responses-failures"],
    judge: (e) =>
      some(
        refusals(e).map((x) => {
          const host = x.upstream[0]?.headers["host"] ?? "";
          return factOf("reply", x.text.slice(0, 300), x).mustBe(
            "the upstream's address is not in it",
            host === "" || !x.text.includes(host),
          );
        }),
        "a refusal",
      ),
    faults: {
      "responses-address-in-error": {
        upstream: (call, { state }) => {
          state.set("url", call.url);
          return call;
        },
        problem: (problem, { state }) => ({
          ...problem,
          message: `error for url (${state.get("url")})`,
        }),
      },
    },
  },
]);
