/** Checks of the area `limits` about input tokens: everything in a request is billed as input. */
import { factOf, type Finding, skill, statusIs } from "../../suite/finding.ts";
import { chatInputDoubled } from "../equivalence/faults.ts";
import { changeRequest, inParts } from "../../faults/change_request.ts";
import { toolDescriptionsLost } from "../tools/faults.ts";
import { systemLost, systemLostOnChat } from "../upstream/faults.ts";
import { contentOf, tokensOf } from "../../evidence/content.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Form, FORMS, MORE } from "./scenarios_input_tokens.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { textAt } from "../../evidence/json_path.ts";
import { parseJson } from "@model-gateway/replay/json";

/** Tokens per word, at least, in every tokenizer. */
const TOKENS_PER_WORD = 0.7;

/** Two formats may put the same request before a model in slightly different ways. */
const TOLERANCE = { part: 0.25, tokens: 20 } as const;

function inputOf(x: Exchange): number {
  return tokensOf(contentOf(x)).input;
}

/** False when a real model refused the request: it may support no tools or no instructions. */
function isCounted(e: Evidence, x: Exchange): boolean {
  return e.mode === "replay" || x.head?.status === 200;
}

function counted(e: Evidence, forms: readonly Form[]): Finding[] {
  return forms.flatMap((form) => {
    const { words, than } = MORE[form];
    return e.matching(`*/*/counted/${form}`).map((x) => {
      const other = e.exchange(x.label.replace(/[^/]+$/, than));
      if (!isCounted(e, x) || !isCounted(e, other)) {
        // A target that accepts instructions as a string must accept them as blocks.
        const owed = form === "systems" && x.endpoint === "messages" &&
          isCounted(e, other);
        const status = x.head?.status ?? x.ending;
        return owed
          ? statusIs(x, 200)
          : skill(false, "status", "200", status, x);
      }
      const least = inputOf(other) + Math.floor(words * TOKENS_PER_WORD);
      return factOf("input tokens", inputOf(x), x).mustBe(
        `at least ${least}: those of "${than}" and of ${words} words`,
        inputOf(x) >= least && inputOf(other) > 0,
      );
    });
  });
}

function modelOf({ request }: Exchange): string {
  return textAt(parseJson(request.body), "model");
}

function sameOnBoth(e: Evidence): Finding[] {
  return e.matching("messages/*/counted/*").flatMap((x) => {
    const other = e.exchange(x.label.replace("messages/", "chat/"));
    if (
      !isCounted(e, x) || !isCounted(e, other) || modelOf(x) !== modelOf(other)
    ) {
      return [
        skill(false, "replies", "two replies of one model", "others", other),
      ];
    }
    const [left, right] = [inputOf(x), inputOf(other)];
    const most = Math.max(left, right) * TOLERANCE.part + TOLERANCE.tokens;
    return [
      factOf("input tokens on both endpoints", right, other).mustBe(
        `about ${left}, as in ${x.label}`,
        Math.abs(left - right) <= most,
      ),
    ];
  });
}

export const INPUT_TOKEN_CHECKS: readonly Check[] = checksWith({
  section: "Equivalent fields between the two formats",
  mode: "both",
  reads: ["counted"],
}, [
  {
    id: "limits.input-is-counted",
    section: "Message reply (from `POST /v1/messages`, not streamed)",
    rule:
      "| usage.input_tokens | integer | Billed input tokens, including the full resent history |",
    judge: (e) => counted(e, ["long", "tool", "result"]),
    faults: {
      "long-text-unread": inParts("text", (part) => ({
        ...part,
        text: part.text.slice(0, 64),
      })),
      "tool-descriptions-lost": toolDescriptionsLost,
      "tool-results-emptied": inParts(
        "result",
        (part) => ({ ...part, text: "" }),
      ),
    },
  },
  {
    id: "limits.instructions-are-counted",
    rule:
      "| System prompt | top-level `system` | first entry of `messages` with role `system` |",
    judge: (e) => counted(e, FORMS.filter((form) => form.startsWith("system"))),
    faults: {
      "system-lost": systemLost,
      "system-lost-on-chat": systemLostOnChat,
      "second-system-lost": changeRequest(({ system }) => ({
        system: system.split("\n")[0] ?? "",
      })),
    },
  },
  {
    id: "limits.same-input-on-both-endpoints",
    rule: "| Input tokens | `usage.input_tokens` | `usage.prompt_tokens` |",
    judge: sameOnBoth,
    faults: {
      "chat-input-doubled": chatInputDoubled,
      "system-long-on-chat": changeRequest((request, { endpoint }) =>
        endpoint === "chat"
          ? { system: `${request.system} Be kind and brief.`.repeat(9) }
          : {}
      ),
    },
  },
]);
