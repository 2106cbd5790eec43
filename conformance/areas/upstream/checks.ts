/** Checks of the area `upstream`: the client's reply when the upstream refuses or breaks off. */
import { changeProblems, changeReplies } from "../../faults/change_hooks.ts";
import { factOf, type Finding, statusIs } from "../../suite/finding.ts";
import { breakBecomesEnd } from "./faults.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { at, textAt } from "../../evidence/json_path.ts";
import { isObject } from "@model-gateway/replay/json";
import { BREAKS } from "./scenarios.ts";
import { STATUSES } from "./scenarios_refusals.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { REQUEST_CHECKS } from "./checks_request.ts";
import { REFUSAL_CHECKS } from "./checks_refusals.ts";

/** True when a stream ends as if it were complete. */
function endsWell({ frames }: Exchange): boolean {
  return frames.some(({ data, json }) =>
    data === "[DONE]" || at(json, "type") === "message_stop" ||
    ["stop", "length", "tool_calls"].includes(
      textAt(json, "choices.0.finish_reason"),
    )
  );
}

export const UPSTREAM_CHECKS: readonly Check[] = checksWith({
  section: "Errors",
  mode: "replay",
  reads: ["upstream-refusals"],
}, [
  {
    id: "upstream.rate-limit",
    rule: "| 429 | Rate limited |",
    judge: (e) =>
      ["429-whole", "429-stream"].flatMap((form) =>
        e.matching(`*/*/${form}`).map((x) => statusIs(x, 429))
      ),
    faults: {
      "429-becomes-500": changeProblems({ status: 429 }, { status: 500 }),
    },
  },
  {
    id: "upstream.error-body",
    source: "Both formats' libraries read `error.message`",
    rule:
      "Every refusal is JSON with an `error` object that has a message, and never a stream.",
    judge: (e) =>
      STATUSES.flatMap((code) => [
        ...e.matching(`*/*/${code}-whole`),
        ...e.matching(`*/*/${code}-stream`),
      ]).map((x): Finding =>
        factOf(
          "error.message",
          `${x.head?.status}: ${x.text.slice(0, 120)}`,
          x,
        )
          .mustBe(
            "an error status and a JSON error",
            (x.head?.status ?? 0) >= 400 && isObject(at(x.json, "error")) &&
              textAt(x.json, "error.message") !== "",
          )
      ),
    faults: {
      "upstream-error-as-200": changeProblems({ least: 500 }, { status: 200 }),
      "upstream-error-body-empty": changeReplies({ least: 400 }, { body: {} }),
    },
  },
  {
    id: "upstream.operator-key-is-not-the-callers",
    rule:
      "Key missing, invalid, revoked, rotated, or belonging to another endpoint",
    level: "convention",
    judge: (e) =>
      [...e.matching("*/*/401-whole"), ...e.matching("*/*/401-stream")].map((
        x,
      ) =>
        factOf("status", x.head?.status, x).mustBe(
          "5xx: the client's key is not at fault",
          (x.head?.status ?? 0) >= 500,
        )
      ),
    faults: {
      "upstream-401-passed-on": {
        problem: (problem) =>
          problem.message.includes("status 401")
            ? { ...problem, status: 401 }
            : problem,
      },
    },
  },
  {
    id: "upstream.break-is-no-end",
    source: "https://github.com/NVIDIA/TensorRT-LLM/issues/18289",
    rule:
      "A stream that the upstream broke off never looks complete to the client.",
    reads: ["broken-off"],
    judge: (e) =>
      BREAKS.flatMap((form) =>
        e.matching(`*/*/${form}`).map((x) =>
          factOf(
            "end of the stream",
            x.frames.at(-1)?.data ?? "nothing",
            x,
            x.frames.at(-1),
          ).mustBe("an error, or a broken connection", !endsWell(x))
        )
      ),
    faults: { "break-becomes-end": breakBecomesEnd },
  },
  ...REFUSAL_CHECKS,
  ...REQUEST_CHECKS,
]);
