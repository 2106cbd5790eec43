/** Checks of the area `generate_content`: replies in all three forms. */
import {
  callsOf,
  contentIn,
  everyContentReply,
  expectedContent,
  formOf,
  framedObjects,
  lastOf,
  nameOf,
  objectsOf,
  partsOf,
  reasonOf,
} from "../../endpoints/read_generate_content.ts";
import {
  at,
  brief,
  listAt,
  numberAt,
  textAt,
} from "../../evidence/json_path.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import {
  isObject,
  type Json,
  type JsonObject,
} from "@model-gateway/replay/json";
import {
  inCalls,
  inCandidates,
  inObjects,
  inParts,
  inUsage,
} from "../../reference_gateway/change_generate_content.ts";
import { withAt } from "../../reference_gateway/change_reply.ts";
import {
  fieldsOf,
  IS_STRING,
  literal,
  objects,
  type Place,
  valueOf,
  whole,
  words,
} from "../../reference_gateway/field.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { fact, observed } from "../../suite/finding.ts";
import { count } from "../../endpoints/reply_form.ts";
import { checksOfEvery } from "../replies/checks.ts";
import { GENERATE_CONTENT_MODEL_CHECKS } from "./checks_models.ts";
import { GENERATE_CONTENT_REFUSAL_CHECKS } from "./checks_refusals.ts";
import { GENERATE_CONTENT_REQUEST_CHECKS } from "./checks_requests.ts";
import { GENERATE_CONTENT_STREAM_CHECKS } from "./checks_stream.ts";
import { INCOMPLETE } from "./scenarios.ts";

const REPLIES = "generate-content-replies";
const CONTENTS = "generate-content-contents";
const KNOWN = [REPLIES, CONTENTS];

/** The objects of a reply that are chosen, as a place of fields. */
function place(choose: (x: Exchange) => readonly Json[]): Place {
  return {
    objects: (x) => choose(x).map((json) => ({ json })),
    put: (path, value) =>
      inObjects((object) => withAt(object, path, valueOf(value, object))),
  };
}

/** Every object of a reply. */
const OBJECTS: Place = {
  ...place(objectsOf),
  objects: framedObjects,
};

/** The last one, which ends the reply. */
const LAST: Place = {
  ...place((x) => [lastOf(x) ?? {}]),
  put: (path, value) =>
    inObjects((object) =>
      at(object, "candidates.0.finishReason") === undefined
        ? object
        : withAt(object, path, valueOf(value, object))
    ),
};

const USAGE = fieldsOf(LAST, {
  "usageMetadata.promptTokenCount": whole(1),
  "usageMetadata.totalTokenCount": whole(1),
});
const MEMBERS = fieldsOf(OBJECTS, {
  candidates: objects(1),
  modelVersion: words("a model id"),
  responseId: IS_STRING,
});
const CANDIDATE = fieldsOf(OBJECTS, {
  "candidates.0.content.role": literal("model"),
  "candidates.0.content.parts": objects(0),
});
const END = fieldsOf(LAST, { "candidates.0.finishReason": words("a reason") });

/** Why a part is wrong; undefined where it is right. */
function faultOf(part: Json): string | undefined {
  const kinds = ["text", "functionCall"].filter((kind) =>
    at(part, kind) !== undefined
  );
  if (kinds.length !== 1) return `${kinds.length} kinds`;
  const call = at(part, "functionCall");
  if (call === undefined) {
    return typeof at(part, "text") === "string" ? undefined : "text";
  }
  return textAt(call, "name") === ""
    ? "name"
    : isObject(at(call, "args") ?? {})
    ? undefined
    : "args";
}

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

const put = (path: string, value: Json | undefined): Hooks =>
  inObjects((object) => withAt(object, path, value));

/** Adds to a count of the usage. */
function counting(name: string, change: (count: number) => number): Hooks {
  return inUsage((usage) => ({
    ...usage,
    [name]: change(numberAt(usage, name) ?? 0),
  }));
}

/** All checks of the format. */
export const GENERATE_CONTENT_CHECKS: readonly Check[] = [
  ...checksOfEvery("generate_content_reply"),
  ...checksOfEvery("generate_content_stream"),
  ...checksOfEvery("generate_content_array"),
  ...checksWith({
    section: "Generate content reply",
    mode: "both",
    needs: "generate-content",
    reads: [REPLIES],
    of: (e: Evidence) => everyContentReply(e),
  }, [
    {
      id: "generate_content.members",
      rule:
        "Every reply has `candidates`, `usageMetadata`, `modelVersion` and `responseId`.",
      each: (x) => [...MEMBERS.each(x), ...USAGE.each(x)],
      misses: { ...MEMBERS.misses, ...USAGE.misses },
    },
    {
      id: "generate_content.candidate",
      rule:
        "A candidate has `content` with `parts` and the `role` `model`, and at the end a `finishReason`.",
      each: (x) => [...CANDIDATE.each(x), ...END.each(x)],
      misses: { ...CANDIDATE.misses, ...END.misses },
    },
    {
      id: "generate_content.parts",
      rule:
        "A part has one kind: `text`, or `functionCall` with `name` and an object `args`.",
      each: (x) => {
        const wrong = partsOf(x).find((part) => faultOf(part) !== undefined);
        return observed("part", wrong ?? partsOf(x)[0], x).mustBe(
          "of one kind",
          wrong === undefined && partsOf(x).length > 0,
        );
      },
      misses: {
        "kinds-two": inParts((part) => ({
          ...part,
          inlineData: {},
          text: "",
          functionCall: { name: "f" },
        })),
        "kind-none": inParts(({ text: _, functionCall: __, ...part }) => part),
        "text-null": inParts((part) => ({ ...part, text: null })),
        "args-text": inParts((part) =>
          part["functionCall"] === undefined
            ? { functionCall: { name: "f", args: "{}" } }
            : withAt(part, "functionCall.args", "{}")
        ),
      },
    },
    {
      id: "generate_content.total",
      rule:
        "`totalTokenCount` is the sum of the prompt, the answer and the thoughts.",
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
      mode: "replay",
      reads: [CONTENTS],
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
      mode: "replay",
      reads: [CONTENTS],
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
    {
      id: "generate_content.thoughts",
      rule: "Thoughts are parts with `thought`, before the answer.",
      mode: "replay",
      reads: KNOWN,
      of: withThoughts,
      each: (x) => {
        const parts = partsOf(x);
        const isThought = (part: Json): boolean => at(part, "thought") === true;
        const words = parts.filter(isThought).map((part) =>
          textAt(part, "text")
        ).join("");
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
        unmarked: inParts(({ thought: _, ...part }) => part),
      },
    },
    {
      id: "generate_content.signatures",
      rule:
        "A `thoughtSignature` of an upstream in this format reaches the client unchanged.",
      mode: "replay",
      reads: [REPLIES],
      of: (e: Evidence) =>
        everyContentReply(e, "thinking-tool").filter(({ via }) =>
          via === "generate_content"
        ),
      each: (x) => {
        const found = partsOf(x).flatMap((part) =>
          at(part, "thoughtSignature") ?? []
        );
        return fact(
          found.length === 1 && /^Erx0.*aG==$/.test(String(found[0])),
          "thoughtSignature",
          "that of the upstream",
          brief(found),
          x,
        );
      },
      misses: {
        lost: inParts(({ thoughtSignature: _, ...part }) => part),
        cut: inParts((part) =>
          part["thoughtSignature"] === undefined ? part : {
            ...part,
            thoughtSignature: textAt(part, "thoughtSignature").slice(0, -2),
          }
        ),
        twice: inParts((part) => ({ ...part, thoughtSignature: "Erx0aG==" })),
      },
    },
    {
      id: "generate_content.calls",
      rule:
        "Every call of the model is a part of its own, in order, with its name and its arguments.",
      mode: "replay",
      reads: KNOWN,
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
        "argument-lost": inCalls((call) => ({ ...call, args: {} })),
        "arguments-ascii": inCalls((call) => ({
          ...call,
          args: JSON.parse(
            JSON.stringify(call["args"] ?? {}).replaceAll(/[^ -~]/g, "?"),
          ),
        })),
        "swapped": {
          part: (part, x) =>
            x.endpoint === "generate_content" && part.type === "tool"
              ? [{
                ...part,
                name: part.call === 0 ? `${part.name}_b` : part.name,
              }]
              : [part],
        },
      },
    },
    {
      id: "generate_content.call-ids",
      rule: "Calls of one reply that have ids have different ones.",
      mode: "replay",
      reads: KNOWN,
      of: (e: Evidence) => everyContentReply(e).filter(hasCalls),
      each: (x) => {
        const ids = callsOf(x).flatMap((call) => at(call, "id") ?? []);
        return observed("ids", ids, x).mustBe(
          "words, no two of them equal",
          new Set(ids).size === ids.length &&
            ids.every((id) => typeof id === "string" && id !== ""),
        );
      },
      misses: {
        same: inCalls((call) => ({ ...call, id: "call_1" })),
        empty: inCalls((call) => ({ ...call, id: "" })),
      },
    },
    {
      id: "generate_content.no-empty-text",
      rule: "A reply that only calls has no text.",
      level: "convention",
      mode: "replay",
      reads: KNOWN,
      of: (e: Evidence) =>
        everyContentReply(e).filter((x) =>
          hasCalls(x) && expectedContent(x).text === "" &&
          formOf(x) === "whole"
        ),
      each: (x) =>
        observed("parts", partsOf(x), x).mustBe(
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
    {
      id: "generate_content.incomplete",
      rule:
        "A reply whose upstream stopped before its end never has `STOP`: the reason is `MAX_TOKENS`, `OTHER` or the upstream's own.",
      mode: "replay",
      reads: ["generate-content-ends"],
      of: (e: Evidence) =>
        everyContentReply(e).filter((x) =>
          INCOMPLETE.includes(nameOf(x)) && expectedContent(x).stop !== "end"
        ),
      each: (x) =>
        observed("finishReason", reasonOf(x), x).mustBe(
          "a reason that is not STOP",
          reasonOf(x) !== "STOP" && reasonOf(x) !== "",
        ),
      misses: {
        "limit-as-end": put("candidates.0.finishReason", "STOP"),
        "other-as-end": inCandidates((candidate) =>
          candidate["finishReason"] === "OTHER"
            ? { ...candidate, finishReason: "STOP" }
            : candidate
        ),
        "none": inCandidates(({ finishReason: _, ...candidate }) => candidate),
      },
    },
    {
      id: "generate_content.blocked",
      rule:
        "A prompt that is refused before any content has `promptFeedback.blockReason` and no candidate.",
      mode: "replay",
      reads: ["generate-content-ends"],
      of: (e: Evidence) => everyContentReply(e, "blocked"),
      each: (x) => {
        const reason = objectsOf(x).map((each) =>
          textAt(each, "promptFeedback.blockReason")
        ).find((each) => each !== "");
        return observed("reply", x.text.slice(0, 200), x).mustBe(
          "a blockReason and no candidate",
          reason !== undefined &&
            objectsOf(x).every((each) =>
              listAt(each, "candidates").length === 0
            ) && numberAt(lastOf(x), "usageMetadata.promptTokenCount") === 22,
        );
      },
      misses: {
        "as-answer": inObjects((object) =>
          object["promptFeedback"] === undefined
            ? object
            : withCandidate(object)
        ),
        "as-both": inObjects((object) =>
          object["promptFeedback"] === undefined
            ? object
            : { ...withCandidate(object), promptFeedback: { blockReason: "X" } }
        ),
        "uncounted": inObjects((object) =>
          object["promptFeedback"] === undefined
            ? object
            : { ...object, usageMetadata: {} }
        ),
      },
    },
  ]),
  ...GENERATE_CONTENT_STREAM_CHECKS,
  ...GENERATE_CONTENT_REQUEST_CHECKS,
  ...GENERATE_CONTENT_REFUSAL_CHECKS,
  ...GENERATE_CONTENT_MODEL_CHECKS,
];

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
