/** Checks of the area `transport`: request ids. */
import { changeReplies } from "../../faults/change_hooks.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { KEYS_SCENARIO } from "../auth/scenarios.ts";
import { MODEL_LIST_NAME } from "../models/scenarios.ts";
import { fact, factOf, type Finding, some } from "../../suite/finding.ts";
import { all, json, SAME_IDS, without } from "./faults.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { type Exchange, headerOf } from "../../evidence/exchange.ts";
import { at } from "../../evidence/json_path.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import type { Json } from "@model-gateway/replay/json";
import { CANARY } from "./scenarios_requests.ts";
import type { Evidence } from "../../suite/evidence.ts";

export function header(
  x: Exchange,
  name: string,
  expected: string,
  test: (value: string | undefined) => boolean,
): Finding {
  const value = headerOf(x, name);
  return fact(test(value), name, expected, value, x);
}

/** Content types that have UTF-8 as their charset, or none. */
const IN_UTF_8 = {
  "application/json": /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i,
  "text/event-stream": /^text\/event-stream\s*(;\s*charset="?utf-8"?\s*)?$/i,
};

/** A finding about the content type: this media type, in UTF-8 or without a charset. */
export function contentType(
  x: Exchange,
  type: keyof typeof IN_UTF_8,
): Finding {
  return header(
    x,
    "content-type",
    `${type}; a charset, if present, is UTF-8`,
    (value = "") => IN_UTF_8[type].test(value),
  );
}

/** The request id under the names that the two libraries read; a reply may have both. */
function idOf(x: Exchange): string | undefined {
  return headerOf(x, "request-id") ?? headerOf(x, "x-request-id");
}

export function isRequestId(name: string): boolean {
  return /^(x-)?request-id$/.test(name);
}

/** Findings about headers of these names with values of the upstream. */
export function upstreamHeaders(
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
    return factOf("headers", leaked, x).mustBe(
      "not the upstream's value",
      leaked.length === 0 && x.head?.status === 200,
    );
  });
}

/** Whether the target itself refused; an upstream's refusal may come with the upstream's id. */
function isOwnRefusal(
  { head, upstream }: Exchange,
  { mode }: Evidence,
): boolean {
  const status = head?.status ?? 0;
  return mode === "live"
    ? status === 401
    : status >= 400 && upstream.length === 0;
}

/** Refusals with another `request_id` in the body. */
function inRefusals(id: Json): Hooks {
  return changeReplies(
    { least: 400 },
    ({ body }) => ({ body: { ...body, request_id: id } }),
  );
}

/** The endpoints whose libraries expose a request id. */
const WITH_ID: readonly Exchange["endpoint"][] = [
  "messages",
  "chat",
  "models",
  "responses",
  "embeddings",
];

/** The replies to requests that a library can send. */
function answered(e: Evidence): readonly Exchange[] {
  return some(
    e.exchanges.filter(({ head, endpoint, request }) =>
      head !== undefined && head.status !== 101 &&
      WITH_ID.includes(endpoint) && request.client === "fetch" &&
      ["GET", "POST", "DELETE"].includes(request.method)
    ),
    "one to a library's request",
  );
}

export const REQUEST_ID_CHECKS: readonly Check[] = checksWith(
  { mode: "both" },
  [
    {
      id: "transport.request-id",
      source:
        "https://platform.claude.com/docs/en/api/errors, request id; https://platform.openai.com/docs/api-reference/debugging-requests; both libraries expose it as `_request_id`",
      rule:
        "Every reply has a request id: `request-id` or `x-request-id`, as the endpoint's library reads it.",
      reads: "everything",
      provedBy: [TEXT_SCENARIO, KEYS_SCENARIO, MODEL_LIST_NAME],
      judge: (e) =>
        answered(e).map((x) => {
          const name = x.endpoint === "messages"
            ? "request-id"
            : "x-request-id";
          return header(
            x,
            x.endpoint === "models" ? "request-id or x-request-id" : name,
            "one word",
            () =>
              /^[^\s,]+$/.test(
                (x.endpoint === "models" ? idOf(x) : headerOf(x, name)) ?? "",
              ),
          );
        }),
      faults: {
        "no-request-id": all({
          "request-id": undefined,
          "x-request-id": undefined,
        }),
        "no-request-id-on-errors": json((headers, { status }) =>
          status === 200
            ? headers
            : without(headers, "request-id", "x-request-id")
        ),
        "two-request-ids": all((headers) => ({
          ...headers,
          "Request-Id": headers["request-id"] ?? "",
          "X-Request-Id": headers["x-request-id"] ?? "",
        })),
      },
    },
    {
      id: "transport.request-id-unique",
      source: "A request id identifies one request in a log",
      rule: "No request id occurs twice.",
      reads: "everything",
      provedBy: [TEXT_SCENARIO, KEYS_SCENARIO, MODEL_LIST_NAME],
      judge: (e) => {
        const seen = new Set<string>();
        const found = answered(e).flatMap((x) => {
          const own = x.endpoint === "messages" ? "request-id" : "x-request-id";
          const id = headerOf(x, own) ?? idOf(x);
          // An upstream's id that the suite sent several times may be passed on.
          if (id === undefined || id.includes(CANARY)) return [];
          const twice = seen.has(id);
          seen.add(id);
          return [fact(!twice, "request id", "a unique one", id, x)];
        });
        return some(found, "with a request id");
      },
      faults: {
        "constant-request-id": all({ ...SAME_IDS }),
      },
    },
    {
      id: "transport.request-id-in-body",
      source: "https://docs.anthropic.com/en/api/errors",
      rule:
        "Where an error body has `request_id`, it is the one in the header.",
      reads: "everything",
      provedBy: [KEYS_SCENARIO],
      judge: (e) =>
        e.exchanges.map((x) => {
          const found = isOwnRefusal(x, e)
            ? at(x.json, "request_id")
            : undefined;
          return factOf("request_id", found, x).mustBe(
            `${idOf(x)}, or none`,
            found === undefined || found === idOf(x),
          );
        }),
      faults: {
        "request-id-mismatch": inRefusals("req_other"),
        "request-id-null": inRefusals(null),
      },
    },
    {
      id: "transport.request-ids-agree",
      source: "Both libraries show the id to people, who search one log for it",
      rule: "A reply with `request-id` and `x-request-id` has one id in both.",
      level: "contract",
      reads: "everything",
      provedBy: [KEYS_SCENARIO, TEXT_SCENARIO],
      judge: (e) =>
        e.exchanges.map((x) => {
          const ids = (x.head?.headers ?? []).filter(([name]) =>
            isRequestId(name)
          ).map(([, id]) => id);
          return factOf("request ids", ids, x).mustBe(
            "equal",
            new Set(ids).size < 2,
          );
        }),
      faults: {
        "request-ids-differ": all((headers) => ({
          ...headers,
          "x-request-id": `${headers["request-id"]}-2`,
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
        "upstream-request-id-passed-on": all({
          "x-request-id": `req_${CANARY}`,
        }),
      },
    },
  ],
);
