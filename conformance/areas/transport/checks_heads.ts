/**
 * Checks of the area `transport` about the heads of replies: content types, length, compression,
 * request ids, headers of the upstream.
 */
import { KEYS_SCENARIO } from "../auth/scenarios.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { MODEL_LIST_NAME } from "../models/scenarios.ts";
import { UPSTREAM_REFUSALS } from "../upstream/scenarios_refusals.ts";
import { BROKEN_OFF_NAME } from "../upstream/scenarios.ts";
import {
  factOf,
  type Finding,
  NotTestable,
  some,
} from "../../suite/finding.ts";
import {
  contentType,
  header,
  isRequestId,
  REQUEST_ID_CHECKS,
  upstreamHeaders,
} from "./checks_request_ids.ts";
import { all, json, streams, typed, without } from "./faults.ts";
import {
  type Check,
  checksWith,
  type Faults,
  sharedFaults,
} from "../../suite/check.ts";
import { type Exchange, headerOf, isStream } from "../../evidence/exchange.ts";
import { isObject } from "@model-gateway/replay/json";
import { CANARY } from "./scenarios_requests.ts";
import type { Evidence } from "../../suite/evidence.ts";

/** All streams that were requested and answered, whatever their content type. */
function streamsOf(e: Evidence): readonly Exchange[] {
  const found = e.exchanges.filter((x) =>
    x.head?.status === 200 && /"stream":true/.test(x.request.body)
  );
  if (found.length === 0) throw new NotTestable("no stream was answered");
  return found;
}

/** A check of a header of every stream, of those of some scenarios or of the whole run. */
function streamHead(
  id: string,
  level: Check["level"],
  rule: Check["rule"],
  judge: (x: Exchange) => Finding,
  faults: Faults,
  where: "some" | "everywhere" = "some",
): Check {
  const scenarios = [TEXT_SCENARIO, "raw-streams"];
  return {
    id,
    rule,
    level,
    mode: "both",
    faults,
    ...(where === "some"
      ? { reads: scenarios, judge: (e) => streamsOf(e).map(judge) }
      : {
        reads: "everything",
        provedBy: scenarios,
        judge: (e) => some(e.exchanges.filter(isStream).map(judge), "a stream"),
      }),
  };
}

export const TRANSPORT_HEAD_CHECKS: readonly Check[] = checksWith({
  mode: "both",
}, [
  streamHead(
    "transport.stream-content-type",
    "documented",
    {
      section: "Events",
      text:
        "Setting `stream` to true makes the response content type `text/event-stream`.",
    },
    (x) => contentType(x, "text/event-stream"),
    {
      "stream-as-json": streams(typed("application/json")),
      "stream-as-text": streams(typed("text/plain; charset=utf-8")),
      "stream-charset-latin1": streams(
        typed("text/event-stream; charset=iso-8859-1"),
      ),
    },
  ),
  streamHead(
    "transport.stream-without-length",
    "convention",
    {
      source: "RFC 9110, 8.6",
      text:
        "A stream has no content-length: its length is not known in advance.",
    },
    (x) => header(x, "content-length", "none", (value) => value === undefined),
    {
      "stream-with-length": streams((headers) => ({
        ...without(headers, "transfer-encoding"),
        "content-length": "1000000",
      })),
    },
  ),
  streamHead(
    "transport.stream-not-compressed",
    "convention",
    {
      source: "https://github.com/BerriAI/litellm/pull/29557",
      text: "A stream is not compressed: compressors buffer their input.",
    },
    (x) =>
      header(
        x,
        "content-encoding",
        "none",
        (value) => value === undefined || value === "identity",
      ),
    {
      "stream-says-gzip": streams({ "content-encoding": "gzip" }),
    },
  ),
  streamHead(
    "transport.stream-not-cached",
    "convention",
    {
      source: "https://html.spec.whatwg.org/multipage/server-sent-events.html",
      text: "A stream is not stored by caches on its way.",
    },
    (x) =>
      header(
        x,
        "cache-control",
        "absent, or no-cache or no-store",
        (value) => value === undefined || /no-(cache|store)/i.test(value),
      ),
    {
      "stream-cacheable": streams({ "cache-control": "public, max-age=60" }),
    },
  ),
  streamHead(
    "transport.stream-says-no-cache",
    "contract",
    {
      source: "What vendors of both formats send with their streams",
      text: "A stream forbids caches to store it.",
    },
    (x) =>
      header(
        x,
        "cache-control",
        "no-cache or no-store",
        (value) => /no-(cache|store)/i.test(value ?? ""),
      ),
    {
      "stream-without-cache-control": streams({ "cache-control": undefined }),
      ...sharedFaults("stream-cacheable"),
    },
    "everywhere",
  ),
  streamHead(
    "transport.stream-no-proxy-buffer",
    "contract",
    {
      source: "https://github.com/BerriAI/litellm/pull/29557",
      text:
        "A stream asks proxies in front not to buffer it: `x-accel-buffering: no`.",
    },
    (x) => header(x, "x-accel-buffering", "no", (value) => value === "no"),
    {
      "stream-without-accel": streams({ "x-accel-buffering": undefined }),
    },
    "everywhere",
  ),
  {
    id: "transport.json-content-type",
    section: "Endpoints",
    rule: "All bodies are JSON (`content-type: application/json`).",
    reads: [TEXT_SCENARIO, "raw-streams", MODEL_LIST_NAME, "methods"],
    judge: (e) =>
      some(
        e.exchanges.filter((x) => isObject(x.json)).map((x) =>
          contentType(x, "application/json")
        ),
        "a JSON object",
      ),
    faults: {
      "json-as-text": json(typed("text/plain")),
      "json-as-stream": json(typed("text/event-stream")),
      "json-without-type": json({ "content-type": undefined }),
      "json-charset-latin1": json(
        typed("application/json; charset=iso-8859-1"),
      ),
    },
  },
  {
    id: "transport.framing",
    source: "RFC 9112, 6",
    rule:
      "A reply has one framing, and its body has the length that the framing declares; it is compressed only where the client accepts it.",
    reads: ["raw-streams"],
    matching: "*/*/*",
    each: (x) => {
      const length = headerOf(x, "content-length");
      const chunked = headerOf(x, "transfer-encoding");
      return [
        factOf("body", x.problem ?? x.ending).mustBe(
          "complete by its framing",
          x.ending === "complete",
        ),
        factOf("framing", `${length} and ${chunked}`).mustBe(
          "content-length or transfer-encoding",
          length === undefined || chunked === undefined,
        ),
        ...(x.label.endsWith("-plain")
          ? [
            header(
              x,
              "content-encoding",
              "none",
              (value) => value === undefined || value === "identity",
            ),
          ]
          : []),
      ];
    },
    faults: {
      "length-and-chunks": json({ "transfer-encoding": "chunked" }),
      "length-too-large": json((headers, { body }) => ({
        ...headers,
        "content-length": String(
          new TextEncoder().encode(JSON.stringify(body)).length + 5,
        ),
      })),
      ...sharedFaults("stream-says-gzip"),
    },
  },
  {
    id: "transport.encoding-honest",
    source: "RFC 9110, 8.4",
    rule:
      "A body that is declared to be compressed is: clients decode it by its `content-encoding`.",
    reads: "everything",
    provedBy: [KEYS_SCENARIO],
    judge: (e) =>
      e.exchanges.map((x) => {
        const encoding = headerOf(x, "content-encoding");
        // `fetch` decodes the body itself, and reports why it cannot.
        const isUndecodable = x.ending === "broken" &&
          /gzip|brotli|deflate/i.test(x.problem ?? "");
        const isPlain = encoding === "gzip" && x.body.length > 1 &&
          !(x.body[0] === 0x1f && x.body[1] === 0x8b);
        return factOf("body", x.problem ?? x.text.slice(0, 80), x).mustBe(
          encoding ?? "as declared",
          !isUndecodable && !isPlain,
        );
      }),
    faults: {
      "plain-body-says-gzip": json({ "content-encoding": "gzip" }),
    },
  },
  ...REQUEST_ID_CHECKS,
  {
    id: "transport.no-upstream-headers",
    source: "Claude Code's contract for gateways",
    rule:
      "Headers that identify the upstream and its account are not passed on.",
    mode: "replay",
    reads: ["upstream-identity"],
    // A gateway may reuse the vendor's request id, with which the vendor can be asked.
    judge: (e) => upstreamHeaders(e, (name) => !isRequestId(name)),
    faults: {
      "upstream-headers-passed-on": all({ "openai-organization": CANARY }),
    },
  },
  {
    id: "transport.no-upstream-address",
    source: "https://github.com/BerriAI/litellm/issues/39757",
    rule: "No reply contains the upstream's address.",
    mode: "replay",
    reads: ["upstream-identity", UPSTREAM_REFUSALS, BROKEN_OFF_NAME],
    judge: (e) => {
      const host = e.note("upstream host");
      return e.matching("*/*/*").map((x) =>
        factOf("reply", x.text.slice(0, 160), x).mustBe(
          "the upstream's address is not in it",
          typeof host === "string" && !x.text.includes(host) &&
            !JSON.stringify(x.head?.headers ?? []).includes(host),
        )
      );
    },
    faults: {
      "upstream-address-in-error": {
        upstream: (call, { state }) => {
          state.set("url", call.url);
          return call;
        },
        problem: (problem, { state }) =>
          problem.status === 502
            ? {
              ...problem,
              message: `error sending request for url (${state.get("url")})`,
            }
            : problem,
      },
      "upstream-address-in-header": {
        upstream: (call, { state }) => {
          state.set("url", call.url);
          return call;
        },
        reply: (reply, { state }) => ({
          ...reply,
          headers: { ...reply.headers, "x-upstream": String(state.get("url")) },
        }),
      },
    },
  },
]);
