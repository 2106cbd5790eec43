/**
 * Checks of the area `limits` about the requests upstream: requested limits are passed on, nothing
 * is added, and nothing is sent after a refusal.
 */
import {
  compare,
  factOf,
  type Finding,
  NotTestable,
} from "../../suite/finding.ts";
import { readMessages } from "../../reference_gateway/formats/read_messages.ts";
import { readChat } from "../../reference_gateway/formats/read_chat.ts";
import { changeRequest, setting } from "../../faults/change_request.ts";
import { changeBody } from "./faults.ts";
import type { Exchange, UpstreamCall } from "../../evidence/exchange.ts";
import { at, numberAt } from "../../evidence/json_path.ts";
import { type Json, parseJson } from "@model-gateway/replay/json";
import { ASKED_TOKENS, BEYOND, HISTORY } from "./scenarios.ts";
import { unbilled } from "./unbilled.ts";
import { GENERATION } from "../../suite/requests.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";

/** The only upstream call of an answered exchange. */
function callOf(x: Exchange): UpstreamCall {
  const call = x.upstream.at(-1);
  if (call !== undefined) return call;
  throw new NotTestable("nothing reached the upstream", x);
}

/**
 * The first value found at these paths, which name one field in each dialect. One vendor also
 * accepts its own names in snake case.
 */
function fieldOf(call: UpstreamCall, ...paths: string[]): Json | undefined {
  return paths.flatMap((path) => [
    path,
    path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    path.replace("generationConfig", "generation_config"),
  ]).map((path) => at(call.json, path)).find((value) =>
    value !== undefined && value !== null
  );
}

const limitOf = (call: UpstreamCall) =>
  fieldOf(
    call,
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
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

export const LIMITS_UPSTREAM_CHECKS: readonly Check[] = checksWith({
  section: "POST /v1/messages (operation `createMessage`)",
  mode: "replay",
  reads: ["limits"],
}, [
  {
    id: "limits.bound-reaches-upstream",
    rule: "Maximum output tokens; generation stops at this count",
    judge: (e) =>
      forms(e, "control", "max_completion_tokens").map((x) =>
        compare(
          "limit of the call upstream",
          limitOf(callOf(x)),
          ASKED_TOKENS,
          x,
        )
      ),
    faults: {
      "max_tokens-raised": setting("maxTokens", (tokens) => tokens * 10),
      "max_tokens-dropped": changeRequest(() => ({ maxTokens: undefined })),
      "max_tokens-lowered": setting("maxTokens", (tokens) => tokens - 1),
    },
  },
  {
    id: "limits.no-bound-unasked",
    section: "POST /v1/chat/completions (operation `createChatCompletion`)",
    rule: "Optional here (required on the message endpoint)",
    level: "convention",
    judge: (e) =>
      forms(e, "no-max_tokens").filter(({ endpoint }) => endpoint === "chat")
        .map((x): Finding => {
          const call = callOf(x);
          const limit = limitOf(call);
          return factOf("limit of the call upstream", limit, x).mustBe(
            call.dialect === "messages"
              ? `a default of at least ${LEAST_DEFAULT}`
              : `none, or at least ${LEAST_DEFAULT}`,
            limit === undefined
              ? call.dialect !== "messages"
              : typeof limit === "number" && limit >= LEAST_DEFAULT,
          );
        }),
    faults: {
      "max_tokens-default-tiny": changeRequest(({ maxTokens }) => ({
        maxTokens: maxTokens ?? 16,
      })),
      "max_tokens-default-missing": {
        upstream: (
          { body: { max_tokens: _, ...body }, ...call },
          { endpoint },
        ) =>
          endpoint === "chat"
            ? { ...call, body }
            : { ...call, body: { ...body, max_tokens: _ } },
      },
    },
  },
  {
    id: "limits.sampling-unasked",
    rule: "0 to 1. Omit for the model default",
    judge: (e) =>
      forms(e, "control").flatMap((x) => {
        const call = callOf(x);
        return [
          compare(
            "temperature of the call upstream",
            temperatureOf(call),
            undefined,
            x,
          ),
          compare("top_p of the call upstream", topPOf(call), undefined, x),
        ];
      }),
    faults: {
      "temperature-inserted": changeRequest(({ temperature }) => ({
        temperature: temperature ?? 1,
      })),
      "top_p-inserted": changeRequest(({ topP }) => ({ topP: topP ?? 1 })),
    },
  },
  {
    id: "limits.sampling-reaches-upstream",
    source:
      "A parameter with the same meaning and range on both sides is passed on",
    rule:
      "Where temperature and top_p are sent upstream, they have the requested value; zero is a value. A chat upstream always receives those of a chat request.",
    judge: (e) => [
      ...forms(e, "temperature-zero", "temperature-half", "temperature-one")
        .flatMap((x) => {
          const asked = numberAt(parseJson(x.request.body), "temperature");
          const call = callOf(x);
          const temperature = temperatureOf(call);
          const must = x.endpoint === "chat" && call.dialect !== "messages";
          return [
            factOf("temperature of the call upstream", temperature, x)
              .mustBe(
                `${asked}`,
                temperature === asked || (temperature === undefined && !must),
              ),
          ];
        }),
      ...forms(e, "top_p").map((x) => {
        const topP = topPOf(callOf(x));
        return factOf("top_p of the call upstream", topP, x).mustBe(
          "0.9",
          topP === 0.9 || topP === undefined,
        );
      }),
    ],
    faults: {
      "temperature-zero-dropped": changeRequest(({ temperature }) => ({
        temperature: temperature || undefined,
      })),
      "temperature-changed": setting("temperature", (value) => value / 2),
      "top_p-changed": setting("topP", () => 1),
    },
  },
  {
    id: "limits.refused-before-upstream",
    source: "A refused request costs nothing: it must not reach a model",
    rule: "No upstream answers a refused request.",
    judge: (e) =>
      GENERATION.flatMap((endpoint) =>
        forms(e, ...Object.keys(BEYOND[endpoint])).filter((x) =>
          x.endpoint === endpoint &&
          BEYOND[endpoint][
              x.label.split("/").at(-1)?.replace(/-stream$/, "") ?? ""
            ] !== undefined
        )
      ).map(unbilled),
    faults: {
      "refused-after-upstream": {
        accept: (problem, body, { state, endpoint }) => {
          if (problem === undefined) return undefined;
          state.set("refused", problem.message);
          try {
            (endpoint === "chat" ? readChat : readMessages)(body);
          } catch {
            return undefined;
          }
          return undefined;
        },
        modelRequest: (modelRequest, { request, state }) => {
          if (state.get("refused") === undefined) return modelRequest;
          const words = /"content":"([^"]*\[\[fx:[^"]*)"/.exec(request.body)
            ?.[1];
          const part = { type: "text", text: words ?? "" } as const;
          return {
            ...modelRequest,
            stream: false,
            turns: [{ role: "user", parts: [part] }],
          };
        },
        reply: (reply, { state }) =>
          state.get("refused") === undefined ? reply : {
            ...reply,
            status: 400,
            body: {
              type: "error",
              error: {
                type: "invalid_request_error",
                message: state.get("refused") ?? "",
              },
            },
          },
      },
      "temperature-unchecked": changeBody(({ temperature, ...body }) =>
        typeof temperature === "number" && temperature >= 0 && temperature <= 1
          ? { ...body, temperature }
          : body
      ),
    },
  },
  {
    id: "limits.history-reaches-upstream",
    section: "Message reply (from `POST /v1/messages`, not streamed)",
    rule: "Billed input tokens, including the full resent history",
    reads: ["resent-history"],
    judge: (e) =>
      ["whole", "stream"].flatMap((form) =>
        e.matching(`*/*/${form}-after-history`).flatMap((x) =>
          HISTORY.map((words) =>
            factOf(
              "turns of the call upstream",
              callOf(x).body.slice(0, 200),
              x,
            )
              .mustBe(`"${words}"`, callOf(x).body.includes(words))
          )
        )
      ),
    faults: {
      "history-assistant-dropped": changeRequest(({ turns }) => ({
        turns: turns.filter(({ role }) => role === "user"),
      })),
      "history-words-cut": {
        upstream: (call) => ({
          ...call,
          body: JSON.parse(
            JSON.stringify(call.body).replaceAll("northern pier", "n"),
          ),
        }),
      },
    },
  },
]);
