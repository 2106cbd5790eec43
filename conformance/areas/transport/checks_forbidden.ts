/** Checks of the area `transport`: headers and characters that no reply may contain. */
import { changeReplies } from "../../faults/change_hooks.ts";
import { SAME_AGAIN_NAME } from "../equivalence/scenarios_repetition.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { KEYS_SCENARIO } from "../auth/scenarios.ts";
import { MODEL_LIST_NAME } from "../models/scenarios.ts";
import { factOf, type Finding, some } from "../../suite/finding.ts";
import { UPSTREAM_REFUSALS } from "../upstream/scenarios_refusals.ts";
import { all, halved, refusals, without } from "./faults.ts";
import { type Exchange, headerOf, isStream } from "../../evidence/exchange.ts";
import { isObject, type Json } from "@model-gateway/replay/json";
import { type Check, checksWith } from "../../suite/check.ts";

/** True when every string in a value can be encoded as UTF-8: no lone surrogate. */
function wellFormed(value: Json | undefined): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (Array.isArray(value)) return value.every(wellFormed);
  return !isObject(value) ||
    Object.entries(value).every(([key, inner]) =>
      key.isWellFormed() && wellFormed(inner)
    );
}

function texts(x: Exchange): Finding {
  const frame = x.frames.find(({ json }) => !wellFormed(json));
  return factOf(
    "characters",
    frame?.data.slice(0, 200) ?? x.text.slice(0, 200),
    x,
    frame,
  ).mustBe(
    "each character whole in its piece",
    frame === undefined && wellFormed(x.json),
  );
}

function forbidden(x: Exchange, name: RegExp): Finding {
  const found = x.head?.headers.find(([key]) => name.test(key.toLowerCase()));
  return factOf("headers", found?.join(": ") ?? "none of these", x).mustBe(
    `none like ${name}`,
    found === undefined,
  );
}

export const TRANSPORT_FORBIDDEN_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: "everything",
}, [
  {
    id: "transport.characters-are-whole",
    source: "RFC 8259, 8.2",
    rule:
      "No string of a reply contains half a character: not every client can read `\\ud83d` alone, even when the other half follows in the next event.",
    provedBy: [SAME_AGAIN_NAME],
    judge: (e) => e.exchanges.map(texts),
    faults: {
      "characters-halved": halved("messages", "delta.text"),
      "chat-characters-halved": halved("chat", "choices.0.delta.content"),
    },
  },
  {
    id: "transport.no-byte-order-mark",
    source: "RFC 8259, 8.1",
    rule:
      "JSON on the network does not begin with a byte order mark: some parsers refuse it.",
    provedBy: [TEXT_SCENARIO, KEYS_SCENARIO, MODEL_LIST_NAME],
    judge: (e) =>
      // A gateway may pass on the bytes of an upstream that begins with a mark.
      e.exchanges.filter(({ label }) => !label.endsWith("-bom")).map((x) =>
        factOf("first bytes", [...x.body.slice(0, 3)], x).mustBe(
          "no byte order mark",
          isStream(x) ||
            !(x.body[0] === 0xef && x.body[1] === 0xbb && x.body[2] === 0xbf),
        )
      ),
    faults: {
      "json-with-byte-order-mark": {
        writer: (writer, { stream }) =>
          stream ? writer : {
            ...writer,
            head: (status, headers) => {
              const length = Number(headers["content-length"] ?? 0) + 3;
              writer.head(status, {
                ...headers,
                "content-length": `${length}`,
              });
            },
            piece: (bytes) =>
              writer.piece(Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes)),
          },
      },
    },
  },
  {
    id: "transport.no-deny-reason",
    section: "Errors",
    rule:
      "A 403 that carries the header `x-deny-reason: host_not_allowed` comes from a proxy in front of the caller refusing the destination host, not from the service; the credentials are not at fault.",
    provedBy: [KEYS_SCENARIO],
    judge: (e) =>
      e.exchanges.map((x) =>
        factOf("x-deny-reason", headerOf(x, "x-deny-reason"), x).mustBe(
          "none from the service itself",
          headerOf(x, "x-deny-reason") === undefined,
        )
      ),
    faults: {
      "refusals-with-deny-reason": refusals(
        "x-deny-reason",
        "host_not_allowed",
      ),
    },
  },
  {
    id: "transport.not-for-shared-caches",
    source: "RFC 9111, 3.5",
    rule:
      "A reply to a request with a key is for that client alone: its headers do not declare it public.",
    provedBy: [TEXT_SCENARIO, KEYS_SCENARIO, MODEL_LIST_NAME],
    judge: (e) =>
      e.exchanges.map((x) => {
        const cacheControl = headerOf(x, "cache-control") ?? "";
        return factOf("cache-control", cacheControl, x).mustBe(
          "neither public nor s-maxage",
          !/\b(public|s-maxage|immutable)\b/i.test(cacheControl),
        );
      }),
    faults: {
      "replies-public": changeReplies({}, {
        headers: { "cache-control": "public, max-age=600" },
      }),
    },
  },
  {
    id: "transport.limits-may-be-retried",
    source:
      "The libraries of both formats do not retry when `x-should-retry` is false, whatever the status",
    rule:
      "A reply that names the seconds after which a request may be retried does not forbid the retry.",
    mode: "replay",
    reads: [UPSTREAM_REFUSALS],
    judge: (e) =>
      some(
        e.exchanges.filter((x) =>
          [429, 503, 529].includes(x.head?.status ?? 0) &&
          headerOf(x, "retry-after") !== undefined
        ).map((x) =>
          factOf("x-should-retry", headerOf(x, "x-should-retry"), x).mustBe(
            "not false",
            headerOf(x, "x-should-retry") !== "false",
          )
        ),
        "with retry-after",
      ),
    faults: {
      "limits-declared-final": refusals("x-should-retry", "false"),
    },
  },
  {
    id: "transport.retry-advice",
    source:
      "The libraries of both formats follow `x-should-retry` instead of guessing from the status",
    rule:
      "What a refusal of an upstream of the message format says in `x-should-retry` reaches clients of that format.",
    level: "contract",
    mode: "replay",
    reads: [UPSTREAM_REFUSALS],
    judge: (e) =>
      some(
        e.matching("messages/messages/*").filter((x) =>
          (x.head?.status ?? 0) >= 400 &&
          x.head?.status === x.upstream.at(-1)?.status
        ).map((x) => {
          const status = x.head?.status ?? 0;
          const advice = `${status === 408 || status === 429 || status >= 500}`;
          const found = headerOf(x, "x-should-retry");
          return factOf("x-should-retry", `${status}: ${found}`, x).mustBe(
            advice,
            found === advice,
          );
        }),
        "a refusal with the upstream's status",
      ),
    faults: {
      "refusals-without-advice": all((headers) =>
        without(headers, "x-should-retry")
      ),
    },
  },
  {
    id: "transport.no-account-headers",
    source: "Claude Code's contract for gateways",
    rule: "No reply names the account that the operator has at a vendor.",
    provedBy: [KEYS_SCENARIO],
    judge: (e) =>
      e.exchanges.map((x) =>
        forbidden(x, /^(openai|anthropic)-(organization|project)(-id)?$/)
      ),
    faults: {
      "refusals-with-organization": refusals("openai-organization", "org-17"),
      "refusals-with-organization-id": refusals(
        "anthropic-organization-id",
        "17",
      ),
    },
  },
  {
    id: "transport.no-hop-by-hop",
    source: "RFC 9110, 7.6.1 and 11.7",
    rule:
      "Headers of the connection upstream are not passed on: they concern no one behind it.",
    provedBy: [KEYS_SCENARIO],
    judge: (e) =>
      e.exchanges.map((x) =>
        forbidden(
          x,
          /^(proxy-(authenticate|authorization|authentication-info|connection)|te)$/,
        )
      ),
    faults: {
      "refusals-with-proxy-authenticate": refusals(
        "proxy-authenticate",
        "Basic",
      ),
    },
  },
  {
    id: "transport.stream-no-byte-order-mark",
    source:
      "Line readers such as the one of the chat format's library for Python take a byte order mark as part of the first field, and lose the first event",
    rule: "A stream does not begin with a byte order mark.",
    reads: [TEXT_SCENARIO],
    streams: "*/*/stream",
    each: (x) =>
      factOf("first bytes", [...x.body.slice(0, 3)], x).mustBe(
        "no byte order mark",
        !(x.body[0] === 0xef && x.body[1] === 0xbb && x.body[2] === 0xbf),
      ),
    faults: {
      "streams-with-byte-order-mark": {
        wire: (text, { state }) => {
          if (state.has("begun")) return text;
          state.set("begun", true);
          return `\ufeff${text}`;
        },
      },
    },
  },
  {
    id: "transport.refusals-are-final",
    source:
      "The libraries of both formats retry when `x-should-retry` is true, whatever the status",
    rule:
      "A refusal that the same request will get again does not ask for a retry.",
    provedBy: [KEYS_SCENARIO],
    judge: (e) =>
      e.exchanges.map((x) =>
        factOf(
          "x-should-retry",
          `${x.head?.status}: ${headerOf(x, "x-should-retry")}`,
          x,
        ).mustBe(
          "not true",
          ![400, 401, 403, 404, 405, 413, 415, 422].includes(
            x.head?.status ?? 0,
          ) || headerOf(x, "x-should-retry") !== "true",
        )
      ),
    faults: {
      "refusals-to-be-tried-again": refusals("x-should-retry", "true"),
    },
  },
]);
