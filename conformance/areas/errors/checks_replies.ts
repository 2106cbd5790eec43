/** Checks of the area `errors`: nothing of an error is in a reply that succeeded. */
import { TEXT_SCENARIO } from "../message_reply/scenarios.ts";
import {
  chatFrames,
  chatReply,
  messageReply,
} from "../../faults/change_reply.ts";
import { at } from "../../evidence/json_path.ts";
import { factOf, type Finding } from "../../suite/finding.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Exchange } from "../../evidence/exchange.ts";

const PROBLEM = { type: "api_error", message: "An error occurred" };

/** Finding that neither the reply nor a frame of it reports an error. */
function noError(x: Exchange): Finding {
  const found = [x.json, ...x.frames.map(({ json }) => json)].find((json) =>
    (at(json, "error") ?? null) !== null || at(json, "type") === "error"
  );
  return factOf("error", found ?? "none", x).mustBe(
    "none beside a reply",
    found === undefined,
  );
}

export const REPLY_ERROR_CHECKS: readonly Check[] = checksWith({
  mode: "both",
}, [
  {
    id: "errors.none-in-a-reply",
    source:
      "Libraries throw away a reply or a chunk that has an `error`: https://github.com/openai/openai-node, streaming.ts",
    rule: "A reply of status 200 is a reply alone: it reports no error.",
    reads: [TEXT_SCENARIO],
    judge: (e) =>
      [...e.replies("*/*/whole"), ...e.streams("*/*/stream")].map(noError),
    faults: {
      "message-with-error": messageReply({ error: PROBLEM }),
      "chat-with-error": chatReply({ error: PROBLEM }),
      "chat-says-error": chatReply({ type: "error" }),
      "chat-chunk-with-error": chatFrames({ error: PROBLEM }),
    },
  },
]);
