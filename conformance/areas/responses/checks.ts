/** Checks of the area `responses`: replies, whole and in the last frame of a stream. */
import { checksOfEvery } from "../replies/checks.ts";
import {
  fact,
  factOf,
  type Finding,
  NotTestable,
} from "../../suite/finding.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { count, usage } from "./faults.ts";
import { inItems, inReply, put } from "../../faults/change_responses.ts";
import {
  at,
  brief,
  listAt,
  sameJson,
  textAt,
} from "../../evidence/json_path.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { RESPONSES_EXACT_CHECKS } from "./checks_exact.ts";
import { RESPONSES_CONSISTENCY_CHECKS } from "./checks_consistency.ts";
import { EVERY_STATE_CHECKS } from "./checks_every_state.ts";
import { RESPONSES_HEAD_CHECKS } from "./checks_heads.ts";
import { RESPONSES_STREAM_CHECKS } from "./checks_stream.ts";
import { RESPONSES_REQUEST_CHECKS } from "./checks_requests.ts";
import { RESPONSES_TOOL_CHECKS } from "./checks_tools.ts";
import { RESPONSES_REFUSAL_CHECKS } from "./checks_refusals.ts";
import { RESPONSES_STATE_CHECKS } from "./checks_state.ts";
import { RESPONSES_UPSTREAM_CHECKS } from "./checks_upstream.ts";
import {
  callsOf,
  itemsOf,
  itemsOfType,
  repliesOf,
  responseOf,
  whereAccepted,
} from "../../endpoints/read_responses.ts";
import {
  isUsage,
  itemMembers,
  LONGEST_ID,
  MEMBERS,
  members,
  PREFIXES,
} from "./shapes.ts";
import { WEATHER } from "./requests.ts";
import { MORE_SETTINGS, SETTINGS } from "./scenarios.ts";

function answered(e: Evidence): readonly Exchange[] {
  const found = e.exchanges.filter((x) => x.head?.status === 200);
  if (found.length > 0) return found;
  throw new NotTestable("no request was answered with 200");
}

function items(e: Evidence): Finding[] {
  return answered(e).flatMap((x) => [
    factOf("output", at(responseOf(x), "output"), x).mustBe(
      "a list",
      Array.isArray(at(responseOf(x), "output")),
    ),
    ...itemsOf(x).flatMap((item) => itemMembers(x, item)),
  ]);
}

/** The members of an object that are no objects, each with its path. */
function pathsIn(value: JsonObject, before = ""): [string, Json][] {
  return Object.entries(value).flatMap(([name, inner]): [string, Json][] =>
    isObject(inner)
      ? pathsIn(inner, `${before}${name}.`)
      : [[`${before}${name}`, inner ?? null]]
  );
}

/** Judges the usage at the end of a reply. */
export function usageAddsUp(x: Exchange): Finding {
  const usage = at(responseOf(x), "usage");
  return factOf("usage", usage, x).mustBe(
    "whole numbers, their sum, and parts that are not larger",
    isObject(usage) && isUsage(usage),
  );
}

export const RESPONSES_CHECKS: readonly Check[] = checksWith({
  section: "Responses reply",
  mode: "both",
  needs: "responses",
  reads: ["responses-replies"],
}, [
  {
    id: "responses.members",
    rule:
      "Every reply has the members `id`, `object` (`response`), `created_at` and `completed_at` (whole seconds), `status`, `incomplete_details`, `model`, `previous_response_id`, `instructions`, `output`, `error`, `tools`, `tool_choice`, `truncation`, `parallel_tool_calls`, `text`, `top_p`, `presence_penalty`, `frequency_penalty`, `top_logprobs`, `temperature`, `reasoning`, `usage`, `max_output_tokens`, `max_tool_calls`, `store`, `background`, `service_tier`, `metadata`, `safety_identifier` and `prompt_cache_key`; one without a value is null, not absent.",
    judge: (e) =>
      repliesOf(e).flatMap((x) => members(x, responseOf(x), MEMBERS)),
    faults: {
      "responses-created-half": inReply((reply) => ({
        ...reply,
        created_at: count(reply, "created_at") + 0.5,
      })),
      "responses-null-absent": put("error", undefined),
      "responses-object-wrong": put("object", "chat.completion"),
    },
  },
  {
    id: "responses.items",
    rule: "`output` holds items with the members of their type.",
    reads: ["responses-replies", "responses-choices"],
    judge: items,
    faults: {
      "responses-arguments-empty": inItems("function_call", { arguments: "" }),
      "responses-summary-missing": inItems(
        "reasoning",
        { summary: undefined },
      ),
      "responses-text-part-chat": inItems("message", (item) => ({
        ...item,
        content: listAt(item, "content").map((part) => ({
          ...objectOf(part),
          type: "text",
        })),
      })),
    },
  },
  {
    id: "responses.items-of-every-kind",
    rule: "The arguments of a call without arguments are `{}`.",
    level: "convention",
    mode: "replay",
    reads: ["responses-contents"],
    judge: items,
    faults: sharedFaults("responses-arguments-empty"),
  },
  {
    id: "responses.echo",
    rule: "A reply repeats the settings of its request.",
    reads: ["responses-settings"],
    judge: (e) =>
      whereAccepted(
        e,
        "settings",
        (x) =>
          Object.entries(SETTINGS).filter(([name]) =>
            !["tools", "text"].includes(name)
          ).map(([name, value]) => {
            const found = at(responseOf(x), name);
            return fact(sameJson(found, value), name, brief(value), found, x);
          }),
      ),
    faults: {
      "responses-instructions-not-echoed": put("instructions", null),
      "responses-metadata-lost": put("metadata", {}),
    },
  },
  {
    id: "responses.echo-more",
    rule: "A reply repeats the settings of its request.",
    mode: "replay",
    reads: ["responses-more-settings"],
    judge: (e) =>
      whereAccepted(
        e,
        "more-settings",
        (x) =>
          pathsIn(MORE_SETTINGS).map(([path, value]) => {
            const found = at(responseOf(x), path);
            return fact(sameJson(found, value), path, brief(value), found, x);
          }),
      ),
    faults: {
      "responses-text-not-echoed": put("text", { format: { type: "text" } }),
      "responses-truncation-not-echoed": put("truncation", "disabled"),
      "responses-top_p-not-echoed": put("top_p", 1),
      "responses-effort-not-echoed": put("reasoning", {
        effort: null,
        summary: null,
      }),
      "responses-call-limit-not-echoed": put("max_tool_calls", null),
      "responses-logprobs-not-echoed": put("top_logprobs", 0),
      "responses-store-not-echoed": put("store", true),
    },
  },
  {
    id: "responses.echo-tools",
    rule:
      "`tools` repeats every function with `description`, `parameters` and `strict`.",
    reads: ["responses-settings"],
    judge: (e) =>
      whereAccepted(e, "settings", (x) => {
        const tool = at(responseOf(x), "tools.0");
        return factOf("tools.0", tool, x).mustBe(
          brief(WEATHER),
          Object.entries(WEATHER).every(([name, value]) =>
            sameJson(at(tool, name), value ?? null)
          ),
        );
      }),
    faults: {
      "responses-strict-absent": inReply((reply) => ({
        ...reply,
        tools: listAt(reply, "tools").map((tool) => {
          const { strict: _, ...rest } = objectOf(tool);
          return rest;
        }),
      })),
      "responses-tools-not-echoed": put("tools", []),
      "responses-parameters-lost": inReply((reply) => ({
        ...reply,
        tools: listAt(reply, "tools").map((tool) => ({
          ...objectOf(tool),
          parameters: {},
        })),
      })),
    },
  },
  {
    id: "responses.echo-model",
    rule: "`model` is the id that the request named.",
    level: "contract",
    reads: ["responses-settings"],
    judge: (e) =>
      whereAccepted(e, "settings", (x) => {
        const asked = at(parseJson(x.request.body), "model");
        const found = at(responseOf(x), "model");
        return fact(sameJson(found, asked), "model", brief(asked), found, x);
      }),
    faults: {
      "responses-model-dated": inReply((reply) => ({
        ...reply,
        model: `${textAt(reply, "model")}-2026-04-01`,
      })),
    },
  },
  {
    id: "responses.status",
    rule:
      "`status` is `completed`, or `incomplete` with the reason in `incomplete_details.reason`.",
    judge: (e) =>
      repliesOf(e).map((x) => {
        const reply = responseOf(x);
        const reason = textAt(reply, "incomplete_details.reason");
        const status = textAt(reply, "status");
        return factOf(
          "status",
          `${status} ${brief(at(reply, "incomplete_details"))}`,
          x,
        ).mustBe(
          "completed without details, or incomplete with a reason",
          status === "completed"
            ? at(reply, "incomplete_details") === null
            : status === "incomplete" &&
              ["max_output_tokens", "content_filter"].includes(reason),
        );
      }),
    faults: {
      "responses-incomplete-unexplained": put("incomplete_details", {}),
      "responses-status-done": put("status", "done"),
    },
  },
  {
    id: "responses.usage",
    rule:
      "`usage` is never null at the end: `total_tokens` is the sum of `input_tokens` and `output_tokens`, which include `cached_tokens` and `reasoning_tokens`.",
    judge: (e) => repliesOf(e).map(usageAddsUp),
    faults: {
      "responses-usage-null": put("usage", null),
      "responses-total-wrong": usage(
        "total_tokens",
        (value) => count(value, "input_tokens"),
      ),
      "responses-details-absent": usage("input_tokens_details", () => ({})),
      "responses-cached-outside": usage(
        "input_tokens_details.cached_tokens",
        (value) => count(value, "input_tokens") + 1,
      ),
    },
  },
  {
    id: "responses.ids",
    rule:
      "All ids of a reply differ and have at most 64 characters; those of items begin with `msg_`, `rs_`, `fc_` or `ctc_`, and `call_id` is none of them.",
    level: "convention",
    reads: ["responses-replies", "responses-choices"],
    judge: (e) =>
      answered(e).map((x) => {
        const own = itemsOf(x).map((item) => textAt(item, "id"));
        const ids = [
          ...own,
          ...callsOf(x).map((call) => textAt(call, "call_id")),
        ];
        return factOf("ids", ids.join(", "), x).mustBe(
          "all different, of the form of their kind",
          new Set(ids).size === ids.length &&
            ids.every(({ length }) => length > 0 && length <= LONGEST_ID) &&
            itemsOf(x).every((item) =>
              textAt(item, "id").startsWith(
                PREFIXES[textAt(item, "type")] ?? "",
              )
            ),
        );
      }),
    faults: {
      "responses-id-prefix": inItems("message", (item) => ({
        ...item,
        id: textAt(item, "id").replace("msg_", "item-"),
      })),
      "responses-call-id-is-id": inItems("function_call", (item) => ({
        ...item,
        call_id: textAt(item, "id"),
      })),
      ...sharedFaults("responses-call-ids-equal"),
    },
  },
  {
    id: "responses.no-empty-message",
    rule: "A reply that only calls tools has no empty message.",
    level: "convention",
    reads: ["responses-replies", "responses-choices"],
    judge: (e) =>
      answered(e).map((x) => {
        const empty = itemsOfType(x, "message").filter((item) =>
          listAt(item, "content").length === 0 ||
          listAt(item, "content").some((part) =>
            textAt(part, "text") === "" &&
            textAt(part, "refusal") === ""
          )
        );
        return factOf("messages beside calls", empty, x).mustBe(
          "with text",
          callsOf(x).length === 0 || empty.length === 0,
        );
      }),
    faults: {
      "responses-empty-message": inReply((reply) => ({
        ...reply,
        output: [
          ...listAt(reply, "output"),
          {
            type: "message",
            id: "msg_empty",
            status: "completed",
            role: "assistant",
            content: [],
          },
        ],
      })),
    },
    isSkillLive: true,
  },
  ...checksOfEvery("responses"),
  ...RESPONSES_EXACT_CHECKS,
  ...RESPONSES_STREAM_CHECKS,
  ...RESPONSES_REQUEST_CHECKS,
  ...RESPONSES_TOOL_CHECKS,
  ...RESPONSES_REFUSAL_CHECKS,
  ...RESPONSES_STATE_CHECKS,
  ...RESPONSES_UPSTREAM_CHECKS,
  ...RESPONSES_HEAD_CHECKS,
  ...RESPONSES_CONSISTENCY_CHECKS,
  ...EVERY_STATE_CHECKS,
]);
