/** Checks of the area `generate_content`: how a reply ends, and prompts that are refused. */
import {
  everyContentReply,
  expectedContent,
  lastOf,
  nameOf,
  objectsOf,
  reasonOf,
} from "../../endpoints/read_generate_content.ts";
import { at, listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import { type Json, type JsonObject } from "@model-gateway/replay/json";
import {
  inCandidates,
  inObjects,
} from "../../faults/change_generate_content.ts";
import { withAt } from "../../faults/change_reply.ts";
import { fieldOf, oneOf, type Place, valueOf } from "../../faults/field.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { factOf } from "../../suite/finding.ts";
import { INCOMPLETE } from "./scenarios.ts";

/** The objects about a prompt that was refused. */
const BLOCKED: Place = {
  objects: (x) =>
    objectsOf(x).filter((json) => at(json, "promptFeedback") !== undefined).map(
      (json) => ({ json }),
    ),
  put: (path, value) =>
    inObjects((object) =>
      object["promptFeedback"] === undefined
        ? object
        : withAt(object, path, valueOf(value, object))
    ),
};
const BLOCK_REASONS = [
  "SAFETY",
  "OTHER",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "IMAGE_SAFETY",
  "MODEL_ARMOR",
  "JAILBREAK",
];

const put = (path: string, value: Json | undefined): Hooks =>
  inObjects((object) => withAt(object, path, value));

/** A blocked prompt as an empty answer. */
function withCandidate(
  { promptFeedback: _, ...object }: JsonObject,
): JsonObject {
  return {
    ...object,
    candidates: [{
      content: { parts: [{ text: "" }], role: "model" },
      finishReason: "STOP",
      index: 0,
    }],
  };
}

export const GENERATE_CONTENT_END_CHECKS: readonly Check[] = checksWith({
  section: "Generate content reply",
  mode: "replay",
  needs: "generate-content",
  reads: ["generate-content-ends"],
}, [
  {
    id: "generate_content.incomplete",
    rule:
      "A reply whose upstream stopped before its end never has `STOP`: the reason is `MAX_TOKENS`, `OTHER` or the upstream's own.",
    of: (e: Evidence) =>
      everyContentReply(e).filter((x) =>
        INCOMPLETE.includes(nameOf(x)) && expectedContent(x).stop !== "end"
      ),
    each: (x) =>
      factOf("finishReason", reasonOf(x), x).mustBe(
        "a reason that is not STOP",
        reasonOf(x) !== "STOP" && reasonOf(x) !== "",
      ),
    misses: {
      "limit-as-end": put("candidates.0.finishReason", "STOP"),
      "none": inCandidates({ finishReason: undefined }),
    },
  },
  {
    id: "generate_content.block-reason",
    rule: "`blockReason` is a word of the format.",
    source: "https://ai.google.dev/api/generate-content, BlockReason",
    of: (e: Evidence) => everyContentReply(e, "blocked"),
    ...fieldOf(BLOCKED, "promptFeedback.blockReason", oneOf(BLOCK_REASONS)),
  },
  {
    id: "generate_content.blocked",
    rule:
      "A prompt that is refused before any content has `promptFeedback.blockReason` and no candidate.",
    of: (e: Evidence) => everyContentReply(e, "blocked"),
    each: (x) => {
      const reason = objectsOf(x).map((each) =>
        textAt(each, "promptFeedback.blockReason")
      ).find((each) => each !== "");
      return factOf("reply", x.text.slice(0, 200), x).mustBe(
        "a blockReason, no candidate, and 22 prompt tokens",
        reason !== undefined &&
          objectsOf(x).every((each) =>
            listAt(each, "candidates").length === 0
          ) && numberAt(lastOf(x), "usageMetadata.promptTokenCount") === 22,
      );
    },
    misses: {
      "as-answer": inObjects((object) =>
        object["promptFeedback"] === undefined ? object : withCandidate(object)
      ),
      "as-both": inObjects((object) =>
        object["promptFeedback"] === undefined ? object : {
          ...withCandidate(object),
          promptFeedback: { blockReason: "X" },
        }
      ),
      "uncounted": inObjects((object) =>
        object["promptFeedback"] === undefined
          ? object
          : { ...object, usageMetadata: {} }
      ),
    },
  },
]);
