/** Checks of the area `responses`: replies whose content is known. */
import { changeParts } from "../../faults/change_hooks.ts";
import { fact, factOf, some } from "../../suite/finding.ts";
import { asLatin1 } from "../../faults/change_messages.ts";
import { isCall } from "./faults.ts";
import { inItems, inReply } from "../../faults/change_responses.ts";
import { at, brief, listAt, textAt } from "../../evidence/json_path.ts";
import { fixtureContent } from "../../evidence/content.ts";
import type { ReadContent } from "@model-gateway/replay/content_of";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import {
  contentIn,
  expectedContent,
  itemsOf,
  nameOf,
  repliesOf,
  responseOf,
} from "../../endpoints/read_responses.ts";

/** One finding for each reply about a fact of its content. */
function compare(
  name: string,
  member: (content: ReadContent) => unknown,
): Check["judge"] {
  return (e: Evidence) =>
    repliesOf(e).map((x) => {
      const expected = member(expectedContent(x));
      const actual = member(contentIn(x));
      return factOf(name, brief(actual), x).mustBe(
        brief(expected),
        brief(expected, 1e5) === brief(actual, 1e5),
      );
    });
}

export const RESPONSES_EXACT_CHECKS: readonly Check[] = checksWith({
  section: "Responses reply",
  mode: "replay",
  needs: "responses",
  reads: ["responses-replies", "responses-contents"],
}, [
  {
    id: "responses.calls-exact",
    rule:
      "Every call of the model is an item of its own, in order, with its name and its arguments.",
    judge: compare("calls", ({ tools }) => tools),
    faults: {
      "responses-first-call-only": inReply((reply) => ({
        ...reply,
        output: listAt(reply, "output").filter((item, index, all) =>
          !isCall(item) || all.findIndex(isCall) === index
        ),
      })),
      "responses-arguments-latin1": inItems("function_call", (item) => ({
        ...item,
        arguments: asLatin1(textAt(item, "arguments")),
      })),
    },
  },
  {
    id: "responses.cut-item",
    rule:
      "The last item of an incomplete reply has the `status` `incomplete`, and all others are `completed`.",
    level: "convention",
    judge: (e) =>
      repliesOf(e).map((x) => {
        const isCut = at(responseOf(x), "status") === "incomplete";
        const found = itemsOf(x).map((item) => at(item, "status"));
        return fact(
          found.every((status, index) =>
            // Reasoning has no status.
            status === undefined ||
            status ===
              (isCut && index === found.length - 1 ? "incomplete" : "completed")
          ),
          "status of the items",
          isCut ? "incomplete for the last one" : "completed",
          found,
          x,
        );
      }),
    faults: {
      "responses-items-completed": inItems("message", { status: "completed" }),
      "responses-items-in-progress": inItems("function_call", {
        status: "in_progress",
      }),
    },
  },
  {
    id: "responses.reasoning-shown",
    rule:
      "Readable reasoning is a `reasoning` item before the answer, as `summary_text`.",
    level: "convention",
    judge: (e) =>
      some(
        repliesOf(e).filter((x) => nameOf(x).startsWith("thinking")).map(
          (x) => {
            const expected = fixtureContent(nameOf(x), x.via).thinking;
            const { thinking } = contentIn(x);
            const kinds = itemsOf(x).map((item) => textAt(item, "type"));
            return factOf(
              "reasoning",
              `${kinds.join(", ")}: ${brief(thinking)}`,
              x,
            ).mustBe(
              brief(expected),
              expected === "" ||
                thinking.replaceAll("\n\n", "") ===
                      expected.replaceAll("\n\n", "") &&
                  kinds[0] === "reasoning",
            );
          },
        ),
        "a reply with reasoning",
      ),
    faults: {
      "responses-reasoning-lost": {
        part: (part) =>
          part.type === "thinking" || part.type === "signature" ? [] : [part],
      },
      "responses-reasoning-as-text": changeParts(
        "thinking",
        (part) => ({ type: "text", text: part.text }),
      ),
    },
  },
]);
