/** Checks of the area `responses`: replies whose content is known. */
import { at, brief, textAt } from "../../evidence/json_path.ts";
import { fixtureContent } from "../../evidence/content.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ReadContent } from "../../../replay/content_of.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { fact, some } from "../../suite/finding.ts";
import { contentIn, itemsOf, nameOf, repliesOf, responseOf } from "./reply.ts";

const says = (text: string) => ({ section: "Responses reply", text });

/** One finding for each reply about a fact of its content. */
function compare(
  name: string,
  member: (content: ReadContent) => unknown,
): Check["judge"] {
  return (e: Evidence) =>
    repliesOf(e).map((x) => {
      const expected = member(expectedContent(x));
      const actual = member(contentIn(x));
      return fact(
        brief(expected, 1e5) === brief(actual, 1e5),
        name,
        brief(expected),
        brief(actual),
        x,
      );
    });
}

/** The fixture's content, with its stop as this format has it. */
function expectedContent(x: Exchange): ReadContent {
  const content = fixtureContent(nameOf(x), x.via);
  const { stop, refusal, tools } = content;
  const isCut = ["max_tokens", "context_window"].includes(stop);
  const isBarred = stop === "refusal" && refusal === "";
  return {
    ...content,
    stop: isCut
      ? "max_tokens"
      : isBarred
      ? "refusal"
      : tools.length > 0
      ? "tool_use"
      : "end",
  };
}

/** Part of `RESPONSES_CHECKS`. */
export const RESPONSES_EXACT_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  needs: "responses",
  reads: ["responses-replies", "responses-contents"],
}, [
  {
    id: "responses.text-exact",
    rule: says(
      "The `output_text` parts hold the text of the reply, and a `refusal` part the words with which the model declines.",
    ),
    judge: compare("text", ({ text, refusal }) => [text, refusal]),
    mutants: ["responses-text-cut", "responses-refusal-as-text"],
  },
  {
    id: "responses.calls-exact",
    rule: says(
      "Every call of the model is an item of its own, in order, with its name and its arguments.",
    ),
    judge: compare("calls", ({ tools }) => tools),
    mutants: ["responses-first-call-only", "responses-arguments-latin1"],
  },
  {
    id: "responses.status-exact",
    rule: says(
      "A reply that reached its limit is `incomplete` with `max_output_tokens`, one that a filter cut with `content_filter`, and every other one is `completed`.",
    ),
    judge: compare("status", ({ stop }) => stop),
    mutants: ["responses-always-completed", "responses-filter-is-limit"],
  },
  {
    id: "responses.cut-item",
    rule: says(
      "The last item of an incomplete reply has the `status` `incomplete`, and all others are `completed`.",
    ),
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
    mutants: ["responses-items-completed", "responses-items-in-progress"],
  },
  {
    id: "responses.usage-exact",
    rule: says("`input_tokens` counts the whole prompt with its cached part."),
    judge: compare("usage", ({ usage }) => [
      usage.input + usage.cacheRead + usage.cacheWrite,
      usage.cacheRead,
      usage.output,
    ]),
    mutants: ["responses-input-without-cache", "responses-output-plus-one"],
  },
  {
    id: "responses.reasoning-shown",
    rule: says(
      "Readable reasoning is a `reasoning` item before the answer, as `summary_text`.",
    ),
    level: "convention",
    judge: (e) =>
      some(
        repliesOf(e).filter((x) => nameOf(x).startsWith("thinking")).map(
          (x) => {
            const expected = fixtureContent(nameOf(x), x.via).thinking;
            const { thinking } = contentIn(x);
            const kinds = itemsOf(x).map((item) => textAt(item, "type"));
            return fact(
              expected === "" ||
                thinking.replaceAll("\n\n", "") ===
                      expected.replaceAll("\n\n", "") &&
                  kinds[0] === "reasoning",
              "reasoning",
              brief(expected),
              `${kinds.join(", ")}: ${brief(thinking)}`,
              x,
            );
          },
        ),
        "a reply with reasoning",
      ),
    mutants: ["responses-reasoning-lost", "responses-reasoning-as-text"],
  },
]);
