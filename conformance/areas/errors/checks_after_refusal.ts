/** Checks of the area `errors`: what a refused request does not do. */
import { changeReplies } from "../../faults/change_hooks.ts";
import { compare, fact, statusIs } from "../../suite/finding.ts";
import { withAt } from "../../faults/change_reply.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { brokenByWrongRequests } from "./faults.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { at } from "../../evidence/json_path.ts";
import { MISSING, MISTYPED } from "./scenarios_invalid_requests.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { unbilled } from "../limits/unbilled.ts";

/**
 * The exchanges of a form on the endpoints that received it; fails when the right request beside
 * them failed.
 */
export function wrong(
  e: Evidence,
  form: string,
  only?: "messages" | "chat",
): readonly Exchange[] {
  e.replies("*/*/control");
  return e.matching(`${only ?? "*"}/*/${form}`);
}

export const AFTER_REFUSAL_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: ["wrong-bodies"],
}, [
  {
    id: "errors.refused-before-the-stream",
    source:
      "Libraries look at the status before they read a stream; a refusal inside a stream of status 200 is not retried",
    rule:
      "A wrong stream request is refused like a wrong whole request: same status, same JSON error, no event stream.",
    judge: (e) =>
      wrong(e, "unknown-model").flatMap((whole) => {
        const x = e.exchange(`${whole.label}-stream`);
        return [
          compare("status", x.head?.status, whole.head?.status, x),
          fact(x.frames.length === 0, "events", "none", x.frames.length, x),
          compare("error", at(x.json, "error"), at(whole.json, "error"), x),
        ];
      }),
    faults: {
      "streamed-refusal-is-200": changeReplies({ stream: true, least: 400 }, {
        status: 200,
      }),
      "streamed-refusal-is-another": changeReplies(
        { stream: true, least: 400 },
        (reply) => ({
          body: withAt(reply.body, "error.message", "It did not work"),
        }),
      ),
    },
  },
  {
    id: "errors.nothing-goes-upstream",
    source: "A refused request costs nothing: it must not reach a model",
    rule: "No upstream answers a wrong request.",
    mode: "replay",
    judge: (e) => {
      const forms = [
        "unknown-model",
        "unknown-model-stream",
        ...Object.keys(MISSING).slice(0, 1),
        "missing-max_tokens",
        ...Object.keys(MISTYPED).filter((form) => !form.includes("message")),
      ];
      const sent = e.exchanges.filter(({ label }) =>
        forms.includes(label.split("/")[2] ?? "")
      );
      wrong(e, "unknown-model");
      return sent.map(unbilled);
    },
    faults: {
      "refused-after-the-call": {
        accept: (problem, _, { state }) => {
          if (problem !== undefined) state.set("refuse", true);
          return undefined;
        },
        modelRequest: (modelRequest, { request }) => ({
          ...modelRequest,
          turns: [{
            role: "user",
            parts: [{
              type: "text",
              text: /\[\[fx:[^\]]*\]\]/.exec(request.body)?.[0] ?? "",
            }],
          }],
        }),
        reply: (reply, { state }) =>
          state.has("refuse")
            ? {
              ...reply,
              status: 400,
              body: {
                type: "error",
                error: { type: "invalid_request_error", message: "Wrong" },
              },
            }
            : reply,
      },
    },
  },
  {
    id: "errors.next-request-works",
    source: "A client's mistake must not harm the next client",
    rule: "After several wrong requests a right one succeeds.",
    judge: (e) => wrong(e, "control-after").map((x) => statusIs(x, 200)),
    faults: { "broken-by-wrong-requests": brokenByWrongRequests },
  },
]);
