/**
 * Checks of the area `message_reply`: members beside the text that an upstream of the same format
 * sends, in whole replies and in streams.
 */
import {
  messageFrames,
  messageReply,
  withAt,
} from "../../faults/change_reply.ts";
import { at, listAt, textAt } from "../../evidence/json_path.ts";
import { observed } from "../../suite/finding.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { scenariosOf } from "../../endpoints/read_messages.ts";

/** Part of `MESSAGE_REPLY_CHECKS`. */
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
    judge: (e) => [
      ...e.replies("messages/messages/whole/citations").map((x) =>
        observed("content.0.citations", at(x.json, "content.0.citations"), x)
          .mustBe(
            "one of the document Facts",
            listAt(x.json, "content.0.citations").map((citation) =>
              textAt(citation, "document_title")
            ).join() === "Facts",
          )
      ),
      ...e.streams("messages/messages/stream/citations").map((x) => {
        const titles = x.frames.map(({ json }) =>
          textAt(json, "delta.citation.document_title")
        ).filter((title) => title !== "");
        return observed("citations_delta", titles, x).mustBe(
          "one of the document Facts",
          titles.join() === "Facts",
        );
      }),
    ],
    faults: {
      "message-citations-lost": messageReply((body) =>
        at(body, "content.0.citations") === undefined
          ? body
          : withAt(body, "content.0.citations", undefined)
      ),
      "message-stream-citations-lost": messageFrames((data) =>
        at(data, "delta.citation") === undefined ? data : undefined
      ),
    },
  },
]);
