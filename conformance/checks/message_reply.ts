/** Checks of the area `message_reply`: every field of a whole reply of the message endpoint. */
import { FIXTURES } from "../fixtures/mod.ts";
import { listAt, textAt } from "../evidence/json_path.ts";
import type { Check } from "../suite/check.ts";
import { equals, fact, satisfies, wholeNumber } from "../suite/finding.ts";

const SECTION = "Message reply (from `POST /v1/messages`, not streamed)";
const WHOLE = "messages/*/whole";

/** The checks. */
export const MESSAGE_REPLY_CHECKS: readonly Check[] = [
  {
    id: "message_reply.id",
    rule: {
      section: SECTION,
      text: "| id | string | Message identifier, prefix `msg_` |",
    },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.replies(WHOLE).map((x) =>
        satisfies(
          x,
          "id",
          "a string with the prefix msg_",
          (id) => typeof id === "string" && /^msg_./.test(id),
        )
      ),
    mutants: ["message-id-without-prefix"],
  },
  {
    id: "message_reply.type",
    rule: { section: SECTION, text: "| type | string | Always `message` |" },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) => e.replies(WHOLE).map((x) => equals(x, "type", "message")),
    mutants: ["message-type-missing"],
  },
  {
    id: "message_reply.stop_reason",
    rule: {
      section: SECTION,
      text:
        "| stop_reason | string | One of `end_turn`, `max_tokens`, `stop_sequence`, `tool_use` |",
    },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.replies(WHOLE).map((x) =>
        satisfies(
          x,
          "stop_reason",
          "one of the documented reasons",
          (reason) =>
            typeof reason === "string" &&
            ["end_turn", "max_tokens", "stop_sequence", "tool_use"].includes(
              reason,
            ),
        )
      ),
    mutants: ["stop_reason-of-chat"],
  },
  {
    id: "message_reply.usage",
    rule: {
      section: SECTION,
      text: "| usage.output_tokens | integer | Billed output tokens |",
    },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.replies(WHOLE).flatMap((x) => [
        satisfies(
          x,
          "usage.input_tokens",
          "an integer above 0",
          wholeNumber(1),
        ),
        satisfies(x, "usage.output_tokens", "an integer", wholeNumber(0)),
      ]),
    mutants: ["message-usage-as-text", "message-input-tokens-0"],
  },
  {
    id: "message_reply.text-exact",
    rule: {
      section: SECTION,
      text: "Text blocks have `type` = `text` and a `text` string.",
    },
    level: "documented",
    mode: "replay",
    reads: ["text"],
    judge: (e) => {
      const fixture = FIXTURES.get("text");
      const said = fixture !== undefined && "says" in fixture
        ? fixture.says.text
        : "";
      return e.replies(WHOLE).map((x) => {
        const text = listAt(x.json, "content").map((block) =>
          textAt(block, "text")
        ).join("");
        return fact(text === said, "content.*.text", said, text, x);
      });
    },
    mutants: ["message-text-trimmed"],
  },
];
