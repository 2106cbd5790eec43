/**
 * Checks of the area `message_reply`: members beside the text that an upstream of the same format
 * sends, in whole replies and in streams.
 */
import {
  messageFrames,
  messageReply,
  withAt,
} from "../../faults/change_reply.ts";
import { WRITTEN } from "@model-gateway/replay/fixtures";
import { type Json, parseJson } from "@model-gateway/replay/json";
import type { Exchange } from "../../evidence/exchange.ts";
import {
  at,
  brief,
  listAt,
  sameJson,
  textAt,
} from "../../evidence/json_path.ts";
import { fact, type Finding, offered } from "../../suite/finding.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { scenariosOf } from "../../endpoints/read_messages.ts";

export const MESSAGE_OWN_UPSTREAM_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
}, [
  {
    id: "message_reply.citations",
    source: "https://platform.claude.com/docs/en/build-with-claude/citations",
    rule:
      "The citations of a model of this format reach the client, whole and in `citations_delta`.",
    reads: [
      ...scenariosOf("whole", "oddities"),
      ...scenariosOf("stream", "oddities"),
    ],
    judge: (e) => {
      offered(
        e.exchanges.filter(({ via }) => via === "messages"),
        "has the message format",
      );
      const whole = parseJson(
        WRITTEN.get("citations")?.replies.messages?.whole ?? "",
      );
      const expected = listAt(whole, "content.0.citations");
      const judged = (found: readonly Json[], x: Exchange): Finding =>
        fact(sameJson(found, expected), "citations", brief(expected), found, x);
      return [
        ...e.replies("messages/messages/whole/citations").map((x) =>
          judged(listAt(x.json, "content.0.citations"), x)
        ),
        ...e.streams("messages/messages/stream/citations").map((x) =>
          judged(
            x.frames.flatMap(({ json }) =>
              textAt(json, "delta.type") === "citations_delta"
                ? [at(json, "delta.citation") ?? null]
                : []
            ),
            x,
          )
        ),
      ];
    },
    faults: {
      "message-citations-lost": messageReply((body) =>
        at(body, "content.0.citations") === undefined
          ? body
          : withAt(body, "content.0.citations", undefined)
      ),
      "message-stream-citations-lost": messageFrames((data) =>
        at(data, "delta.citation") === undefined ? data : undefined
      ),
      "message-stream-citations-cut": messageFrames((data) =>
        at(data, "delta.citation.cited_text") === undefined
          ? data
          : withAt(data, "delta.citation.cited_text", "The")
      ),
    },
  },
]);
