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
  fieldOf,
  fieldsOf,
  IS_STRING,
  literal,
  objects,
  oneOf,
  optional,
  type Place,
  right,
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
import { GENERATE_CONTENT_CONVERSATION_CHECKS } from "./checks_conversation.ts";
import { GENERATE_CONTENT_FUNCTIONS_CHECKS } from "./checks_functions.ts";
import { GENERATE_CONTENT_KEYS_CHECKS } from "./checks_keys.ts";
import { GENERATE_CONTENT_MODEL_CHECKS } from "./checks_models.ts";
import { GENERATE_CONTENT_REFUSAL_CHECKS } from "./checks_refusals.ts";
import { GENERATE_CONTENT_SETTINGS_CHECKS } from "./checks_settings.ts";
import { GENERATE_CONTENT_STREAM_CHECKS } from "./checks_stream.ts";
import { INCOMPLETE, WITHOUT_CONTENT } from "./scenarios.ts";
import { contentSignatures } from "./signatures.ts";

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

const ONE_CANDIDATE = fieldsOf(OBJECTS, {
  candidates: right(
    "one candidate",
    (value) => Array.isArray(value) && value.length === 1,
    { none: [] },
  ),
  "candidates.0.index": optional(literal(0)),
});

const COUNT_TYPES = fieldsOf(
  OBJECTS,
  Object.fromEntries(
    ["prompt", "candidates", "thoughts", "total"].map((
      name,
    ) => [`usageMetadata.${name}TokenCount`, optional(whole(0))]),
  ),
);

/** The parts; a fault reaches only those that have the member around it. */
const PARTS: Place = {
  objects: (x) => partsOf(x).map((json) => ({ json })),
  put: (path, value) =>
    inParts((part) => {
      const [outer = "", inner] = path.split(".");
      return inner !== undefined && part[outer] === undefined
        ? part
        : withAt(part, path, valueOf(value, part));
    }),
};
const PART_MEMBERS = fieldsOf(PARTS, {
  "functionCall.id": optional(words("a string")),
  thoughtSignature: optional(words("a string")),
  thought: optional(
    right("a boolean", (value) => typeof value === "boolean", { text: "true" }),
  ),
});

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

function answered(e: Evidence): readonly Exchange[] {
  return everyContentReply(e).filter((x) =>
    !WITHOUT_CONTENT.includes(nameOf(x))
  );
}

/** These rules for replies that a real model seldom gives, too. */
function alsoRare(
  checks: readonly Check[],
  ids: readonly string[],
): readonly Check[] {
  return checks.flatMap((check) =>
    ids.includes(check.id)
      ? [check, {
        ...check,
        id: `${check.id}-rare`,
        mode: "replay",
        reads: [CONTENTS, "generate-content-ends", "generate-content-long"],
      }]
      : [check]
  );
}

/** All checks of the format. */
export const GENERATE_CONTENT_CHECKS: readonly Check[] = [
  ...checksOfEvery("generate_content_reply"),
  ...checksOfEvery("generate_content_stream"),
  ...checksOfEvery("generate_content_array"),
  ...checksOfEvery("generate_content"),
  ...alsoRare(
    checksWith({
      section: "Generate content reply",
      mode: "both",
      needs: "generate-content",
      reads: [REPLIES],
      of: answered,
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
        id: "generate_content.one-candidate",
        rule:
          "A request for one candidate gets one, whose `index` is 0 or absent.",
        source: "https://ai.google.dev/api/generate-content, Candidate",
        each: ONE_CANDIDATE.each,
        misses: {
          ...ONE_CANDIDATE.misses,
          doubled: inObjects((object) => ({
            ...object,
            candidates: [
              ...listAt(object, "candidates"),
              ...listAt(object, "candidates"),
            ],
          })),
        },
      },
      {
        id: "generate_content.count-types",
        rule: "Token counts are whole numbers, wherever they are told.",
        source: "https://ai.google.dev/api/generate-content, UsageMetadata",
        ...COUNT_TYPES,
      },
      {
        id: "generate_content.part-members",
        rule:
          "`id` of a call and `thoughtSignature` are strings, `thought` is a boolean; each may be absent.",
        source: "https://ai.google.dev/api/caching, Part",
        mode: "replay",
        reads: KNOWN,
        of: (e: Evidence) =>
          everyContentReply(e).filter((x) => partsOf(x).length > 0),
        ...PART_MEMBERS,
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
          "kind-none": inParts(({ text: _, functionCall: __, ...part }) =>
            part
          ),
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
            candidatesTokenCount:
              (numberAt(usage, "candidatesTokenCount") ?? 0) +
              (numberAt(usage, "thoughtsTokenCount") ?? 0),
            thoughtsTokenCount: 0,
          })),
          "twice": inUsage((usage) => ({
            ...usage,
            candidatesTokenCount:
              (numberAt(usage, "candidatesTokenCount") ?? 0) +
              (numberAt(usage, "thoughtsTokenCount") ?? 0),
          })),
        },
      },
      {
        id: "generate_content.cache-counted",
        rule:
          "`cachedContentTokenCount` is the part of the prompt from a cache.",
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
          const isThought = (part: Json): boolean =>
            at(part, "thought") === true;
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
        reads: KNOWN,
        of: (e: Evidence) =>
          everyContentReply(e).filter((x) =>
            x.via === "generate_content" &&
            contentSignatures(nameOf(x)).length > 0
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
          lost: inParts(({ thoughtSignature: _, ...part }) => part),
          cut: inParts((part) =>
            part["thoughtSignature"] === undefined ? part : {
              ...part,
              thoughtSignature: textAt(part, "thoughtSignature").slice(0, -2),
            }
          ),
          twice: inParts((part) => ({ ...part, thoughtSignature: "Erx0aG==" })),
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
          "none": inCandidates(({ finishReason: _, ...candidate }) =>
            candidate
          ),
        },
      },
      {
        id: "generate_content.block-reason",
        rule: "`blockReason` is a word of the format.",
        source: "https://ai.google.dev/api/generate-content, BlockReason",
        mode: "replay",
        reads: ["generate-content-ends"],
        of: (e: Evidence) => everyContentReply(e, "blocked"),
        ...fieldOf(BLOCKED, "promptFeedback.blockReason", oneOf(BLOCK_REASONS)),
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
    ]),
    [
      "generate_content.members",
      "generate_content.candidate",
      "generate_content.one-candidate",
      "generate_content.parts",
      "generate_content.count-types",
    ],
  ),
  ...alsoRare(GENERATE_CONTENT_STREAM_CHECKS, [
    "generate_content.frames",
    "generate_content.one-id",
    "generate_content.one-end",
  ]),
  ...GENERATE_CONTENT_CONVERSATION_CHECKS,
  ...GENERATE_CONTENT_SETTINGS_CHECKS,
  ...GENERATE_CONTENT_FUNCTIONS_CHECKS,
  ...GENERATE_CONTENT_KEYS_CHECKS,
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
