/**
 * Checks of the area `limits` about the requests upstream: requested limits are passed on, nothing
 * is added, and nothing is sent after a refusal.
 */
import type { Exchange, UpstreamCall } from "../../evidence/exchange.ts";
import { at, numberAt } from "../../evidence/json_path.ts";
import { type Json, parseJson } from "@model-gateway/replay/json";
import { ASKED_TOKENS, BEYOND, HISTORY } from "./scenarios.ts";
import { unbilled } from "./unbilled.ts";
import { GENERATION } from "../../suite/requests.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { fact, type Finding, NotTestable } from "../../suite/finding.ts";

/** The only upstream call of an answered exchange. */
function callOf(x: Exchange): UpstreamCall {
  const call = x.upstream.at(-1);
  if (call !== undefined) return call;
  throw new NotTestable("nothing reached the upstream", x);
}

/** The first value found at these paths, which name one field in each dialect. */
function fieldOf(call: UpstreamCall, ...paths: string[]): Json | undefined {
  return paths.map((path) => at(call.json, path)).find((value) =>
    value !== undefined && value !== null
  );
}

const limitOf = (call: UpstreamCall) =>
  fieldOf(
    call,
    "max_tokens",
    "max_completion_tokens",
    "generationConfig.maxOutputTokens",
  );
const temperatureOf = (call: UpstreamCall) =>
  fieldOf(call, "temperature", "generationConfig.temperature");
const topPOf = (call: UpstreamCall) =>
  fieldOf(call, "top_p", "generationConfig.topP");

/** The exchanges of a form on both endpoints, whole and streamed, as far as they were sent. */
function forms(e: Evidence, ...names: string[]): readonly Exchange[] {
  const wanted = new Set(names.flatMap((name) => [name, `${name}-stream`]));
  const found = e.exchanges.filter(({ label }) =>
    wanted.has(label.split("/").at(-1) ?? "")
  );
  if (found.length === 0) throw new NotTestable(`nothing was sent as ${names}`);
  return found;
}

/** Smallest default that an operator may set: a smaller one would truncate ordinary replies. */
const LEAST_DEFAULT = 256;

/** Part of `LIMITS_CHECKS`. */
export const LIMITS_UPSTREAM_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  reads: ["limits"],
}, [
  {
    id: "limits.bound-reaches-upstream",
    rule: {
      section: "POST /v1/messages (operation `createMessage`)",
      text: "Maximum output tokens; generation stops at this count",
    },
    judge: (e) =>
      forms(e, "control", "max_completion_tokens").map((x) =>
        fact(
          limitOf(callOf(x)) === ASKED_TOKENS,
          "limit of the call upstream",
          `${ASKED_TOKENS}`,
          limitOf(callOf(x)),
          x,
        )
      ),
    mutants: ["max_tokens-raised", "max_tokens-dropped", "max_tokens-lowered"],
  },
  {
    id: "limits.no-bound-unasked",
    rule: {
      section: "POST /v1/chat/completions (operation `createChatCompletion`)",
      text: "Optional here (required on the message endpoint)",
    },
    level: "convention",
    judge: (e) =>
      forms(e, "no-max_tokens").filter(({ endpoint }) => endpoint === "chat")
        .map((x): Finding => {
          const call = callOf(x);
          const limit = limitOf(call);
          return fact(
            limit === undefined
              ? call.dialect !== "messages"
              : typeof limit === "number" && limit >= LEAST_DEFAULT,
            "limit of the call upstream",
            call.dialect === "messages"
              ? `a default of at least ${LEAST_DEFAULT}`
              : `none, or at least ${LEAST_DEFAULT}`,
            limit,
            x,
          );
        }),
    mutants: ["max_tokens-default-tiny", "max_tokens-default-missing"],
  },
  {
    id: "limits.sampling-unasked",
    rule: {
      section: "POST /v1/messages (operation `createMessage`)",
      text: "0 to 1. Omit for the model default",
    },
    judge: (e) =>
      forms(e, "control").flatMap((x) => {
        const call = callOf(x);
        return [
          fact(
            temperatureOf(call) === undefined,
            "temperature of the call upstream",
            "none",
            temperatureOf(call),
            x,
          ),
          fact(
            topPOf(call) === undefined,
            "top_p of the call upstream",
            "none",
            topPOf(call),
            x,
          ),
        ];
      }),
    mutants: ["temperature-inserted", "top_p-inserted"],
  },
  {
    id: "limits.sampling-reaches-upstream",
    rule: {
      source:
        "A parameter with the same meaning and range on both sides is passed on",
      text:
        "Where temperature and top_p are sent upstream, they have the requested value; zero is a value. A chat upstream always receives those of a chat request.",
    },
    judge: (e) => [
      ...forms(e, "temperature-zero", "temperature-half", "temperature-one")
        .flatMap((x) => {
          const asked = numberAt(parseJson(x.request.body), "temperature");
          const call = callOf(x);
          const temperature = temperatureOf(call);
          const must = x.endpoint === "chat" && call.dialect !== "messages";
          return [
            fact(
              temperature === asked || (temperature === undefined && !must),
              "temperature of the call upstream",
              `${asked}`,
              temperature,
              x,
            ),
          ];
        }),
      ...forms(e, "top_p").map((x) => {
        const topP = topPOf(callOf(x));
        return fact(
          topP === 0.9 || topP === undefined,
          "top_p of the call upstream",
          "0.9",
          topP,
          x,
        );
      }),
    ],
    mutants: [
      "temperature-zero-dropped",
      "temperature-changed",
      "top_p-changed",
    ],
  },
  {
    id: "limits.refused-before-upstream",
    rule: {
      source: "A refused request costs nothing: it must not reach a model",
      text: "No upstream answers a refused request.",
    },
    judge: (e) =>
      GENERATION.flatMap((endpoint) =>
        forms(e, ...Object.keys(BEYOND[endpoint])).filter((x) =>
          x.endpoint === endpoint &&
          BEYOND[endpoint][
              x.label.split("/").at(-1)?.replace(/-stream$/, "") ?? ""
            ] !== undefined
        )
      ).map(unbilled),
    mutants: ["refused-after-upstream", "temperature-unchecked"],
  },
  {
    id: "limits.history-reaches-upstream",
    rule: {
      section: "Message reply (from `POST /v1/messages`, not streamed)",
      text: "Billed input tokens, including the full resent history",
    },
    reads: ["resent-history"],
    judge: (e) =>
      ["whole", "stream"].flatMap((form) =>
        e.matching(`*/*/${form}-after-history`).flatMap((x) =>
          HISTORY.map((words) =>
            fact(
              callOf(x).body.includes(words),
              "turns of the call upstream",
              `"${words}"`,
              callOf(x).body.slice(0, 200),
              x,
            )
          )
        )
      ),
    mutants: ["history-assistant-dropped", "history-words-cut"],
  },
]);
