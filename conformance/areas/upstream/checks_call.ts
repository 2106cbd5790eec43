/** Checks of the area `upstream`: how the upstream is called, and what it must not receive. */
import { compare, fact, factOf, offered, some } from "../../suite/finding.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { call, withBody } from "./faults.ts";
import { EMBEDDINGS } from "../embeddings/scenarios.ts";
import type { Exchange, UpstreamCall } from "../../evidence/exchange.ts";
import { containedUpstreamKey } from "../../evidence/redaction.ts";
import { isCredential } from "../../evidence/upstream_request.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { isObject } from "@model-gateway/replay/json";
import {
  equal,
  MEMBERS,
  passed,
  passedRequest,
  SAME,
  TABLE,
} from "./passed_request.ts";

/** All requests upstream of the run. */
function callsIn(
  e: Evidence,
): readonly { readonly x: Exchange; readonly call: UpstreamCall }[] {
  return some(
    e.exchanges.flatMap((x) => x.upstream.map((call) => ({ x, call }))),
    "one to a request that reached the upstream",
  );
}

export const CALL_CHECKS: readonly Check[] = checksWith({
  section: TABLE,
  mode: "replay",
  reads: ["sent-members"],
}, [
  {
    id: "upstream.stream",
    source: SAME,
    rule: "A stream request becomes a stream request upstream.",
    judge: (e) =>
      MEMBERS.flatMap((form) => e.streams(`*/*/${form}-stream`)).map(
        passedRequest,
      )
        .map((p) => equal(p, "stream upstream", true, p.sent.streamed)),
    faults: {
      "streams-asked-whole": call((out) => ({
        ...out,
        url: out.url.replace("streamGenerateContent", "generateContent"),
        body: { ...out.body, stream: false },
      })),
    },
  },
  {
    id: "upstream.one-call",
    source: "Each upstream call is billed to the operator",
    rule: "A request that succeeds is sent upstream once.",
    judge: (e) =>
      some(
        e.exchanges.filter(({ head }) => head?.status === 200).map((x) =>
          compare("calls of the upstream", x.upstream.length, 1, x)
        ),
        "a success",
      ),
    faults: sharedFaults("called-twice"),
  },
  {
    id: "upstream.call-is-json",
    source: "Each vendor's API documentation",
    rule:
      "The upstream is called with POST, `content-type: application/json` and a JSON object, also for counts and vectors.",
    reads: "everything",
    provedBy: [EMBEDDINGS],
    // A gateway may leave it to the vendor to refuse a wrong body.
    judge: (e) =>
      callsIn(e).filter(({ call }) => call.status === 200).flatMap((
        { x, call },
      ) => [
        fact(call.method === "POST", "method upstream", "POST", call.method, x),
        factOf(
          "body upstream",
          call.headers["content-type"] ?? "no content-type",
          x,
        ).mustBe(
          "a JSON object under application/json",
          /^application\/json\b/i.test(call.headers["content-type"] ?? "") &&
            isObject(call.json),
        ),
      ]),
    faults: {
      "called-with-text-plain": call((out) => ({
        ...out,
        headers: { ...out.headers, "content-type": "text/plain" },
      })),
    },
  },
  {
    id: "upstream.credential",
    source: "Vendors refuse a request without a key with 401",
    rule:
      "Every request upstream has the operator's key, also for counts and vectors.",
    reads: "everything",
    provedBy: [EMBEDDINGS],
    judge: (e) => {
      const calls = callsIn(e).map(({ x, call }) => ({
        x,
        keys: [
          ...Object.entries(call.headers).filter(([name]) => isCredential(name))
            .map(([, value]) => value),
          /[?&]key=([^&]*)/.exec(call.path)?.[1] ?? "",
        ],
      }));
      const hasOwn = (keys: readonly string[]): boolean =>
        keys.some(containedUpstreamKey);
      // The operator may have configured another key than the suite asks for.
      const isKnown = calls.some(({ keys }) => hasOwn(keys));
      return calls.map(({ x, keys }) =>
        factOf("keys upstream", keys, x).mustBe(
          isKnown ? "the upstream's" : "one",
          isKnown ? hasOwn(keys) : keys.some((key) => key !== ""),
        )
      );
    },
    faults: {
      "called-without-key": call((out) => ({ ...out, headers: {} })),
      "vectors-asked-with-another-key": call((out) =>
        out.url.includes("embeddings")
          ? { ...out, headers: { authorization: "Bearer other" } }
          : out
      ),
    },
  },
  {
    id: "upstream.version-header",
    source: "https://docs.claude.com/en/api/versioning",
    rule:
      "An upstream of the message format is called with `anthropic-version`: without it the vendor refuses the request.",
    judge: (e) =>
      offered(
        MEMBERS.flatMap((form) => passed(e, form)).filter(({ call }) =>
          call.dialect === "messages"
        ).map(({ x, call }) => {
          const version = call.headers["anthropic-version"] ?? "none";
          return factOf("anthropic-version upstream", version, x).mustBe(
            "a date",
            /^\d{4}-\d{2}-\d{2}$/.test(version),
          );
        }),
        "has the message format",
      ),
    faults: {
      "called-without-version": call((out) => ({
        ...out,
        headers: Object.fromEntries(
          Object.entries(out.headers).filter(([name]) =>
            name !== "anthropic-version"
          ),
        ),
      })),
    },
  },
  {
    id: "upstream.callers-key",
    source:
      "A key belongs to exactly one gateway (section Authentication): to others it is a secret",
    rule: "The client's key is never sent upstream.",
    judge: (e) => [
      factOf(
        "the client's key upstream",
        e.note("the client's key was seen upstream"),
      ).mustBe("never", e.note("the client's key was seen upstream") === false),
    ],
    faults: {
      "callers-key-passed-on": call((out, { request }) => ({
        ...out,
        headers: {
          ...out.headers,
          "x-forwarded-authorization": request.headers["authorization"] ??
            request.headers["x-api-key"] ?? "",
        },
      })),
      "callers-key-as-user": withBody((body, { request }) => ({
        ...body,
        user: request.headers["authorization"] ??
          request.headers["x-api-key"] ?? "",
      })),
    },
  },
]);
