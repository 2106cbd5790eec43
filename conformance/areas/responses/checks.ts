/** Checks of the area `responses`: replies, whole and in the last frame of a stream. */
import {
  at,
  brief,
  listAt,
  numberAt,
  sameJson,
  textAt,
} from "../../evidence/json_path.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { isObject, parseJson } from "../../../replay/json.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { fact, type Finding, NotTestable } from "../../suite/finding.ts";
import { RESPONSES_EXACT_CHECKS } from "./checks_exact.ts";
import { RESPONSES_STREAM_CHECKS } from "./checks_stream.ts";
import { RESPONSES_REQUEST_CHECKS } from "./checks_requests.ts";
import { RESPONSES_TOOL_CHECKS } from "./checks_tools.ts";
import { RESPONSES_REFUSAL_CHECKS } from "./checks_refusals.ts";
import { RESPONSES_STATE_CHECKS } from "./checks_state.ts";
import {
  callsOf,
  itemsOf,
  itemsOfType,
  repliesOf,
  responseOf,
  whereAccepted,
} from "./reply.ts";
import {
  itemMembers,
  LONGEST_ID,
  MEMBERS,
  members,
  PREFIXES,
} from "./shapes.ts";
import { SETTINGS } from "./scenarios.ts";

const says = (text: string) => ({ section: "Responses reply", text });

/** All exchanges with a reply. */
function answered(e: Evidence): readonly Exchange[] {
  const found = e.exchanges.filter((x) => x.head?.status === 200);
  if (found.length > 0) return found;
  throw new NotTestable("no request was answered with 200");
}

/** The findings about the items of all replies. */
function items(e: Evidence): Finding[] {
  return answered(e).flatMap((x) => [
    fact(
      Array.isArray(at(responseOf(x), "output")),
      "output",
      "a list",
      at(responseOf(x), "output"),
      x,
    ),
    ...itemsOf(x).flatMap((item) => itemMembers(x, item)),
  ]);
}

/** All checks of the area. */
export const RESPONSES_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  needs: "responses",
}, [
  {
    id: "responses.members",
    rule: says(
      "Every reply has the members `id`, `object` (`response`), `created_at` and `completed_at` (whole seconds), `status`, `incomplete_details`, `model`, `previous_response_id`, `instructions`, `output`, `error`, `tools`, `tool_choice`, `truncation`, `parallel_tool_calls`, `text`, `top_p`, `presence_penalty`, `frequency_penalty`, `top_logprobs`, `temperature`, `reasoning`, `usage`, `max_output_tokens`, `max_tool_calls`, `store`, `background`, `service_tier`, `metadata`, `safety_identifier` and `prompt_cache_key`; one without a value is null, not absent.",
    ),
    reads: ["responses-replies"],
    judge: (e) =>
      repliesOf(e).flatMap((x) => members(x, responseOf(x), MEMBERS)),
    mutants: [
      "responses-created-half",
      "responses-null-absent",
      "responses-object-wrong",
    ],
  },
  {
    id: "responses.items",
    rule: says("`output` holds items with the members of their type."),
    reads: ["responses-replies", "responses-choices"],
    judge: items,
    mutants: [
      "responses-arguments-empty",
      "responses-summary-missing",
      "responses-text-part-chat",
    ],
  },
  {
    id: "responses.items-of-every-kind",
    rule: says("The arguments of a call without arguments are `{}`."),
    level: "convention",
    mode: "replay",
    reads: ["responses-contents"],
    judge: items,
    mutants: ["responses-arguments-empty"],
  },
  {
    id: "responses.echo",
    rule: says("A reply repeats the settings of its request."),
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
    mutants: ["responses-instructions-not-echoed", "responses-metadata-lost"],
  },
  {
    id: "responses.echo-tools",
    rule: says(
      "`tools` repeats every function with `description`, `parameters` and `strict`.",
    ),
    reads: ["responses-settings"],
    judge: (e) =>
      whereAccepted(e, "settings", (x) => {
        const [tool] = listAt(responseOf(x), "tools");
        const found = ["name", "description", "strict"].map((name) =>
          at(tool, name) ?? null
        );
        return fact(
          sameJson(found, ["get_weather", "The weather of a city.", false]) &&
            isObject(at(tool, "parameters")),
          "tools.0",
          "name, description, parameters and strict of the request",
          tool,
          x,
        );
      }),
    mutants: ["responses-strict-absent", "responses-tools-not-echoed"],
  },
  {
    id: "responses.echo-model",
    rule: says("`model` is the id that the request named."),
    level: "contract",
    reads: ["responses-settings"],
    judge: (e) =>
      whereAccepted(e, "settings", (x) => {
        const asked = at(parseJson(x.request.body), "model");
        const found = at(responseOf(x), "model");
        return fact(sameJson(found, asked), "model", brief(asked), found, x);
      }),
    mutants: ["responses-model-dated"],
  },
  {
    id: "responses.status",
    rule: says(
      "`status` is `completed`, or `incomplete` with the reason in `incomplete_details.reason`.",
    ),
    reads: ["responses-replies"],
    judge: (e) =>
      repliesOf(e).map((x) => {
        const reply = responseOf(x);
        const reason = textAt(reply, "incomplete_details.reason");
        const status = textAt(reply, "status");
        return fact(
          status === "completed"
            ? at(reply, "incomplete_details") === null
            : status === "incomplete" &&
              ["max_output_tokens", "content_filter"].includes(reason),
          "status",
          "completed without details, or incomplete with a reason",
          `${status} ${brief(at(reply, "incomplete_details"))}`,
          x,
        );
      }),
    mutants: ["responses-incomplete-unexplained", "responses-status-done"],
  },
  {
    id: "responses.usage",
    rule: says(
      "`usage` is never null at the end: `total_tokens` is the sum of `input_tokens` and `output_tokens`, which include `cached_tokens` and `reasoning_tokens`.",
    ),
    reads: ["responses-replies"],
    judge: (e) =>
      repliesOf(e).map((x) => {
        const usage = at(responseOf(x), "usage");
        const [input, output, total, cached, reasoning] = [
          "input_tokens",
          "output_tokens",
          "total_tokens",
          "input_tokens_details.cached_tokens",
          "output_tokens_details.reasoning_tokens",
        ].map((path) => numberAt(usage, path) ?? NaN);
        return fact(
          [input, output, total, cached, reasoning].every((count) =>
            Number.isInteger(count)
          ) && Number(total) === Number(input) + Number(output) &&
            Number(cached) <= Number(input) &&
            Number(reasoning) <= Number(output),
          "usage",
          "whole numbers, their sum, and parts that are not larger",
          usage,
          x,
        );
      }),
    mutants: [
      "responses-usage-null",
      "responses-total-wrong",
      "responses-details-absent",
      "responses-cached-outside",
    ],
  },
  {
    id: "responses.ids",
    rule: says(
      "All ids of a reply differ and have at most 64 characters; those of items begin with `msg_`, `rs_`, `fc_` or `ctc_`, and `call_id` is none of them.",
    ),
    level: "convention",
    reads: ["responses-replies", "responses-choices"],
    judge: (e) =>
      answered(e).map((x) => {
        const own = itemsOf(x).map((item) => textAt(item, "id"));
        const ids = [
          ...own,
          ...callsOf(x).map((call) => textAt(call, "call_id")),
        ];
        return fact(
          new Set(ids).size === ids.length &&
            ids.every(({ length }) => length > 0 && length <= LONGEST_ID) &&
            itemsOf(x).every((item) =>
              textAt(item, "id").startsWith(
                PREFIXES[textAt(item, "type")] ?? "",
              )
            ),
          "ids",
          "all different, of the form of their kind",
          ids.join(", "),
          x,
        );
      }),
    mutants: [
      "responses-id-prefix",
      "responses-call-id-is-id",
      "responses-call-ids-equal",
    ],
  },
  {
    id: "responses.no-empty-message",
    rule: says("A reply that only calls tools has no empty message."),
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
        return fact(
          callsOf(x).length === 0 || empty.length === 0,
          "messages beside calls",
          "with text",
          empty,
          x,
        );
      }),
    mutants: ["responses-empty-message"],
    isSkillLive: true,
  },
  ...RESPONSES_EXACT_CHECKS,
  ...RESPONSES_STREAM_CHECKS,
  ...RESPONSES_REQUEST_CHECKS,
  ...RESPONSES_TOOL_CHECKS,
  ...RESPONSES_REFUSAL_CHECKS,
  ...RESPONSES_STATE_CHECKS,
]);
