/** Checks of the area `auth`: which keys are accepted, which are refused, and the error bodies. */
import { changeProblems, changeReplies } from "../../faults/change_hooks.ts";
import {
  equals,
  factOf,
  type Finding,
  NotTestable,
  some,
  statusIs,
  valueAt,
} from "../../suite/finding.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import {
  acceptWhere,
  body401,
  changeKey,
  refuseKey,
  shown,
  typed401,
} from "./faults.ts";
import { type Exchange, headerOf, isStream } from "../../evidence/exchange.ts";
import { isObject } from "@model-gateway/replay/json";
import { QUOTED_KEYS, WRONG_KEYS } from "./scenarios_keys.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { AUTH_KEY_CHECKS, PASTED, SCHEMES } from "./checks_keys.ts";
import { besideRightKey } from "./right_key.ts";

const SECTION = "Authentication";
const CONDITION =
  "| 401 | Key missing, invalid, revoked, rotated, or belonging to another endpoint |";

/**
 * The refused exchanges with these labels, under both schemes; fails when the right key is not
 * accepted on the same operation.
 */
function refusedForms(
  e: Evidence,
  forms: readonly string[],
): readonly Exchange[] {
  const controls = [...e.matching("*/x-api-key"), ...e.matching("*/bearer")];
  return forms.flatMap((form) => {
    const found = e.exchanges.filter(({ label }) => {
      const last = label.split("/").at(-1);
      return last === form || last === `${form}-bearer`;
    });
    if (found.length === 0) throw new NotTestable(`nothing was sent ${form}`);
    return besideRightKey(controls, found);
  });
}

const refused = (exchanges: readonly Exchange[]): Finding[] =>
  exchanges.map((exchange) => statusIs(exchange, 401));

/** All exchanges with a key that this gateway never issued. */
function allRefused(e: Evidence): readonly Exchange[] {
  return refusedForms(e, [
    "missing",
    ...Object.keys(WRONG_KEYS),
    ...Object.keys(QUOTED_KEYS),
  ]);
}

/** The exchange, when it was refused with 401: only then can the body of the refusal be judged. */
function turnedAway(x: Exchange): Exchange {
  if (x.head?.status !== 200) return x;
  throw new NotTestable(`"${x.label}" should be refused with 401`, x);
}

/** The reply is what the operation returns for a valid key: a list, a reply or a stream. */
function served(x: Exchange): Finding {
  const good = x.head?.status === 200 &&
    (x.label.includes("-stream/")
      ? isStream(x) && x.frames.length > 0
      : isObject(x.json));
  return factOf(
    "reply",
    `${x.head?.status ?? x.ending} ${x.text.slice(0, 120)}`,
    x,
  ).mustBe("200 with the requested content", good);
}

export const AUTH_CHECKS: readonly Check[] = checksWith({
  section: SECTION,
  mode: "both",
  reads: ["keys"],
}, [
  {
    id: "auth.x-api-key",
    rule: SCHEMES,
    matching: "*/x-api-key",
    each: served,
    faults: {
      "x-api-key-ignored": {
        key: (_, { request }) =>
          /^Bearer (.*)$/.exec(request.headers["authorization"] ?? "")?.[1],
      },
      "chat-takes-bearer-only": {
        key: (key, { endpoint, request }) =>
          endpoint === "chat" && request.headers["x-api-key"] !== undefined
            ? undefined
            : key,
      },
      "models-take-bearer-only": {
        key: (key, { endpoint, request }) =>
          endpoint === "models" && request.headers["x-api-key"] !== undefined
            ? undefined
            : key,
      },
    },
  },
  {
    id: "auth.bearer",
    rule: SCHEMES,
    matching: "*/bearer",
    each: served,
    faults: {
      "bearer-ignored": {
        key: (_, { request }) => request.headers["x-api-key"],
      },
      "bearer-not-for-streams": {
        key: (key, { stream, request }) =>
          stream ? request.headers["x-api-key"] : key,
      },
    },
  },
  {
    id: "auth.models-proves-key",
    section: "GET /v1/models (operation `listModels`)",
    rule:
      "A 200 also proves that base address and key are both correct; an unrecognised key gives 401 with `authentication_error`.",
    judge: (e) => [
      statusIs(e.exchange("models/bearer"), 200),
      ...[
        e.exchange("models/missing"),
        ...e.matching("models/wrong-bearer"),
        ...e.matching("models/foreign-bearer"),
      ].flatMap((x) => [
        statusIs(x, 401),
        equals(x, "error.type", "authentication_error"),
      ]),
    ],
    faults: {
      "models-public": {
        admit: (problem, { endpoint, request }) =>
          endpoint === "models" && request.headers["x-api-key"] === undefined &&
            request.headers["authorization"] === undefined
            ? undefined
            : problem,
      },
      "models-for-any-key": {
        admit: (problem, { endpoint }) =>
          endpoint === "models" &&
            problem?.message.includes("missing") === false
            ? undefined
            : problem,
      },
      "models-401-of-chat": changeProblems(
        { endpoint: "models", status: 401 },
        { type: "invalid_request_error" },
      ),
    },
  },
  {
    id: "auth.missing",
    section: "Errors",
    rule: CONDITION,
    judge: (e) => refused(refusedForms(e, ["missing"])),
    faults: {
      "auth-off": { admit: () => undefined },
      "streams-without-key": acceptWhere(({ stream }) => stream),
      "missing-key-403": refuseKey(403, true),
      ...sharedFaults("models-public"),
    },
  },
  {
    id: "auth.wrong",
    section: "Errors",
    rule: CONDITION,
    judge: (e) =>
      refused(refusedForms(e, [
        "wrong",
        "cut",
        "beheaded",
        "prefix",
        "extended",
        "preceded",
        "doubled",
        "other-case",
      ])),
    faults: {
      "any-key-ok": {
        admit: (problem) =>
          problem?.message.includes("missing") ? problem : undefined,
      },
      // Only the first 12 characters of the key are compared.
      "key-by-prefix": {
        admit: (problem, { request }) => {
          const shown = request.headers["x-api-key"] ??
            request.headers["authorization"] ?? "";
          return /^(Bearer )?sk-selftest/.test(shown) ? undefined : problem;
        },
      },
      "key-by-part": acceptWhere((x) =>
        /sk-selftest-7f3a9c51d2e84b60/.test(shown(x))
      ),
      "key-in-any-case": changeKey((key) => key.toLowerCase()),
      "wrong-key-403": refuseKey(403, false),
      "wrong-key-400": refuseKey(400, false),
    },
  },
  {
    id: "auth.listed-keys",
    source: "A list of keys is not a key",
    rule: "Two keys separated by a comma are refused.",
    judge: (e) => refused(refusedForms(e, ["listed"])),
    faults: {
      "first-of-listed-keys": changeKey((key) => key.split(",")[0] ?? ""),
      ...sharedFaults("key-by-part"),
    },
  },
  {
    id: "auth.foreign",
    section: "What the service does",
    rule: "A key issued by another service is rejected.",
    judge: (e) => refused(refusedForms(e, ["foreign", "foreign-project"])),
    faults: {
      "foreign-keys-ok": acceptWhere((x) => /sk-(ant|proj)-/.test(shown(x))),
      ...sharedFaults("any-key-ok"),
    },
  },
  {
    id: "auth.quoted",
    rule: PASTED,
    judge: (e) => refused(refusedForms(e, Object.keys(QUOTED_KEYS))),
    faults: {
      "quotes-stripped": changeKey((key) => key.replaceAll(/^["']|["']$/g, "")),
      "quotes-stripped-before": changeKey((key) => key.replace(/^["']/, "")),
      "back-quotes-stripped": changeKey((key) => key.replaceAll("`", "")),
      "escaped-quotes-stripped": changeKey((key) => key.replaceAll('\\"', "")),
    },
  },
  {
    id: "auth.error-body",
    section: "Errors",
    rule:
      "JSON object with `type` = `error` and `error` holding `type` = `authentication_error` and a `message` string",
    judge: (e) =>
      allRefused(e).map(turnedAway).flatMap((x) => [
        statusIs(x, 401),
        equals(x, "type", "error"),
        equals(x, "error.type", "authentication_error"),
        valueAt(x, "error.message").mustBe("a string", (value) =>
          typeof value === "string"),
      ]),
    faults: {
      "401-body-is-text": body401(() => ({ error: "unauthorized" })),
      "401-type-of-chat": body401((body) => ({
        ...body,
        error: { message: "no", type: "invalid_request_error" },
      })),
      "401-without-message": body401((body) => ({
        ...body,
        error: { type: "authentication_error" },
      })),
      "401-message-object": body401((body) => ({
        ...body,
        error: { type: "authentication_error", message: { text: "no" } },
      })),
      "401-top-type-on-messages-only": changeReplies({
        status: 401,
        endpoint: "chat",
      }, (reply) => ({ body: { error: reply.body["error"] } })),
      "401-in-a-list": body401((body) => ({ ...body, error: [body["error"]] })),
      "401-empty-body": body401(() => ({})),
      ...sharedFaults("401-without-top-type"),
    },
  },
  {
    id: "auth.error-says-why",
    source: "Libraries show `error.message` to users",
    rule: "The message of a refused key is not empty.",
    judge: (e) =>
      allRefused(e).map(turnedAway).map((x) =>
        valueAt(x, "error.message").mustBe(
          "a string that is not empty",
          (value) => typeof value === "string" && value.trim() !== "",
        )
      ),
    faults: {
      "401-message-empty": body401((body) => ({
        ...body,
        error: { type: "authentication_error", message: "" },
      })),
    },
  },
  {
    id: "auth.error-is-json",
    section: "Endpoints",
    rule: "All bodies are JSON (`content-type: application/json`).",
    judge: (e) =>
      allRefused(e).map(turnedAway).flatMap((x) => {
        const type = headerOf(x, "content-type") ?? "no content type";
        return [
          factOf("content-type", type, x).mustBe(
            "application/json, also for a stream request",
            /^application\/json\s*(;|$)/i.test(type),
          ),
          factOf("body", x.text.slice(0, 80) || "empty", x).mustBe(
            "one JSON object",
            isObject(x.json) && x.frames.length === 0,
          ),
        ];
      }),
    faults: {
      "401-as-html": typed401("text/html; charset=utf-8", false),
      "stream-401-as-events": typed401("text/event-stream", true),
      ...sharedFaults("401-as-text"),
    },
  },
  {
    id: "auth.no-upstream-call",
    source: "A refused request costs nothing: it must not reach a model",
    rule: "A request with a missing or wrong key never reaches the upstream.",
    mode: "replay",
    reads: ["keys", "pasted-keys", "key-schemes"],
    judge: (e) => {
      e.matching("*/missing");
      return some(
        e.exchanges.filter((x) => x.head?.status !== 200).map((x) =>
          factOf(`${x.label}: calls upstream`, `${x.upstream.length}`, x)
            .mustBe(
              "none",
              x.upstream.length === 0,
            )
        ),
        "a refusal",
      );
    },
    faults: {
      // The key is checked after the model has answered.
      "auth-after-upstream": {
        admit: (problem, { state }) => {
          if (problem !== undefined) state.set("refused", true);
          return undefined;
        },
        reply: (reply, { state }) =>
          state.get("refused") === true
            ? {
              ...reply,
              status: 401,
              body: {
                type: "error",
                error: { type: "authentication_error", message: "wrong key" },
              },
            }
            : reply,
      },
    },
  },
  ...AUTH_KEY_CHECKS,
]);
