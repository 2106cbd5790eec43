/** Checks of the area `generate_content`: thoughts, signatures and calls. */
import { changeParts } from "../../faults/change_hooks.ts";
import {
  callsOf,
  contentIn,
  everyContentReply,
  expectedContent,
  formOf,
  nameOf,
  partsOf,
} from "../../endpoints/read_generate_content.ts";
import { at, brief, listAt, textAt } from "../../evidence/json_path.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Json } from "@model-gateway/replay/json";
import {
  inCalls,
  inCandidates,
  inParts,
} from "../../faults/change_generate_content.ts";
import { withAt } from "../../faults/change_reply.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { fact, factOf, offered } from "../../suite/finding.ts";
import { count } from "../../endpoints/reply_form.ts";
import { contentSignatures } from "./signatures.ts";

/** The words of a reply's calls, for comparing. */
function callsText(calls: readonly Json[]): string {
  return brief(
    calls.map((call) => [textAt(call, "name"), at(call, "args") ?? {}]),
    4000,
  );
}

const hasCalls = (x: Exchange): boolean => expectedContent(x).tools.length > 0;

function withThoughts(e: Evidence): readonly Exchange[] {
  return everyContentReply(e).filter((x) =>
    expectedContent(x).thinking !== "" && x.via !== "responses"
  );
}

export const GENERATE_CONTENT_ANSWER_CHECKS: readonly Check[] = checksWith({
  section: "Generate content reply",
  mode: "replay",
  needs: "generate-content",
  reads: ["generate-content-replies", "generate-content-contents"],
}, [
  {
    id: "generate_content.thoughts",
    rule: "Thoughts are parts with `thought`, before the answer.",
    of: (e: Evidence) => offered(withThoughts(e), "has thoughts"),
    each: (x) => {
      const parts = partsOf(x);
      const isThought = (part: Json): boolean => at(part, "thought") === true;
      const words = parts.filter(isThought).map((part) => textAt(part, "text"))
        .join("");
      const { thinking } = expectedContent(x);
      const firstAnswer = parts.findIndex((part) =>
        !isThought(part) &&
        (textAt(part, "text") !== "" || at(part, "functionCall"))
      );
      return fact(
        words === thinking &&
          (firstAnswer < 0 || !parts.slice(firstAnswer).some(isThought)),
        "thoughts",
        thinking,
        brief(parts, 400),
        x,
      );
    },
    misses: {
      lost: inParts((part) => part["thought"] === true ? undefined : part),
      trimmed: inParts((part) =>
        part["thought"] === true
          ? { ...part, text: textAt(part, "text").trimEnd().slice(1) }
          : part
      ),
      unmarked: inParts({ thought: undefined }),
    },
  },
  {
    id: "generate_content.signatures",
    rule:
      "A `thoughtSignature` of an upstream in this format reaches the client unchanged.",
    of: (e: Evidence) =>
      offered(
        everyContentReply(e).filter((x) =>
          x.via === "generate_content" &&
          contentSignatures(nameOf(x)).length > 0
        ),
        "has this format",
      ),
    each: (x) => {
      const found = partsOf(x).flatMap((part) =>
        at(part, "thoughtSignature") ?? []
      );
      const expected = brief(contentSignatures(nameOf(x)), 4000);
      return fact(
        brief(found, 4000) === expected,
        "thoughtSignature",
        expected,
        brief(found),
        x,
      );
    },
    misses: {
      lost: inParts({ thoughtSignature: undefined }),
      cut: inParts((part) =>
        part["thoughtSignature"] === undefined ? part : {
          ...part,
          thoughtSignature: textAt(part, "thoughtSignature").slice(0, -2),
        }
      ),
      twice: inParts({ thoughtSignature: "Erx0aG==" }),
      doubled: inParts((part) =>
        part["thoughtSignature"] === undefined ? part : {
          ...part,
          thoughtSignature: textAt(part, "thoughtSignature").repeat(2),
        }
      ),
    },
  },
  {
    id: "generate_content.calls",
    rule:
      "Every call of the model is a part of its own, in order, with its name and its arguments.",
    of: (e: Evidence) => everyContentReply(e).filter(hasCalls),
    each: (x) => {
      const [expected, found] = [
        expectedContent(x).tools,
        contentIn(x).tools,
      ].map(callsText);
      return fact(expected === found, "calls", expected ?? "", found, x);
    },
    misses: {
      "second-lost": inCalls((call, x) =>
        count(x, "calls") === 0 ? call : undefined
      ),
      "renamed": inCalls((call) => ({
        ...call,
        name: `functions.${textAt(call, "name")}`,
      })),
      "argument-lost": inCalls({ args: {} }),
      "arguments-ascii": inCalls((call) => ({
        ...call,
        args: JSON.parse(
          JSON.stringify(call["args"] ?? {}).replaceAll(/[^ -~]/g, "?"),
        ),
      })),
      "swapped": changeParts("tool", (part) => ({
        ...part,
        name: part.call === 0 ? `${part.name}_b` : part.name,
      }), { endpoint: "generate_content" }),
    },
  },
  {
    id: "generate_content.call-ids",
    rule: "Calls of one reply that have ids have different ones.",
    of: (e: Evidence) => everyContentReply(e).filter(hasCalls),
    each: (x) => {
      const ids = callsOf(x).flatMap((call) => at(call, "id") ?? []);
      return factOf("ids", ids, x).mustBe(
        "words, no two of them equal",
        new Set(ids).size === ids.length &&
          ids.every((id) => typeof id === "string" && id !== ""),
      );
    },
    misses: {
      same: inCalls({ id: "call_1" }),
      empty: inCalls({ id: "" }),
    },
  },
  {
    id: "generate_content.no-empty-text",
    rule: "A reply that only calls has no text.",
    level: "convention",
    of: (e: Evidence) =>
      everyContentReply(e).filter((x) =>
        hasCalls(x) && expectedContent(x).text === "" &&
        formOf(x) === "whole"
      ),
    each: (x) =>
      factOf("parts", partsOf(x), x).mustBe(
        "no text but thoughts",
        partsOf(x).every((part) =>
          at(part, "text") === undefined || at(part, "thought") === true
        ),
      ),
    misses: {
      added: inCandidates((candidate) =>
        withAt(candidate, "content.parts", [
          ...listAt(candidate, "content.parts"),
          { text: "" },
        ])
      ),
    },
  },
]);
