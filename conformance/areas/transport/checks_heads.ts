/**
 * Checks of the area `transport` about the heads of replies: content types, length, compression,
 * request ids, headers of the upstream.
 */
import { all, json, SAME_IDS, streams, typed, without } from "./faults.ts";
import {
  type Check,
  checksWith,
  type Faults,
  shared,
} from "../../suite/check.ts";
import { type Exchange, headerOf, isStream } from "../../evidence/exchange.ts";
import { textAt } from "../../evidence/json_path.ts";
import { isObject } from "@model-gateway/replay/json";
import { CANARY } from "./scenarios_requests.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { fact, type Finding, NotTestable, some } from "../../suite/finding.ts";

/** All streams that were requested and answered, whatever their content type. */
function streamsOf(e: Evidence): readonly Exchange[] {
  const found = e.exchanges.filter((x) =>
    x.head?.status === 200 && /"stream":true/.test(x.request.body)
  );
  if (found.length === 0) throw new NotTestable("no stream was answered");
  return found;
}

function header(
  x: Exchange,
  name: string,
  expected: string,
  test: (value: string | undefined) => boolean,
): Finding {
  const value = headerOf(x, name);
  return fact(test(value), name, expected, value, x);
}

/** A check of a header of every stream. */
function streamHead(
  id: string,
  level: Check["level"],
  rule: Check["rule"],
  judge: (x: Exchange) => Finding,
  faults: Faults,
): Check {
  return {
    id,
    rule,
    level,
    mode: "both",
    reads: ["text", "raw-streams"],
    judge: (e) => streamsOf(e).map(judge),
    faults,
  };
}

/** The request id under the names that the two libraries read; a reply may have both. */
function idOf(x: Exchange): string | undefined {
  return headerOf(x, "request-id") ?? headerOf(x, "x-request-id");
}

function isRequestId(name: string): boolean {
  return /^(x-)?request-id$/.test(name);
}

/** Findings about headers of these names with values of the upstream. */
function upstreamHeaders(
  e: Evidence,
  which: (name: string) => boolean,
): Finding[] {
  return [
    ...e.matching("*/*/telling-whole"),
    ...e.matching("*/*/telling-stream"),
  ].map((x) => {
    const leaked = (x.head?.headers ?? []).filter(([name, value]) =>
      which(name.toLowerCase()) && value.includes(CANARY)
    );
    return fact(
      leaked.length === 0 && x.head?.status === 200,
      "headers",
      "not the upstream's value",
      leaked,
      x,
    );
  });
}

/** Part of `TRANSPORT_CHECKS`. */
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
    (x) =>
      header(
        x,
        "content-type",
        "text/event-stream; a charset, if present, is UTF-8",
        (value) =>
          /^text\/event-stream\s*(;\s*charset="?utf-8"?\s*)?$/i.test(
            value ?? "",
          ),
      ),
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
      "stream-says-gzip": streams((headers) => ({
        ...headers,
        "content-encoding": "gzip",
      })),
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
      "stream-cacheable": streams((headers) => ({
        ...headers,
        "cache-control": "public, max-age=60",
      })),
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
      "stream-without-cache-control": streams((headers) =>
        without(headers, "cache-control")
      ),
      ...shared("stream-cacheable"),
    },
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
      "stream-without-accel": streams((headers) =>
        without(headers, "x-accel-buffering")
      ),
    },
  ),
  {
    id: "transport.json-content-type",
    section: "Endpoints",
    rule: "All bodies are JSON (`content-type: application/json`).",
    reads: ["text", "raw-streams", "model-list", "methods"],
    judge: (e) =>
      some(
        e.exchanges.filter((x) => isObject(x.json) && !isStream(x)).map((x) =>
          header(
            x,
            "content-type",
            "application/json; a charset, if present, is UTF-8",
            (value) =>
              /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(
                value ?? "",
              ),
          )
        ),
        "a JSON object",
      ),
    faults: {
      "json-as-text": json(typed("text/plain")),
      "json-without-type": json((headers) => without(headers, "content-type")),
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
        fact(
          x.ending === "complete",
          "body",
          "complete by its framing",
          x.problem ?? x.ending,
        ),
        fact(
          length === undefined || chunked === undefined,
          "framing",
          "content-length or transfer-encoding",
          `${length} and ${chunked}`,
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
      "length-and-chunks": json((headers) => ({
        ...headers,
        "transfer-encoding": "chunked",
      })),
      "length-too-large": json((headers, { body }) => ({
        ...headers,
        "content-length": String(
          new TextEncoder().encode(JSON.stringify(body)).length + 5,
        ),
      })),
      ...shared("stream-says-gzip"),
    },
  },
  {
    id: "transport.request-id",
    source:
      "https://platform.claude.com/docs/en/api/errors, request id; https://platform.openai.com/docs/api-reference/debugging-requests; both libraries expose it as `_request_id`",
    rule:
      "Every reply has a request id: `request-id` or `x-request-id`, as the endpoint's library reads it.",
    reads: ["text", "keys", "model-list"],
    judge: (e) =>
      e.exchanges.map((x) => {
        const name = x.endpoint === "messages" ? "request-id" : "x-request-id";
        return header(
          x,
          x.endpoint === "models" ? "request-id or x-request-id" : name,
          "a text",
          () =>
            (x.endpoint === "models" ? idOf(x) : headerOf(x, name) ?? "") !==
              "",
        );
      }),
    faults: {
      "no-request-id": all((headers) =>
        without(headers, "request-id", "x-request-id")
      ),
      "no-request-id-on-errors": json((headers, { status }) =>
        status === 200
          ? headers
          : without(headers, "request-id", "x-request-id")
      ),
    },
  },
  {
    id: "transport.request-id-unique",
    source: "A request id identifies one request in a log",
    rule: "No request id occurs twice.",
    reads: ["text", "keys", "model-list"],
    judge: (e) => {
      const seen = new Set<string>();
      const found = e.exchanges.flatMap((x) => {
        const id = idOf(x);
        if (id === undefined) return [];
        const twice = seen.has(id);
        seen.add(id);
        return [fact(!twice, "request id", "a unique one", id, x)];
      });
      return some(found, "with a request id");
    },
    faults: {
      "constant-request-id": all((headers) => ({ ...headers, ...SAME_IDS })),
    },
  },
  {
    id: "transport.request-id-in-body",
    source: "https://docs.anthropic.com/en/api/errors",
    rule: "Where an error body has `request_id`, it is the one in the header.",
    reads: ["keys"],
    matching: "*/missing",
    each: (x) => {
      const requestId = textAt(x.json, "request_id");
      return fact(
        requestId === "" || requestId === idOf(x),
        "request_id",
        idOf(x) ?? "none",
        requestId,
      );
    },
    faults: {
      "request-id-mismatch": {
        reply: (reply) => ({
          ...reply,
          body: { ...reply.body, request_id: "req_other" },
        }),
      },
    },
  },
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
      "upstream-headers-passed-on": all((headers) => ({
        ...headers,
        "openai-organization": CANARY,
      })),
    },
  },
  {
    id: "transport.own-request-id",
    source: "Claude Code's contract for gateways",
    rule: "The upstream's request id is not passed on.",
    level: "contract",
    mode: "replay",
    reads: ["upstream-identity"],
    judge: (e) => upstreamHeaders(e, isRequestId),
    faults: {
      "upstream-request-id-passed-on": all((headers) => ({
        ...headers,
        "x-request-id": `req_${CANARY}`,
      })),
    },
  },
  {
    id: "transport.no-upstream-address",
    source: "https://github.com/BerriAI/litellm/issues/39757",
    rule: "No reply contains the upstream's address.",
    mode: "replay",
    reads: ["upstream-identity", "upstream-refusals", "broken-off"],
    judge: (e) => {
      const host = e.note("upstream host");
      return e.matching("*/*/*").map((x) =>
        fact(
          typeof host === "string" && !x.text.includes(host) &&
            !JSON.stringify(x.head?.headers ?? []).includes(host),
          "reply",
          "the upstream's address is not in it",
          x.text.slice(0, 160),
          x,
        )
      );
    },
    faults: {
      // An error contains the address that could not be reached.
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
      // A header contains the upstream's address.
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
