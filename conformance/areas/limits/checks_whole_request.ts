/** Checks of the area `limits`: a request is read in full. */
import {
  factOf,
  type Finding,
  NotTestable,
  skill,
} from "../../suite/finding.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";

import {
  afterFirst,
  changeRequest,
  inTurns,
} from "../../faults/change_request.ts";
import { contentOf, tokensOf } from "../../evidence/content.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { PLACED_WORDS } from "./scenarios_request_forms.ts";
import type { Generation } from "../../suite/requests.ts";
import type { Evidence } from "../../suite/evidence.ts";

export const READS = ["documented-forms"];

/** The exchanges of a form, in the order in which models were tried. */
export function attempts(
  e: Evidence,
  endpoint: Generation,
  form: string,
): readonly Exchange[] {
  return e.matching(`${endpoint}/*/${form}`);
}

/**
 * Part of a form's words that its token count must show, at least. A lost place is a seventh of the
 * words.
 */
const PART_READ = 0.9;

/** Tokens per word, at least, in every tokenizer. */
const TOKENS_PER_WORD = 0.7;

/** A single long text is counted in full. */
function longRead(e: Evidence, endpoint: Generation): Finding[] {
  const [long] = attempts(e, endpoint, "long");
  const [plain] = attempts(e, endpoint, "plain");
  if (long?.head?.status !== 200 || plain?.head?.status !== 200) {
    return [skill(false, "replies", "200", "a model refuses a form", long)];
  }
  const input = (one: Exchange): number => tokensOf(contentOf(one)).input;
  const least = input(plain) + Math.floor(PLACED_WORDS * TOKENS_PER_WORD);
  return [
    factOf("input tokens", input(long), long).mustBe(
      `at least ${least}: those of "plain" and of ${PLACED_WORDS} words`,
      input(long) >= least,
    ),
  ];
}

/**
 * A form with the words of `long` in other places counts as many more tokens than the same form
 * without them.
 */
function allRead(
  e: Evidence,
  endpoint: Generation,
  form: string,
  without: string,
): Finding[] {
  return attempts(e, endpoint, form).flatMap((x) => {
    const beside = (other: string): Exchange =>
      e.exchange(x.label.replace(/[^/]+$/, other));
    // A reply of a second model has no counterpart to compare with.
    if (x.label.includes("/other-")) return [];
    const [plain, long, base] = [
      beside("plain"),
      beside("long"),
      beside(without),
    ];
    if ([x, plain, long, base].some(({ head }) => head?.status !== 200)) {
      return [skill(false, "replies", "200", "a model refuses a form", x)];
    }
    const input = (one: Exchange): number => tokensOf(contentOf(one)).input;
    const more = input(long) - input(plain);
    if (more <= 0) {
      throw new NotTestable("long texts count no more than short ones", long);
    }
    const least = Math.floor(input(base) + more * PART_READ);
    return [
      factOf("input tokens", input(x), x).mustBe(
        `at least ${least}: those of "${without}" and of the words of "long"`,
        input(x) >= least,
      ),
    ];
  });
}

const REPLY = "Message reply (from `POST /v1/messages`, not streamed)";

export const MESSAGES = "POST /v1/messages (operation `createMessage`)";

export const WHOLE_REQUEST_CHECKS: readonly Check[] = checksWith({
  section: MESSAGES,
  mode: "both",
  reads: READS,
}, [
  {
    id: "limits.whole-request-is-read",
    section: REPLY,
    rule:
      "| usage.input_tokens | integer | Billed input tokens, including the full resent history |",

    judge: (e) => [
      ...longRead(e, "messages"),
      ...allRead(e, "messages", "turns", "plain"),
      ...allRead(e, "messages", "blocks", "plain"),
      ...allRead(e, "messages", "tool-turns", "tools"),
    ],
    faults: {
      "oldest-turns-dropped": changeRequest(({ turns }) => ({
        turns: turns.length > 4 ? turns.slice(2) : turns,
      })),
      "second-block-lost": inTurns((parts) => {
        const texts = parts.filter(({ type }) => type === "text");
        return parts.filter((part) =>
          part.type !== "text" || part === texts.at(0) ||
          (part === texts.at(-1) && texts.length > 2)
        );
      }),
      "text-beside-results-lost": inTurns((parts) =>
        parts.some(({ type }) => type === "result")
          ? parts.filter(({ type }) => type !== "text")
          : parts
      ),
      "second-result-emptied": afterFirst(
        "result",
        (part) => part.type === "result" ? { ...part, text: "" } : part,
      ),
      ...sharedFaults("long-text-unread", "system-lost"),
    },
  },
  {
    id: "limits.chat-whole-request-is-read",
    section: "Equivalent fields between the two formats",
    rule: "| Input tokens | `usage.input_tokens` | `usage.prompt_tokens` |",

    judge: (e) => [
      ...longRead(e, "chat"),
      ...allRead(e, "chat", "turns", "plain"),
      ...allRead(e, "chat", "parts", "plain"),
      ...allRead(e, "chat", "tool-turns", "tools"),
    ],
    faults: sharedFaults(
      "long-text-unread",
      "oldest-turns-dropped",
      "second-block-lost",
      "second-result-emptied",
      "system-lost-on-chat",
    ),
  },
]);
