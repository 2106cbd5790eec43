/**
 * Checks of the area `transport`: streams without buffering, upstream calls that end when the
 * client disconnects, and keys that never leak.
 */
import { changeProblems, changeReplies } from "../../faults/change_hooks.ts";
import { CLIENT_HEADER_CHECKS } from "./checks_client_headers.ts";
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import { KEYS_SCENARIO } from "../auth/scenarios.ts";
import { compare, fact, factOf, some } from "../../suite/finding.ts";
import { UPSTREAM_KEY } from "../../reference_gateway/call_upstream.ts";
import {
  type Check,
  checksWith,
  type Faults,
  sharedFaults,
} from "../../suite/check.ts";
import {
  concurrentTextLost,
  ending,
  holdPieces,
  refusals,
  sizeOf,
  streams,
  textsOfOthers,
} from "./faults.ts";
import {
  contentOf,
  fixtureContent,
  textAndCalls,
} from "../../evidence/content.ts";
import { type Exchange, headerOf, isStream } from "../../evidence/exchange.ts";
import type { Evidence } from "../../suite/evidence.ts";
import {
  containedKey,
  containedUpstreamKey,
} from "../../evidence/redaction.ts";
import { mapValues } from "@model-gateway/replay/map_values";
import { EMBEDDINGS } from "../embeddings/scenarios.ts";
import { isCredential } from "../../evidence/upstream_request.ts";
import { PHASES } from "./scenarios.ts";
import { ANSWERED_CHECKS } from "./checks_answered.ts";
import { TRANSPORT_HEAD_CHECKS } from "./checks_heads.ts";
import { TRANSPORT_PACE_CHECKS } from "./checks_pace.ts";
import { TRANSPORT_FORBIDDEN_CHECKS } from "./checks_forbidden.ts";
import { UNREAD_BODY_CHECKS } from "./checks_unread_body.ts";
import { TRANSPORT_REQUEST_CHECKS } from "./checks_requests.ts";

const NOT_BUFFERED =
  "Intermediaries in front of a client must not buffer the stream or the client receives the reply in one piece at the end.";

/** A check that the upstream call ends when the client disconnects in these phases. */
function hangUp(
  id: string,
  text: string,
  phases: readonly (keyof typeof PHASES)[],
  faults: Faults,
): Check {
  return {
    id,
    rule: { source: "https://github.com/BerriAI/litellm/issues/30245", text },
    level: "convention",
    mode: "replay",
    reads: ["hung-up"],
    judge: (e) =>
      phases.flatMap((phase) => e.matching(`*/*/${phase}`)).map((x) => {
        const ending = e.note(`${x.label} upstream`);
        return compare("upstream exchange", ending, "caller-hung-up", x);
      }),
    faults,
  };
}

/** Cookies that AWS, Cloudflare, Google and Azure set in front of a gateway. */
const BALANCERS_COOKIE =
  /^(AWSALB\w*|AWSELB\w*|__cf\w+|_cfuvid|GCLB|ARRAffinity\w*)=/;

/** Replies whose content type is JSON, unless the suite left before their end. */
function jsonReplies(e: Evidence): readonly Exchange[] {
  return e.exchanges.filter((x) =>
    x.ending !== "hung-up" &&
    /^application\/json\b/i.test(headerOf(x, "content-type") ?? "")
  );
}

export const TRANSPORT_CHECKS: readonly Check[] = checksWith(
  { section: "Stream behaviour", mode: "replay", reads: "everything" },
  [
    {
      id: "transport.not-buffered",
      rule: NOT_BUFFERED,
      reads: ["gated"],
      matching: "*/*/gated",
      each: (x, e) =>
        factOf("first content", "did not arrive while the upstream waited")
          .mustBe(
            "reach the client before the upstream sends the rest",
            e.note(`${x.label} seen`) === true,
          ),
      faults: {
        "stream-buffered": holdPieces(() => false),
        "stream-buffered-by-size": holdPieces((held) => sizeOf(held) >= 4096),
      },
    },
    {
      id: "transport.each-part-at-once",
      rule: NOT_BUFFERED,
      reads: ["gated-each"],
      matching: "*/*/gated-each",
      each: (x, e) => {
        const held = e.note(`${x.label} held`);
        return factOf(
          "content of each frame",
          held === "" ? "all came" : `${held} did not`,
        ).mustBe(
          "reach the client before the upstream sends the next frame",
          held === "",
        );
      },
      faults: {
        "stream-one-behind": {
          writer: (writer, { stream }) => {
            if (!stream) return writer;
            let waiting: Uint8Array | undefined;
            const next = (bytes?: Uint8Array): void => {
              if (waiting !== undefined) writer.piece(waiting);
              waiting = bytes;
            };
            return {
              ...writer,
              piece: next,
              end: () => {
                next();
                writer.end();
              },
            };
          },
        },
        "stream-buffered-late": holdPieces((_, sent) => sent < 8),
        ...sharedFaults("stream-buffered", "stream-buffered-by-size"),
      },
    },
    hangUp(
      "transport.hang-up-cancels",
      "When the client disconnects, the upstream call is ended: no tokens are billed that no client reads.",
      ["middle", "late"],
      { "hang-up-ignored": { hangUpCancels: () => false } },
    ),
    hangUp(
      "transport.hang-up-before-head",
      "When the client disconnects before the reply has begun, the upstream call is ended.",
      ["before-head", "after-head"],
      sharedFaults("hang-up-ignored"),
    ),
    hangUp(
      "transport.hang-up-whole",
      "When the client of a whole reply disconnects, the upstream call is ended.",
      ["whole-before-head", "whole-middle"],
      {
        "hang-up-of-whole-ignored": { hangUpCancels: ({ stream }) => stream },
        ...sharedFaults("hang-up-ignored"),
      },
    ),
    {
      id: "transport.no-crosstalk",
      source: "Replies of one client must never reach another",
      rule: "Of many concurrent streams each has its own text and is complete.",
      reads: ["parallel"],
      streams: "*/*/*",
      each: (x) => {
        const name = x.label.split("/").at(-1)?.split(":")[0] ?? "";
        const wanted = textAndCalls(fixtureContent(name, x.via));
        const found = textAndCalls(contentOf(x));
        return fact(found === wanted, "text", wanted, found);
      },
      faults: {
        "texts-swapped": textsOfOthers(),
        "concurrent-text-lost": concurrentTextLost,
      },
    },
    {
      id: "transport.streams-end",
      judgesSilence: true,
      source: "RFC 9112, 8",
      rule:
        "A stream that reached its end is ended properly: the body is complete by its framing.",
      mode: "both",
      reads: [TEXT_SCENARIO, "raw-streams"],
      judge: (e) =>
        some(
          e.exchanges.filter(isStream).map((x) =>
            factOf("end of the body", x.problem ?? x.ending, x).mustBe(
              "complete",
              x.ending === "complete",
            )
          ),
          "an event stream",
        ),
      faults: {
        "stream-reset-at-end": ending((writer) => writer.reset()),
        "stream-never-ends": ending(() => {}),
      },
    },
    {
      id: "transport.json-complete",
      source: "RFC 9112, 8",
      rule: "A JSON reply is complete by its framing.",
      mode: "both",
      provedBy: [KEYS_SCENARIO, TEXT_SCENARIO],
      judge: (e) =>
        some(
          jsonReplies(e).map((x) =>
            factOf("end of the body", x.problem ?? x.ending, x).mustBe(
              "complete",
              x.ending === "complete",
            )
          ),
          "JSON",
        ),
      faults: {
        "json-cut-and-reset": {
          writer: (writer, { stream }) =>
            stream ? writer : {
              ...writer,
              piece: (bytes) =>
                writer.piece(bytes.subarray(0, bytes.length / 2)),
              end: () => writer.reset(),
            },
        },
      },
    },
    {
      id: "transport.no-key-in-replies",
      source:
        "A reply that contains a key leaks it into every log between gateway and client",
      rule: "No reply contains the client's key or the upstream's.",
      mode: "both",
      provedBy: [KEYS_SCENARIO, TEXT_SCENARIO],
      judge: (e) =>
        e.exchanges.map((x) =>
          factOf("reply", "contains a key", x).mustBe(
            "no key in it",
            !containedKey(x.text) &&
              !containedKey(JSON.stringify(x.head?.headers ?? [])),
          )
        ),
      faults: {
        "401-echoes-key": changeProblems(
          { status: 401 },
          (_, { request }) => ({
            message: `bad key ${request.headers["x-api-key"]}`,
          }),
        ),
        "401-echoes-bearer": changeProblems(
          { status: 401 },
          (_, { request }) => ({
            message: `no such key: ${request.headers["authorization"]}`,
          }),
        ),
        "upstream-key-in-header": changeReplies({}, {
          headers: { "x-debug": `key=${UPSTREAM_KEY}` },
        }),
        "key-in-every-reply": changeReplies(
          {},
          (reply, { request }) => ({
            body: {
              ...reply.body,
              caller: request.headers["x-api-key"] ??
                request.headers["authorization"] ?? "",
            },
          }),
        ),
      },
    },
    {
      id: "transport.upstream-key-not-repeated",
      source: "https://github.com/BerriAI/litellm/issues/15799",
      rule:
        "The upstream's words about the gateway's own key never reach the client.",
      reads: ["upstream-identity"],
      judge: (e) =>
        ["echoing-401", "echoing-403"].flatMap((
          name,
        ) => [
          ...e.matching(`*/*/${name}-whole`),
          ...e.matching(`*/*/${name}-stream`),
        ]).map((x) =>
          factOf("reply", x.text.slice(0, 160), x).mustBe(
            "the upstream's key is not in it",
            e.note(`${x.label} holds key`) === false && !containedKey(x.text),
          )
        ),
      faults: {
        "upstream-words-passed-on": {
          problem: (problem) =>
            problem.message.includes("status 40")
              ? { ...problem, message: `Incorrect API key: ${UPSTREAM_KEY}` }
              : problem,
        },
      },
    },
    {
      id: "transport.key-stays-inside",
      source:
        "A key is valid only for the gateway that issued it (section What the service does): to others it is a secret",
      rule:
        "No request upstream contains a key, except the upstream's own key in its header.",
      provedBy: [EMBEDDINGS],
      judge: (e) =>
        some(
          e.exchanges.flatMap((x) =>
            x.upstream.map((call) =>
              factOf("upstream call", "contains a key", x).mustBe(
                "no key but the upstream's own, in its own header",
                !containedKey(call.body) &&
                  !containedKey(
                    call.path.replace(/([?&]key=)\{\{KEY\^+\}\}/, "$1"),
                  ) &&
                  Object.entries(call.headers).every(([name, value]) =>
                    !containedKey(value) ||
                    isCredential(name) && containedUpstreamKey(value)
                  ),
              )
            )
          ),
          "one to a request that reached the upstream",
        ),
      faults: {
        "client-key-forwarded": {
          upstream: (call, { request }) => ({
            ...call,
            headers: {
              ...call.headers,
              "x-client": request.headers["x-api-key"] ??
                request.headers["authorization"] ?? "",
            },
          }),
        },
        "client-key-for-upstreams-key": {
          upstream: (call, { request }) => ({
            ...call,
            headers: mapValues(
              call.headers,
              (value, name) =>
                isCredential(name)
                  ? request.headers["x-api-key"] ??
                    request.headers["authorization"] ?? ""
                  : value,
            ),
          }),
        },
        "key-in-upstream-address": {
          upstream: (call) => ({
            ...call,
            url: `${call.url}${
              call.url.includes("?") ? "&" : "?"
            }caller=${UPSTREAM_KEY}`,
          }),
        },
      },
    },
    {
      id: "transport.no-cookies",
      source: "A gateway keeps no state of its clients in cookies",
      rule:
        "No reply of an operation sets a cookie, except those of load balancers in front of the gateway.",
      mode: "both",
      provedBy: [KEYS_SCENARIO, TEXT_SCENARIO],
      judge: (e) =>
        e.exchanges.map((x) =>
          factOf("set-cookie", headerOf(x, "set-cookie") ?? "none", x).mustBe(
            "none",
            BALANCERS_COOKIE.test(headerOf(x, "set-cookie") ?? "AWSALB="),
          )
        ),
      faults: {
        "sets-cookie": changeReplies({}, {
          headers: { "set-cookie": "route=a; path=/" },
        }),
        "refusals-set-cookie": refusals("set-cookie", "route=a; path=/"),
        "streams-set-cookie": streams({ "set-cookie": "route=a; path=/" }),
      },
    },
    ...ANSWERED_CHECKS,
    ...TRANSPORT_HEAD_CHECKS,
    ...TRANSPORT_FORBIDDEN_CHECKS,
    ...TRANSPORT_PACE_CHECKS,
    ...TRANSPORT_REQUEST_CHECKS,
    ...UNREAD_BODY_CHECKS,
    ...CLIENT_HEADER_CHECKS,
  ],
);
