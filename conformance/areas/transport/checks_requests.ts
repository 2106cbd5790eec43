/**
 * Checks of the area `transport` about requests: methods, paths, headers, and requests after
 * refused ones.
 */
import {
  fact,
  factOf,
  type Finding,
  NotTestable,
  statusIs,
} from "../../suite/finding.ts";
import { changeRequest } from "../../faults/change_request.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { afterRefusals, html, refuseWhere, replies } from "./faults.ts";
import {
  contentOf,
  fixtureContent,
  textAndCalls,
} from "../../evidence/content.ts";
import { type Exchange, headerOf, isStream } from "../../evidence/exchange.ts";
import { sameJson, textAt } from "../../evidence/json_path.ts";
import { isObject } from "@model-gateway/replay/json";
import { WRONG_METHODS } from "./scenarios_requests.ts";
import type { Evidence } from "../../suite/evidence.ts";

function wrongMethods(e: Evidence): readonly Exchange[] {
  return (["messages", "chat", "models"] as const).flatMap((endpoint) =>
    WRONG_METHODS[endpoint].flatMap((method) =>
      e.matching(`${endpoint}/*/${method}`)
    )
  );
}

function isJsonError(x: Exchange): Finding {
  return factOf(
    "reply",
    `${headerOf(x, "content-type")}: ${x.text.slice(0, 120)}`,
    x,
  ).mustBe(
    "a JSON error with a message",
    isObject(x.json) && textAt(x.json, "error.message") !== "" &&
      /^application\/json\b/i.test(headerOf(x, "content-type") ?? ""),
  );
}

function noCall(x: Exchange): Finding {
  return factOf("calls upstream", `${x.upstream.length}`, x).mustBe(
    "none",
    x.upstream.length === 0,
  );
}

/** A variant of a good request is answered like the request itself. */
function asControl(e: Evidence, ...formsSent: string[]): Finding[] {
  e.replies("*/*/control");
  return formsSent.flatMap((form) => e.matching(`*/*/${form}`)).map((x) => {
    const streamed = /"stream":true/.test(x.request.body);
    const good = x.head?.status === 200 &&
      (streamed ? isStream(x) && x.frames.length > 0 : isObject(x.json));
    return factOf(
      "reply",
      `${x.head?.status ?? x.ending}: ${x.text.slice(0, 120)}`,
      x,
    ).mustBe(streamed ? "200 with a stream" : "200 with JSON", good);
  });
}

export const TRANSPORT_REQUEST_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: ["methods"],
  of: wrongMethods,
}, [
  {
    id: "transport.wrong-method",
    source: "RFC 9110, 15.5.5 and 15.5.6",
    rule: "A method that an operation does not have: 404 or 405, as JSON.",
    each: (x) => [statusIs(x, 404, 405), isJsonError(x), noCall(x)],
    faults: {
      "any-method-posts": {
        request: (request, { endpoint }) => ({
          ...request,
          method: endpoint === "models" ? "GET" : "POST",
        }),
      },
      "wrong-method-500": replies(405, (reply) => ({ ...reply, status: 500 })),
      "wrong-method-as-html": replies(405, html),
    },
  },
  {
    id: "transport.allow",
    source: "RFC 9110, 15.5.6",
    rule: "A 405 lists the allowed methods in `Allow`.",
    each: (x) => {
      const allow = headerOf(x, "allow");
      const right = x.endpoint === "models" ? "GET" : "POST";
      return factOf("allow", allow).mustBe(
        `names ${right}`,
        x.head?.status !== 405 || (allow ?? "").includes(right),
      );
    },
    faults: {
      "405-without-allow": replies(
        405,
        ({ headers: { allow: _, ...headers }, ...reply }) => ({
          ...reply,
          headers,
        }),
      ),
      "405-allows-wrong": replies(405, (reply) => ({
        ...reply,
        headers: { ...reply.headers, allow: "TRACE" },
      })),
    },
  },
  {
    id: "transport.unknown-path",
    section: "Versioning",
    rule: "All paths begin with `/v1`.",
    level: "convention",
    judge: (e) =>
      [...e.matching("other/get/*"), ...e.matching("other/post/*")].flatMap((
        x,
      ) => [
        // A target may accept a doubled /v1, as some libraries send it; then it refuses the empty
        // body.
        x.label.includes(".v1.v1.")
          ? statusIs(x, 400, 404, 405, 422)
          : statusIs(x, 404, 405),
        isJsonError(x),
      ]),
    faults: {
      "unknown-path-200": replies(
        404,
        (reply, { endpoint }) =>
          endpoint === "other" ? { ...reply, status: 200 } : reply,
      ),
      "unknown-path-as-html": replies(404, html),
      "unknown-path-500": replies(404, (reply) => ({ ...reply, status: 500 })),
    },
  },
  {
    id: "transport.head",
    source: "RFC 9110, 9.3.2",
    rule:
      "HEAD has no body, calls no model, and is answered as GET would be, or 404 or 405.",
    matching: "*/*/HEAD",
    each: (x) => [
      fact(x.body.length === 0, "body", "none", `${x.body.length} bytes`),
      x.endpoint === "models"
        ? statusIs(x, 200, 404, 405)
        : statusIs(x, 404, 405),
      noCall(x),
    ],
    faults: {
      "head-500": {
        reply: (reply, { request }) =>
          request.method === "HEAD" ? { ...reply, status: 500 } : reply,
      },
      "head-with-body": {
        writer: (writer, { request }) => {
          if (request.method !== "HEAD") return writer;
          // The writer sends chunks only for other methods. Additional lines in the head serve as a
          // body.
          return {
            ...writer,
            head: (status, headers) =>
              writer.head(status, { ...headers, "x-end": "\r\n\r\n{}" }),
          };
        },
      },
    },
  },
  {
    id: "transport.options",
    source: "Browsers send OPTIONS before a request",
    rule: "OPTIONS is answered without a 5xx, and calls no model.",
    matching: "*/*/OPTIONS",
    each: (x) => [
      factOf(
        "reply",
        `${x.head?.status ?? x.ending}: ${x.text.slice(0, 80)}`,
      )
        .mustBe(
          "no 5xx, and no reply of a model",
          (x.head?.status ?? 500) < 500 && !isStream(x) &&
            contentOf(x).text === "",
        ),
      noCall(x),
    ],
    faults: sharedFaults("any-method-posts", "wrong-method-500"),
  },
  {
    id: "transport.unknown-headers",
    source: "Claude Code's contract for gateways",
    rule: "A request is never refused because of unknown headers.",
    reads: ["request-variants"],
    judge: (e) => [...asControl(e, "extra-headers", "extra-headers-stream")],
    faults: {
      "beta-refused": refuseWhere(
        400,
        ({ request }) => request.headers["anthropic-beta"] !== undefined,
      ),
      "cookie-refused": refuseWhere(
        403,
        ({ request }) => request.headers["cookie"] !== undefined,
      ),
    },
  },
  {
    id: "transport.query-ignored",
    source: "Claude Code calls `/v1/messages?beta=true`",
    rule: "A query changes nothing.",
    reads: ["request-variants"],
    judge: (e) => asControl(e, "query", "query-many"),
    faults: {
      "query-404": refuseWhere(
        404,
        ({ request }) => request.path.includes("?"),
      ),
      "query-stream-read": changeRequest((modelRequest, { request }) => ({
        stream: modelRequest.stream || request.path.includes("stream=true"),
      })),
    },
  },
  {
    id: "transport.content-type-spelling",
    source: "RFC 9110, 8.3.1",
    rule:
      "The content type of a request may have a charset and is case-insensitive.",
    reads: ["request-variants"],
    judge: (e) => asControl(e, "charset", "type-case"),
    faults: {
      "content-type-exact": refuseWhere(
        415,
        ({ request }) => request.headers["content-type"] !== "application/json",
      ),
    },
  },
  {
    id: "transport.accept",
    source: "Libraries send `accept: application/json` also for streams",
    rule: "The body alone decides whether the reply is a stream.",
    reads: ["request-variants"],
    judge: (e) => asControl(e, "accept-any", "accept-json"),
    faults: {
      // A client that accepts JSON gets no stream.
      "accept-decides": changeRequest((modelRequest, { request }) => ({
        stream: modelRequest.stream &&
          request.headers["accept"] !== "application/json",
      })),
    },
  },
  {
    id: "transport.after-refusals",
    source: "One wrong request must not affect the next one",
    rule: "After many refused requests good ones are answered as before.",
    mode: "replay",
    reads: ["after-refusals"],
    judge: (e) => {
      const refused = e.exchanges.filter(({ label }) =>
        label.includes("refused-")
      );
      // Other checks judge whether and how each of them is refused.
      if (refused.every((x) => x.head?.status === 200)) {
        throw new NotTestable("no wrong request was refused", refused[0]);
      }
      return [
        ...[...e.replies("*/*/whole"), ...e.streams("*/*/stream")].map((x) => {
          const wanted = textAndCalls(fixtureContent("text", x.via));
          const found = textAndCalls(contentOf(x));
          return fact(sameJson(found, wanted), "text", wanted, found, x);
        }),
      ];
    },
    faults: {
      "poisoned-by-refusals": afterRefusals(500),
      "blocked-after-refusals": afterRefusals(429),
    },
  },
]);
