/** Checks of the area `generate_content`: what both forms of stream have beside a whole reply. */
import { changeParts } from "../../faults/change_hooks.ts";
import {
  callsOf,
  contentIn,
  contentReplies,
  everyContentReply,
  expectedContent,
  formOf,
  nameOf,
  objectsOf,
} from "../../endpoints/read_generate_content.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { at, brief, textAt } from "../../evidence/json_path.ts";
import { fixtureContent } from "../../evidence/content.ts";
import { isObject } from "@model-gateway/replay/json";
import {
  inCandidates,
  inErrors,
  inObjects,
} from "../../faults/change_generate_content.ts";
import { frames } from "../../faults/change_reply.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { fact, factOf, some } from "../../suite/finding.ts";
import { count } from "../../endpoints/reply_form.ts";
import { WITHOUT_CONTENT } from "./scenarios.ts";

/** The streams of both forms that were answered 200. */
function streams(e: Evidence): readonly Exchange[] {
  return everyContentReply(e).filter((x) =>
    formOf(x) !== "whole" && !WITHOUT_CONTENT.includes(nameOf(x))
  );
}

function broken(e: Evidence): readonly Exchange[] {
  return e.exchanges.filter(({ head }) => head?.status === 200);
}

/** The text before a stream's end, whether it is one JSON array or not. */
function textOf(x: Exchange): string {
  return contentIn(x).text;
}

/** A failed stream ends as if the reply were complete. */
const FAILED_AS_END: Hooks = changeParts(
  "failed",
  () => ({ type: "stop", cause: "end" }),
  { endpoint: "generate_content" },
);

export const GENERATE_CONTENT_STREAM_CHECKS: readonly Check[] = checksWith({
  section: "Generate content stream",
  mode: "both",
  needs: "generate-content",
  reads: ["generate-content-replies"],
  of: streams,
}, [
  {
    id: "generate_content.frames",
    rule: "Every frame has no name, and its data is one object.",
    of: (e: Evidence) => contentReplies(e, "stream"),
    each: (x) => {
      const odd = x.frames.find(({ event, json }) =>
        event !== undefined || !isObject(json)
      );
      return factOf(
        "frame",
        odd?.data ?? `${x.frames.length} frames`,
        x,
        odd,
      )
        .mustBe(
          "data alone, an object",
          odd === undefined && x.frames.length > 0,
        );
    },
    misses: {
      named: {
        frame: (frame, { endpoint }) =>
          endpoint === "generate_content"
            ? [{ ...frame, event: "message" }]
            : [frame],
      },
      done: {
        frame: (frame, { endpoint }) =>
          endpoint === "generate_content" && typeof frame.data !== "string" &&
            at(frame.data, "candidates.0.finishReason") !== undefined
            ? [frame, { data: "[DONE]" }]
            : [frame],
      },
      arrays: {
        wire: (text, { endpoint }) =>
          endpoint === "generate_content" && text.startsWith("data: ")
            ? `data: [${text.slice(6).trimEnd()}]\n\n`
            : text,
      },
    },
  },
  {
    id: "generate_content.one-id",
    rule: "All objects of a stream have one `responseId`.",
    level: "convention",
    each: (x) => {
      const ids = new Set(
        objectsOf(x).map((each) => textAt(each, "responseId")),
      );
      return factOf("responseId", [...ids], x).mustBe(
        "one",
        ids.size === 1,
      );
    },
    misses: {
      counted: inObjects((object, x) => ({
        ...object,
        responseId: `id-${count(x, "objects")}`,
      })),
    },
  },
  {
    id: "generate_content.one-end",
    rule:
      "The last object alone has a `finishReason`, and it has the token counts.",
    each: (x) => {
      const all = objectsOf(x);
      const ends = all.map((each) => textAt(each, "candidates.0.finishReason"));
      return factOf("finish reasons", ends, x).mustBe(
        "one, in the last object, with usageMetadata",
        ends.at(-1) !== "" && ends.filter((end) => end !== "").length === 1 &&
          isObject(at(all.at(-1), "usageMetadata")),
      );
    },
    misses: {
      every: inCandidates({ finishReason: "STOP" }),
      none: inCandidates({ finishReason: undefined }),
      early: frames(
        "generate_content",
        (data, _, frame) =>
          at(data, "candidates.0.finishReason") === undefined
            ? data
            : [frame, { data: { ...data, candidates: [] } }],
      ),
      uncounted: inObjects({ usageMetadata: undefined }),
    },
  },
  {
    id: "generate_content.calls-whole",
    rule: "A call arrives whole, in one part.",
    mode: "replay",
    each: (x) => {
      const expected = expectedContent(x).tools.length;
      const calls = callsOf(x);
      return factOf("calls", calls, x).mustBe(
        `${expected} with objects as arguments`,
        calls.length === expected &&
          calls.every((call) => isObject(at(call, "args"))),
      );
    },
    misses: {
      "in-pieces": changeParts(
        "tool",
        (part) => [part, { type: "text", text: " " }, {
          ...part,
          call: part.call + 50,
        }],
        { endpoint: "generate_content" },
      ),
    },
  },
  {
    id: "generate_content.array-of-objects",
    section: "Generate content array",
    rule: "Each of its elements is one object of the reply's form.",
    of: (e: Evidence) => contentReplies(e, "array"),
    each: (x) => {
      const elements = Array.isArray(x.json) ? x.json : [];
      return factOf("elements", brief(elements), x).mustBe(
        "objects, at least one",
        elements.length > 0 && elements.every((each) => isObject(each)),
      );
    },
    misses: {
      nested: {
        wire: (text, { endpoint }) =>
          endpoint === "generate_content"
            ? text.replace(/^([[,]\s*)(\{.*\})$/s, "$1[$2]")
            : text,
      },
      empty: {
        frame: (frame, { endpoint }) =>
          endpoint === "generate_content" ? [] : [frame],
      },
    },
  },
  {
    id: "generate_content.broken",
    rule:
      "After an upstream's failure the last object has `error`, and no object has a `finishReason`.",
    level: "convention",
    mode: "replay",
    reads: ["generate-content-broken"],
    of: broken,
    judge: (e) =>
      some(
        broken(e).map((x) => {
          const all = objectsOf(x);
          return factOf("the end", brief(all.slice(-2), 400), x).mustBe(
            "one error and no finishReason",
            textAt(all.at(-1), "error.message") !== "" &&
              all.filter((each) => each["error"] !== undefined).length === 1 &&
              all.every((each) =>
                at(each, "candidates.0.finishReason") === undefined
              ),
          );
        }),
        "a stream that broke",
      ),
    misses: {
      "as-end": FAILED_AS_END,
      "twice": frames(
        "generate_content",
        (data, _, frame) => data["error"] === undefined ? data : [frame, frame],
      ),
      "silent": frames(
        "generate_content",
        (data) => data["error"] === undefined ? data : undefined,
      ),
      "then-end": frames(
        "generate_content",
        (data, _, frame) =>
          data["error"] === undefined ? data : [frame, {
            data: { candidates: [{ finishReason: "STOP", index: 0 }] },
          }],
      ),
    },
  },
  {
    id: "generate_content.broken-array",
    section: "Generate content array",
    rule: "It is one JSON array also where the upstream failed.",
    level: "convention",
    mode: "replay",
    reads: ["generate-content-broken"],
    judge: (e) =>
      some(
        broken(e).filter((x) => formOf(x) === "array").map((x) =>
          factOf("body", x.text.slice(-200), x).mustBe(
            "a JSON array",
            Array.isArray(x.json) && x.ending === "complete",
          )
        ),
        "an array that broke",
      ),
    misses: {
      cut: {
        writer: (writer, x) =>
          x.endpoint === "generate_content" && x.stream
            ? {
              ...writer,
              piece: (bytes) => {
                if (new TextDecoder().decode(bytes) !== "]") {
                  writer.piece(bytes);
                }
              },
            }
            : writer,
      },
    },
  },
  {
    id: "generate_content.broken-text",
    rule: "The text before the failure stays in the stream.",
    level: "contract",
    mode: "replay",
    reads: ["generate-content-broken"],
    judge: (e) =>
      some(
        broken(e).map((x) => {
          const full = fixtureContent("text", x.via).text;
          return fact(
            full.startsWith(textOf(x)) && textOf(x) !== "",
            "text",
            `the beginning of: ${full}`,
            textOf(x),
            x,
          );
        }),
        "a stream that broke",
      ),
    misses: {
      "error-as-text": changeParts(
        "failed",
        (part) => [{ type: "text", text: part.problem.message }, part],
        { endpoint: "generate_content" },
      ),
      lost: changeParts("text", () => [], { endpoint: "generate_content" }),
    },
  },
  {
    id: "generate_content.broken-status",
    section: "Generate content errors",
    rule:
      "An error inside a stream has the members of a refusal, and its `code` is that of a failure.",
    level: "convention",
    mode: "replay",
    reads: ["generate-content-broken"],
    judge: (e) =>
      some(
        broken(e).map((x) => {
          const error = at(objectsOf(x).at(-1), "error");
          const code = at(error, "code");
          return factOf("error", error, x).mustBe(
            "code from 500 on, message and status",
            Number.isInteger(code) && Number(code) >= 500 &&
              /^[A-Z_]+$/.test(textAt(error, "status")) &&
              textAt(error, "message") !== "",
          );
        }),
        "a stream that broke",
      ),
    misses: {
      "code-200": inErrors({ code: 200 }),
      "code-text": inErrors({ code: "502" }),
      "status-lost": inErrors({ status: undefined }),
      "status-small": inErrors({ status: "internal" }),
    },
  },
]);
