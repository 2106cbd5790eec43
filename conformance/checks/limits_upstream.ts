/** Checks of the area `limits` about what reaches the upstream: limits as asked, nothing that was not asked, nothing after a refusal. */
import type { Exchange, UpstreamCall } from "../evidence/exchange.ts";
import { at, numberAt } from "../evidence/json_path.ts";
import { type Json, parseJson } from "../replay/json.ts";
import { ASKED_TOKENS, BEYOND, HISTORY } from "../scenarios/limits.ts";
import { unbilled } from "./unbilled.ts";
import { GENERATION } from "../suite/asks.ts";
import type { Check } from "../suite/check.ts";
import type { Evidence } from "../suite/evidence.ts";
import { fact, type Finding, NotTestable } from "../suite/finding.ts";

/** The one call upstream of an exchange that was answered. */
function callOf(x: Exchange): UpstreamCall {
  const call = x.upstream.at(-1);
  if (call !== undefined) return call;
  throw new NotTestable("nothing reached the upstream", x);
}

/** A field of a call in whichever dialect. */
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

/** A default that an operator may set; less would cut ordinary replies. */
const LEAST_DEFAULT = 256;

/** The checks. */
export const LIMITS_UPSTREAM_CHECKS: readonly Check[] = [
  {
    id: "limits.bound-reaches-upstream",
    rule: {
      section: "POST /v1/messages (operation `createMessage`)",
      text: "Maximum output tokens; generation stops at this count",
    },
    level: "documented",
    mode: "replay",
    reads: ["limits"],
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
    mode: "replay",
    reads: ["limits"],
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
    level: "documented",
    mode: "replay",
    reads: ["limits"],
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
        "A parameter of the same meaning and range on both sides is passed on",
      text:
        "Where temperature and top_p go upstream, they have the value that was asked for; zero is a value. A chat upstream gets those of a chat request in any case.",
    },
    level: "convention",
    mode: "replay",
    reads: ["limits"],
    judge: (e) => [
      ...forms(e, "temperature-zero", "temperature-half", "temperature-one")
        .flatMap((x) => {
          const asked = numberAt(parseJson(x.request.body), "temperature");
          const call = callOf(x);
          const told = temperatureOf(call);
          const must = x.endpoint === "chat" && call.dialect !== "messages";
          return [
            fact(
              told === asked || (told === undefined && !must),
              "temperature of the call upstream",
              `${asked}`,
              told,
              x,
            ),
          ];
        }),
      ...forms(e, "top_p").map((x) => {
        const told = topPOf(callOf(x));
        return fact(
          told === 0.9 || told === undefined,
          "top_p of the call upstream",
          "0.9",
          told,
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
      source: "A refused request costs nothing: no model may see it",
      text: "What is refused is answered by no upstream.",
    },
    level: "convention",
    mode: "replay",
    reads: ["limits"],
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
    level: "documented",
    mode: "replay",
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
];
