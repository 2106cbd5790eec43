/**
 * Checks of the area `limits` about stop strings: where a reply stops, and which string it reports.
 */
import { messageFrames, withAt } from "../../faults/change_reply.ts";
import { demanded, factOf, type Finding, skill } from "../../suite/finding.ts";
import { messageSequenceNull } from "../message_reply/faults.ts";
import { parseJson } from "@model-gateway/replay/json";
import { at, listAt } from "../../evidence/json_path.ts";
import { changeRequest } from "../../faults/change_request.ts";

import { contentOf } from "../../evidence/content.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { STOPS } from "./scenarios_stop_strings.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { reasonOf, sequenceOf } from "../../endpoints/read_messages.ts";

const READS = ["stop-again"];

/**
 * The replies with stop strings, when the model produces one of them: without stop strings its
 * reply contains it.
 */
function halted(
  e: Evidence,
  judge: (x: Exchange, before: string) => Finding[],
): Finding[] {
  return ["whole", "stream"].flatMap((form) =>
    e.matching(`messages/*/${form}`).flatMap((x) => {
      // This dialect has no stop strings.
      if (x.via === "responses") return [];
      const open = e.exchange(x.label.replace(/[^/]+$/, "open"));
      const unstopped = open.head?.status === 200 ? contentOf(open).text : "";
      const place = unstopped.indexOf(STOPS.hit);
      if (place === -1) {
        return [
          demanded(e)(false, "text", `with ${STOPS.hit}`, unstopped, open),
        ];
      }
      return x.head?.status === 200
        ? judge(x, unstopped.slice(0, place))
        : [skill(false, "status", "200", x.head?.status ?? x.ending, x)];
    })
  );
}

export const STOP_STRING_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: READS,
}, [
  {
    id: "limits.each-stop-halts",
    section: "POST /v1/messages",
    rule: "Generation halts when one is produced",
    judge: (e) =>
      halted(e, (x) => {
        const { text } = contentOf(x);
        return [
          factOf("text", text, x).mustBe(
            `without ${STOPS.hit}`,
            !text.includes(STOPS.hit),
          ),
        ];
      }),
    faults: {
      "only-first-stop": changeRequest(({ stops }) => ({
        stops: stops.slice(0, 1),
      })),
      "only-last-stop": changeRequest(({ stops }) => ({
        stops: stops.slice(-1),
      })),
      "stops-lost-in-streams": changeRequest(({ stops, stream }) => ({
        stops: stream ? [] : stops,
      })),
    },
  },
  {
    id: "limits.stop-is-named",
    section: "Message reply (from `POST /v1/messages`, not streamed)",
    rule:
      "| stop_sequence | string or null | The stop sequence hit, else null |",
    // Some vendors do not report which string hit; a gateway may leave it at the end of the turn.
    judge: (e) =>
      halted(e, (x) => {
        if (x.label.endsWith("/stream")) return [];
        const hit = reasonOf(x) === "stop_sequence";
        const sequence = sequenceOf(x);
        return [
          factOf("stop_sequence", sequence, x).mustBe(
            hit ? STOPS.hit : "null",
            sequence === (hit ? STOPS.hit : null),
          ),
        ];
      }),
    faults: {
      "stop-named-by-order": {
        reply: (reply, x) =>
          reply.body["stop_reason"] === "stop_sequence"
            ? {
              ...reply,
              body: withAt(
                reply.body,
                "stop_sequence",
                listAt(parseJson(x.request.body), "stop_sequences")[0],
              ),
            }
            : reply,
      },
      "message-sequence-null": messageSequenceNull,
      "stop-named-by-constant": {
        reply: (reply) =>
          reply.body["stop_reason"] === "stop_sequence"
            ? { ...reply, body: withAt(reply.body, "stop_sequence", "END") }
            : reply,
      },
    },
  },
  {
    id: "limits.stop-is-named-in-streams",
    source:
      "https://platform.claude.com/docs/en/build-with-claude/streaming, message_delta",
    rule: "`delta.stop_sequence` of message_delta is the stop string that hit.",
    judge: (e) =>
      halted(e, (x) => {
        if (x.label.endsWith("/whole")) return [];
        const hit = reasonOf(x) === "stop_sequence";
        const sequence = sequenceOf(x) ?? null;
        return [
          factOf("stop_sequence", sequence, x).mustBe(
            hit ? STOPS.hit : "null",
            sequence === (hit ? STOPS.hit : null),
          ),
        ];
      }),
    faults: {
      "stream-stop-named-by-constant": messageFrames((data) =>
        at(data, "delta.stop_reason") === "stop_sequence"
          ? withAt(data, "delta.stop_sequence", "END")
          : data
      ),
      "stream-stop-unnamed": messageFrames((data) =>
        at(data, "delta.stop_reason") === "stop_sequence"
          ? withAt(data, "delta.stop_sequence", null)
          : data
      ),
    },
  },
]);
