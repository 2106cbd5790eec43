/** Checks of the area `chat_reply`: every field of a whole reply of the chat endpoint. */
import { at, numberAt } from "../evidence/json_path.ts";
import type { Check } from "../suite/check.ts";
import { equals, fact, satisfies, wholeNumber } from "../suite/finding.ts";

const SECTION =
  "Chat completion reply (from `POST /v1/chat/completions`, not streamed)";
const WHOLE = "chat/*/whole";

/** The checks. */
export const CHAT_REPLY_CHECKS: readonly Check[] = [
  {
    id: "chat_reply.id",
    rule: {
      section: SECTION,
      text: "| id | string | Identifier, prefix `chatcmpl-` |",
    },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.replies(WHOLE).map((x) =>
        satisfies(
          x,
          "id",
          "a string with the prefix chatcmpl-",
          (id) => typeof id === "string" && /^chatcmpl-./.test(id),
        )
      ),
    mutants: ["chat-id-of-messages"],
  },
  {
    id: "chat_reply.object",
    rule: { section: SECTION, text: "| object | string | `chat.completion` |" },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.replies(WHOLE).map((x) => equals(x, "object", "chat.completion")),
    mutants: ["chat-object-chunk"],
  },
  {
    id: "chat_reply.usage-sum",
    rule: {
      section: SECTION,
      text: "| usage.total_tokens | integer | Sum of the two |",
    },
    level: "documented",
    mode: "both",
    reads: ["text"],
    judge: (e) =>
      e.replies(WHOLE).flatMap((x) => {
        const sum = (numberAt(x.json, "usage.prompt_tokens") ?? NaN) +
          (numberAt(x.json, "usage.completion_tokens") ?? NaN);
        const total = at(x.json, "usage.total_tokens");
        return [
          satisfies(
            x,
            "usage.prompt_tokens",
            "an integer above 0",
            wholeNumber(1),
          ),
          satisfies(x, "usage.completion_tokens", "an integer", wholeNumber(0)),
          fact(total === sum, "usage.total_tokens", `${sum}`, total, x),
        ];
      }),
    mutants: ["chat-total-is-prompt", "chat-usage-missing"],
  },
];
