/** Checks of the area `web_socket`: turns that follow and continue each other. */
import { replaceInBody } from "../../faults/change_hooks.ts";
import { listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import { responseOf } from "../../endpoints/read_responses.ts";
import { withAt } from "../../faults/change_reply.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { factOf } from "../../suite/finding.ts";
import { events, inErrors, ofType } from "./faults.ts";
import {
  goesOn,
  isLast,
  reaches,
  refused,
  replies,
  turns,
  types,
} from "./read_turns.ts";
import { SAID } from "./scenarios.ts";

const EVENTS = "web-socket-events";

export const WEB_SOCKET_TURN_CHECKS: readonly Check[] = checksWith({
  section: "Web socket (beyond the base specification)",
  mode: "both",
  needs: "web-socket",
  reads: ["web-socket-turns"],
}, [
  {
    id: "web_socket.several-turns",
    level: "convention",
    judgesSilence: true,
    rule: "One connection answers one turn after another.",
    judge: (e) =>
      ["stored", "continued", "unstored", "continued-unstored"].flatMap(
        (name) => goesOn(name)(e),
      ),
    misses: {
      "one-only": { endsAfter: (event) => isLast(textAt(event, "type")) },
      "second-silent": events((event, x) => {
        const ended = x.state.get("ended") === true;
        if (isLast(textAt(event, "type"))) x.state.set("ended", true);
        return ended ? undefined : event;
      }),
    },
  },
  {
    id: "web_socket.continued",
    level: "convention",
    rule:
      "With `previous_response_id` the model receives the whole conversation, and the turn only its new items.",
    mode: "replay",
    judge: reaches("continued", SAID.first, "Go on."),
    misses: {
      "new-only": replaceInBody(/,"previous_response_id":"[^"]*"/, "", {
        endpoint: "responses",
      }),
    },
  },
  {
    id: "web_socket.unstored",
    level: "convention",
    rule:
      "A reply with `store` `false` can be continued on its own connection.",
    judge: goesOn("continued-unstored"),
    misses: { forgotten: { remembers: () => false } },
  },
  {
    id: "web_socket.unstored-elsewhere",
    level: "convention",
    rule:
      "On every other connection it is unknown: an error with `previous_response_not_found`.",
    reads: [EVENTS],
    judge: (e) =>
      turns(e, "elsewhere").map((x) =>
        refused(
          x,
          (event) =>
            event["status"] === 400 &&
            textAt(event, "error.code") === "previous_response_not_found",
          "an error with the status 400 and previous_response_not_found",
        )
      ),
    misses: {
      found: replaceInBody('"store":false', '"store":true', {
        endpoint: "responses",
      }),
      uncoded: inErrors((event) => withAt(event, "error.code", null)),
    },
  },
  {
    id: "web_socket.prepared",
    level: "convention",
    rule:
      "With `generate` `false` the reply is complete and empty, and no model is called.",
    reads: [EVENTS],
    judge: (e) =>
      replies(e, "prepared").map((x) =>
        factOf("reply", JSON.stringify(responseOf(x)).slice(0, 300), x)
          .mustBe(
            "completed, without output and tokens",
            types(x).at(-1) === "response.completed" &&
              listAt(responseOf(x), "output").length === 0 &&
              (numberAt(responseOf(x), "usage.total_tokens") ?? 0) === 0,
          )
      ),
    misses: {
      generated: replaceInBody('"generate":false', '"metadata":{}'),
      incomplete: ofType(
        /completed$/,
        (event) =>
          listAt(event, "response.output").length === 0
            ? { ...event, type: "response.incomplete" }
            : event,
      ),
    },
  },
  {
    id: "web_socket.preparation-continued",
    level: "convention",
    rule:
      "What was prepared reaches the model with the turn that continues it.",
    mode: "replay",
    reads: [EVENTS],
    judge: reaches("after-preparation", SAID.prepared, "Now."),
    misses: {
      lost: replaceInBody(SAID.prepared, "Nothing."),
    },
  },
  {
    id: "web_socket.steer",
    level: "convention",
    rule:
      "`response.steer` is carried out, or answered with `response.steer.failed` and a code.",
    reads: [EVENTS],
    judge: (e) =>
      turns(e, "steer").map((x) =>
        factOf("the answer", x.text.slice(0, 300), x).mustBe(
          "response.steer.failed with a code, or a reply",
          types(x)[0] !== "response.steer.failed"
            ? isLast(types(x).at(-1) ?? "")
            : textAt(x.frames[0]?.json, "error.code") !== "",
        )
      ),
    misses: {
      uncoded: ofType(/steer/, ({ error: _, ...event }) => event),
      "as-error": ofType(/steer/, () => ({
        type: "error",
        status: 500,
        error: { type: "api_error", message: "x", code: null, param: null },
      })),
    },
  },
  {
    id: "web_socket.order",
    level: "contract",
    rule:
      "Turns that are sent at once are answered one after the other, in order.",
    mode: "replay",
    reads: ["web-socket-order"],
    judge: (e) =>
      turns(e, "at-once").map((x) => {
        const ids = x.frames.map(({ json }) => textAt(json, "response.id"))
          .filter((id) => id !== "");
        const ends = types(x).filter(isLast);
        return factOf("events", types(x), x).mustBe(
          "a whole reply, then an incomplete one",
          ends.join() === "response.completed,response.incomplete" &&
            ids.join() ===
              ids.toSorted((a, b) => ids.indexOf(a) - ids.indexOf(b)).join(),
        );
      }),
    misses: { "at-once": { inOrder: () => false } },
  },
  {
    id: "web_socket.closed",
    level: "contract",
    rule: "A client that closes the connection ends the call upstream.",
    mode: "replay",
    reads: ["web-socket-closed"],
    judge: (e) => [
      factOf("the call upstream", e.note("upstream")).mustBe(
        "ended by the target",
        !["still open", "complete"].includes(String(e.note("upstream"))),
      ),
    ],
    misses: { "goes-on": { hangUpCancels: () => false } },
  },
]);
