/** Checks of the area `generate_content`: counts of tokens. */
import {
  everyContentReply,
  expectedContent,
  lastOf,
} from "../../endpoints/read_generate_content.ts";
import { at, numberAt } from "../../evidence/json_path.ts";
import { inUsage } from "../../faults/change_generate_content.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { fact } from "../../suite/finding.ts";

function counting(name: string, change: (count: number) => number): Hooks {
  return inUsage((usage) => ({
    ...usage,
    [name]: change(numberAt(usage, name) ?? 0),
  }));
}

export const GENERATE_CONTENT_USAGE_CHECKS: readonly Check[] = checksWith({
  section: "Generate content reply",
  mode: "replay",
  needs: "generate-content",
  reads: ["generate-content-contents"],
}, [
  {
    id: "generate_content.total",
    rule:
      "`totalTokenCount` is the sum of the prompt, the answer and the thoughts.",
    mode: "both",
    reads: ["generate-content-replies"],
    of: (e: Evidence) => everyContentReply(e),
    each: (x) => {
      const usage = at(lastOf(x), "usageMetadata");
      const of = (name: string): number => numberAt(usage, name) ?? 0;
      const sum = of("promptTokenCount") + of("toolUsePromptTokenCount") +
        of("candidatesTokenCount") + of("thoughtsTokenCount");
      return fact(
        of("totalTokenCount") === sum && sum > 0,
        "totalTokenCount",
        `${sum}`,
        of("totalTokenCount"),
        x,
      );
    },
    misses: {
      "off-by-one": counting("totalTokenCount", (total) => total + 1),
      "zero": counting("totalTokenCount", () => 0),
      "prompt-only": inUsage((usage) => ({
        ...usage,
        totalTokenCount: usage["promptTokenCount"] ?? 0,
      })),
    },
  },
  {
    id: "generate_content.thoughts-counted",
    rule:
      "`thoughtsTokenCount` counts the thoughts where the vendor reports them.",
    of: (e: Evidence) => everyContentReply(e, "reasoning-usage"),
    each: (x) => {
      const { reasoning, output } = expectedContent(x).usage;
      const usage = at(lastOf(x), "usageMetadata");
      const thoughts = numberAt(usage, "thoughtsTokenCount") ?? 0;
      const answer = numberAt(usage, "candidatesTokenCount") ?? 0;
      return fact(
        thoughts === reasoning && answer === output - reasoning,
        "thoughts and answer",
        `${reasoning} and ${output - reasoning}`,
        `${thoughts} and ${answer}`,
        x,
      );
    },
    misses: {
      "in-answer": inUsage((usage) => ({
        ...usage,
        candidatesTokenCount: (numberAt(usage, "candidatesTokenCount") ?? 0) +
          (numberAt(usage, "thoughtsTokenCount") ?? 0),
        thoughtsTokenCount: 0,
      })),
      "twice": inUsage((usage) => ({
        ...usage,
        candidatesTokenCount: (numberAt(usage, "candidatesTokenCount") ?? 0) +
          (numberAt(usage, "thoughtsTokenCount") ?? 0),
      })),
    },
  },
  {
    id: "generate_content.cache-counted",
    rule: "`cachedContentTokenCount` is the part of the prompt from a cache.",
    of: (e: Evidence) => everyContentReply(e, "cache-usage"),
    each: (x) => {
      const { cacheRead } = expectedContent(x).usage;
      const found = numberAt(
        lastOf(x),
        "usageMetadata.cachedContentTokenCount",
      );
      return fact(
        found === cacheRead && cacheRead > 0,
        "cachedContentTokenCount",
        `${cacheRead}`,
        found,
        x,
      );
    },
    misses: {
      absent: counting("cachedContentTokenCount", () => 0),
      "off-by-one": counting("cachedContentTokenCount", (n) => n - 1),
    },
  },
]);
