/** Checks of the area `web_socket`: errors, and what comes after them. */
import { changeParts } from "../../faults/change_hooks.ts";
import { at, textAt } from "../../evidence/json_path.ts";
import { withAt } from "../../faults/change_reply.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { factOf } from "../../suite/finding.ts";
import { inErrors, ofType } from "./faults.ts";
import { goesOn, refused, turns, types } from "./read_turns.ts";

const FAILURES = "web-socket-failures";

const ENDS_WITH_ERROR: Hooks = {
  endsAfter: (event) => event["type"] === "error",
};

export const WEB_SOCKET_FAILURE_CHECKS: readonly Check[] = checksWith({
  section: "Web socket (beyond the base specification)",
  mode: "both",
  needs: "web-socket",
  reads: ["web-socket-events"],
}, [
  {
    id: "web_socket.unknown-type",
    level: "convention",
    judgesSilence: true,
    rule: "A message of an unknown type is answered with an `error` event.",
    judge: (e) =>
      turns(e, "unknown-type").map((x) =>
        refused(x, () => true, "an error event with `error`")
      ),
    misses: {
      silent: ofType(
        /^error$/,
        (event) => textAt(event, "error.param") === "type" ? undefined : event,
      ),
      "message-only": inErrors(({ error: _, ...event }) => ({
        ...event,
        message: "wrong",
      })),
    },
  },
  {
    id: "web_socket.wrong",
    level: "convention",
    rule:
      "An error in place of an HTTP status is an `error` event with `status` and the `error` that HTTP would have.",
    judge: (e) =>
      turns(e, "wrong").map((x) =>
        refused(
          x,
          (event) =>
            event["status"] === 400 &&
            textAt(event, "error.param") === "temperature" &&
            textAt(event, "error.message") !== "",
          "an error with the status 400 and the param temperature",
        )
      ),
    misses: {
      "as-500": inErrors({ status: 500 }),
      "param-lost": inErrors((event) => withAt(event, "error.param", null)),
      "status-text": inErrors({ status: "400" }),
    },
  },
  {
    id: "web_socket.unknown-model",
    level: "convention",
    rule: "An unknown model is such an error, too.",
    judge: (e) =>
      turns(e, "unknown-model").map((x) =>
        refused(
          x,
          ({ status }) => status === 404 || status === 400,
          "an error with the status 404 or 400",
        )
      ),
    misses: {
      "as-500": inErrors({ status: 500 }),
    },
  },
  {
    id: "web_socket.goes-on",
    level: "convention",
    rule: "After an error the connection answers the next turn.",
    judge: goesOn("after-refusals"),
    misses: { ends: ENDS_WITH_ERROR },
  },
  {
    id: "web_socket.limited",
    level: "contract",
    rule:
      "An upstream's limit is an error with the status 429 and `retry-after` among its `headers`.",
    mode: "replay",
    reads: [FAILURES],
    judge: (e) =>
      turns(e, "limited").map((x) =>
        refused(
          x,
          (event) =>
            event["status"] === 429 &&
            String(at(event, "headers.retry-after")) === "7",
          "an error with the status 429 and retry-after",
        )
      ),
    misses: {
      "headers-lost": inErrors({ headers: undefined }),
      "as-500": inErrors({ status: 500 }),
    },
  },
  {
    id: "web_socket.broken",
    level: "convention",
    rule:
      "After an upstream's failure inside a reply it ends with `error` and `response.failed`.",
    mode: "replay",
    reads: [FAILURES],
    judge: (e) =>
      turns(e, "broken").map((x) =>
        factOf("the end", types(x).slice(-2), x).mustBe(
          "error, response.failed",
          types(x).slice(-2).join() === "error,response.failed",
        )
      ),
    misses: {
      "as-end": changeParts("failed", () => ({ type: "stop", cause: "end" })),
      "error-lost": ofType(
        /^error$/,
        (event) => event["status"] === undefined ? undefined : event,
      ),
    },
  },
  {
    id: "web_socket.goes-on-after-failures",
    level: "convention",
    rule: "After a failed reply the connection answers the next turn.",
    mode: "replay",
    reads: [FAILURES],
    judge: goesOn("after-failures"),
    misses: {
      ends: { endsAfter: (event) => event["type"] === "response.failed" },
    },
  },
]);
