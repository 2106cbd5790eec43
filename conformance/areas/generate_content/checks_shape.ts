/** Checks of the area `generate_content`: the members of every reply. */
import {
  everyContentReply,
  framedObjects,
  lastOf,
  nameOf,
  objectsOf,
  partsOf,
} from "../../endpoints/read_generate_content.ts";
import { at, listAt, textAt } from "../../evidence/json_path.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { isObject, type Json } from "@model-gateway/replay/json";
import { inObjects, inParts } from "../../faults/change_generate_content.ts";
import { withAt } from "../../faults/change_reply.ts";
import {
  fieldsOf,
  IS_STRING,
  literal,
  objects,
  optional,
  type Place,
  right,
  valueOf,
  whole,
  words,
} from "../../faults/field.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { factOf } from "../../suite/finding.ts";
import { WITHOUT_CONTENT } from "./scenarios.ts";

const REPLIES = "generate-content-replies";
const KNOWN = [REPLIES, "generate-content-contents"];

/** The objects of a reply that are chosen, as a place of fields. */
function place(choose: (x: Exchange) => readonly Json[]): Place {
  return {
    objects: (x) => choose(x).map((json) => ({ json })),
    put: (path, value) =>
      inObjects((object) => withAt(object, path, valueOf(value, object))),
  };
}

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

function answered(e: Evidence): readonly Exchange[] {
  return everyContentReply(e).filter((x) =>
    !WITHOUT_CONTENT.includes(nameOf(x))
  );
}

export const GENERATE_CONTENT_SHAPE_CHECKS: readonly Check[] = checksWith({
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
    rule: "A request for one candidate gets one, whose `index` is 0 or absent.",
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
      return factOf("part", wrong ?? partsOf(x)[0], x).mustBe(
        "of one kind",
        wrong === undefined && partsOf(x).length > 0,
      );
    },
    misses: {
      "kinds-two": inParts({
        inlineData: {},
        text: "",
        functionCall: { name: "f" },
      }),
      "kind-none": inParts({ text: undefined, functionCall: undefined }),
      "text-null": inParts({ text: null }),
      "args-text": inParts((part) =>
        part["functionCall"] === undefined
          ? { functionCall: { name: "f", args: "{}" } }
          : withAt(part, "functionCall.args", "{}")
      ),
    },
  },
]);
