/** Check of the area `generate_content`: every object of all replies, in all three forms. */
import {
  framedObjects,
  objectsOf,
} from "../../endpoints/read_generate_content.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { at, listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import {
  inCandidates,
  inObjects,
} from "../../faults/change_generate_content.ts";
import { withAt } from "../../faults/change_reply.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { factOf, some } from "../../suite/finding.ts";

/** Counts that make up the total. */
const COUNTS = ["prompt", "candidates", "thoughts", "toolUsePrompt"];

const isCount = (value: Json | undefined): boolean =>
  Number.isInteger(value) && Number(value) >= 0;

const isWord = (value: Json | undefined): boolean =>
  typeof value === "string" && value !== "";

/** What is wrong with a usage; undefined where it is right. */
function wrongUsage(usage: JsonObject): string | undefined {
  for (const [name, value] of Object.entries(usage)) {
    if (name.endsWith("TokenCount") && !isCount(value)) return name;
    if (name.endsWith("TokensDetails") && !isDetails(value)) return name;
  }
  const total = usage["totalTokenCount"];
  const sum = COUNTS.reduce(
    (all, name) => all + (numberAt(usage, `${name}TokenCount`) ?? 0),
    0,
  );
  return total === undefined || total === sum ? undefined : "totalTokenCount";
}

function isDetails(value: Json | undefined): boolean {
  return Array.isArray(value) &&
    value.every((each: Json) =>
      isWord(at(each, "modality")) &&
      isCount(at(each, "tokenCount") ?? 0)
    );
}

/** Whether an object ends the reply: with a reason, or because the prompt is refused. */
function isEnd(object: Json | undefined): boolean {
  return textAt(object, "candidates.0.finishReason") !== "" ||
    textAt(object, "promptFeedback.blockReason") !== "";
}

/** What is wrong with an object; undefined where it is right. */
function wrongIn(object: JsonObject, first: JsonObject): string | undefined {
  for (const name of ["modelVersion", "responseId"]) {
    if (!isWord(object[name]) || object[name] !== first[name]) return name;
  }
  const usage = object["usageMetadata"];
  const wrong = usage === undefined ? undefined : wrongUsage(objectOf(usage));
  if (wrong !== undefined) return `usageMetadata.${wrong}`;
  const candidates = listAt(object, "candidates");
  if (isObject(object["promptFeedback"])) return undefined;
  const [candidate] = candidates;
  if (candidates.length !== 1 || (at(candidate, "index") ?? 0) !== 0) {
    return "candidates";
  }
  // A vendor that stops a reply for its safety sends no parts.
  const content = at(candidate, "content");
  const isBare = isEnd(object) &&
    (content === undefined || isObject(content)) &&
    at(content, "parts") === undefined;
  const role = at(content, "role");
  if (role !== "model" && !(isBare && role === undefined)) {
    return "candidates.0.content.role";
  }
  return isBare || Array.isArray(at(content, "parts"))
    ? undefined
    : "candidates.0.content.parts";
}

/** The complete replies without an error in them, and what is not a list of models or a count. */
function repliesIn(exchanges: readonly Exchange[]): readonly Exchange[] {
  return exchanges.filter((x) =>
    x.endpoint === "generate_content" && x.request.method === "POST" &&
    x.head?.status === 200 && x.ending === "complete" &&
    /:(stream)?generateContent\b/i.test(x.request.path) &&
    objectsOf(x).length > 0 &&
    !objectsOf(x).some((object) => object["error"] !== undefined)
  );
}

export const EVERY_OBJECT_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  needs: "generate-content",
  reads: "everything",
  provedBy: ["generate-content-replies"],
  of: (e) => some(repliesIn(e.exchanges), "of the generate-content format"),
}, [{
  id: "generate_content.every-object",
  source: "https://ai.google.dev/api/generate-content, GenerateContentResponse",
  rule:
    "Every object of a reply has its model and its id, one candidate, and counts that add up; the last one, and no other, ends it.",
  each: (x) => {
    const objects = framedObjects(x);
    const first = objectOf(objects[0]?.json);
    const last = objects.at(-1)?.json;
    const bad = objects.find(({ json }) =>
      wrongIn(objectOf(json), first) !== undefined
    );
    const ends = objects.flatMap(({ json }, index) =>
      isEnd(json) ? [index] : []
    );
    return [
      factOf(
        "object",
        bad?.json ?? `${objects.length}`,
        x,
        bad?.frame,
      ).mustBe(
        `right, with ${wrongIn(objectOf(bad?.json), first) ?? "all members"}`,
        bad === undefined,
      ),
      factOf("objects that end the reply", ends, x).mustBe(
        `the last one, ${objects.length - 1}`,
        ends.length === 1 && ends[0] === objects.length - 1,
      ),
      factOf("usageMetadata", at(last, "usageMetadata"), x).mustBe(
        "the tokens of the prompt and of all at the end",
        ["prompt", "total"].every((name) =>
          Number(at(last, `usageMetadata.${name}TokenCount`)) >= 1
        ),
      ),
    ];
  },
  misses: {
    ...Object.fromEntries(
      ([
        ["modelVersion", null],
        ["responseId", "another"],
        ["usageMetadata.totalTokenCount", 1],
        ["usageMetadata.promptTokenCount", "11"],
        ["usageMetadata.promptTokensDetails", [{ tokenCount: 1 }]],
        ["candidates.0.content", null],
        ["candidates.0.content.role", "assistant"],
        ["candidates.0.index", 1],
      ] as const).map(([path, value]) => [
        path,
        inObjects((object) =>
          object["usageMetadata"] === undefined
            ? object
            : withAt(object, path, value)
        ),
      ]),
    ),
    "usage-lost": inObjects({ usageMetadata: undefined }),
    "ends-early": inCandidates({ finishReason: "STOP" }, "streams"),
    "no-end": inCandidates({ finishReason: undefined }),
  },
}]);
