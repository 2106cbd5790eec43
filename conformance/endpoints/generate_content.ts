/** The generate-content format: how its replies, whole and streamed, are read and changed. */
import { at, brief, numberAt, textAt } from "../evidence/json_path.ts";
import type { Exchange } from "../evidence/exchange.ts";
import type { JsonObject } from "@model-gateway/replay/json";
import type { StopCause } from "@model-gateway/replay/neutral_reply";
import {
  inCandidates,
  inObjects,
  inParts,
  inUsage,
} from "../faults/change_generate_content.ts";
import { withAt } from "../faults/change_reply.ts";
import { valueOf } from "../faults/field.ts";
import { fact } from "../suite/finding.ts";
import type { ContentForm } from "../suite/content_requests.ts";
import {
  BLOCKED,
  contentIn,
  contentReplies,
  expectedContent,
  framedObjects,
  lastOf,
  nameOf,
  objectsOf,
  partsOf,
  reasonOf,
} from "./read_generate_content.ts";
import { count, type Counts, type ReplyForm } from "./reply_form.ts";

const ENDS: Readonly<Record<StopCause, readonly string[]>> = {
  end: ["STOP"],
  tool_use: ["STOP"],
  stop_sequence: ["STOP"],
  max_tokens: ["MAX_TOKENS"],
  context_window: ["MAX_TOKENS"],
  refusal: [
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    BLOCKED,
  ],
  // Its word for an end that has no other.
  pause: ["OTHER"],
  other: ["OTHER"],
};

function isText(part: JsonObject): boolean {
  return textAt(part, "text") !== "" && part["thought"] !== true;
}

/** The text of the reply's usage, as the upstream counts. */
function counts(x: Exchange): string {
  const usage = at(lastOf(x), "usageMetadata");
  const of = (name: string): number => numberAt(usage, name) ?? 0;
  return brief([
    of("promptTokenCount") + of("toolUsePromptTokenCount"),
    of("cachedContentTokenCount"),
    of("candidatesTokenCount") + of("thoughtsTokenCount"),
  ]);
}

function essence(x: Exchange): string {
  const { text, thinking, tools } = contentIn(x);
  return brief([text, thinking, tools, reasonOf(x), counts(x)], 1e6);
}

function formOf(form: ContentForm): ReplyForm {
  const isStream = form !== "whole";
  const where = isStream ? "streams" : "whole";
  return {
    area: {
      whole: "generate_content_reply",
      stream: "generate_content_stream",
      array: "generate_content_array",
    }[form],
    needs: "generate-content",
    endpoint: "generate_content",
    isStream,
    ...(form === "array" ? { contentType: "application/json" } : {}),
    idPrefix: "",
    names: { id: "responseId", model: "modelVersion" },
    section: {
      whole: "Generate content reply",
      stream: "Generate content stream",
      array: "Generate content array",
    }[form],
    forms: ["generate-content-replies"],
    exact: ["generate-content-replies", "generate-content-contents"],
    unusual: { "in-pieces": ["generate-content-long"] },
    replies: (e) => contentReplies(e, form),
    fixture: nameOf,
    content: expectedContent,
    head: {
      objects: framedObjects,
      put: (path, value) =>
        inObjects(
          (object) => withAt(object, path, valueOf(value, object)),
          where,
        ),
    },
    text: (x) => contentIn(x).text,
    texts: ({ text, refusal }) => [text + refusal],
    stop: (x) => ({ value: reasonOf(x) }),
    stops: (x) => {
      const { stop, refusal } = expectedContent(x);
      // One vendor ends the words of a refusal as it ends an answer.
      return refusal === "" ? ENDS[stop] : [...ENDS[stop], ...ENDS.refusal];
    },
    stopWords: { end: "STOP", max_tokens: "MAX_TOKENS", refusal: "SAFETY" },
    usage: (x) => {
      const { input, cacheRead, cacheWrite, output } = expectedContent(x).usage;
      const expected = brief([
        input + cacheRead + cacheWrite,
        cacheRead,
        output,
      ]);
      const found = counts(x);
      return [fact(expected === found, "usageMetadata", expected, found, x)];
    },
    essence,
    pieces: (x) =>
      objectsOf(x).filter((object) =>
        partsOf({ ...x, frames: [], json: object }).some((part) =>
          textAt(part, "text") !== ""
        )
      ).length,
    hasText: (data) =>
      textAt(data, "candidates.0.content.parts.0.text") !== "" &&
      at(data, "candidates.0.content.parts.0.thought") !== true,
    changeText: (change) =>
      inParts((part, x) =>
        isText(part)
          ? {
            ...part,
            text: change(textAt(part, "text"), count(x, "texts"), x),
          }
          : part, where),
    changeStop: (from, to) =>
      inCandidates(
        (candidate) =>
          candidate["finishReason"] === from
            ? { ...candidate, finishReason: to }
            : candidate,
        where,
      ),
    changeUsage: (change) =>
      inUsage((usage) => {
        const of = (name: string): number => numberAt(usage, name) ?? 0;
        const thoughts = of("thoughtsTokenCount");
        const all: Counts = {
          input: of("promptTokenCount"),
          output: of("candidatesTokenCount") + thoughts,
          cached: of("cachedContentTokenCount"),
        };
        const { input, output } = change(all);
        return {
          ...usage,
          promptTokenCount: input,
          candidatesTokenCount: output - thoughts,
        };
      }, where),
  };
}

export const GENERATE_CONTENT_REPLY: ReplyForm = formOf("whole");

/** Event streams of it. */
export const GENERATE_CONTENT_STREAM: ReplyForm = {
  ...formOf("stream"),
  whole: GENERATE_CONTENT_REPLY,
};

/** Streams of it that are one JSON array. */
export const GENERATE_CONTENT_ARRAY: ReplyForm = {
  ...formOf("array"),
  whole: GENERATE_CONTENT_REPLY,
};
