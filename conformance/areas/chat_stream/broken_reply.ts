/**
 * Judges replies whose upstream broke off or failed: they must be reported as failed, or still be
 * right.
 */
import { fact, factOf, type Finding } from "../../suite/finding.ts";
import {
  contentOf,
  fixtureContent,
  fullContent,
  textAndCalls,
} from "../../evidence/content.ts";
import { type Exchange, isStream } from "../../evidence/exchange.ts";
import { at, textAt } from "../../evidence/json_path.ts";
import type { ReadContent } from "@model-gateway/replay/content_of";
import { isObject } from "@model-gateway/replay/json";

const FINISHED: readonly string[] = [
  "stop",
  "length",
  "tool_calls",
  "content_filter",
];

/** The frames that mark a reply as complete. */
function endsIn({ frames, endpoint }: Exchange): readonly string[] {
  return frames.filter(({ data, json }) =>
    endpoint === "chat"
      ? data === "[DONE]" ||
        FINISHED.includes(textAt(json, "choices.0.finish_reason"))
      : at(json, "type") === "message_stop" ||
        typeof at(json, "delta.stop_reason") === "string"
  ).map(({ data }) => data);
}

/**
 * The refusal of a whole reply, or of a stream before its first frame: a JSON error of status 500
 * to 599.
 */
function refused(x: Exchange): boolean {
  const status = x.head?.status ?? 0;
  return status >= 500 && status <= 599 && isObject(at(x.json, "error")) &&
    textAt(x.json, "error.message") !== "";
}

/** The position of the error in a stream; -1 when there is none. */
export function errorIn({ frames }: Exchange): number {
  return frames.findIndex(({ json }) => isObject(at(json, "error")));
}

/** True when the error of a stream has the shape that the format documents. */
function wellFormed(x: Exchange): boolean {
  const frame = x.frames[errorIn(x)];
  if (textAt(frame?.json, "error.message").trim() === "") return false;
  if (textAt(frame?.json, "error.type").trim() === "") return false;
  return x.endpoint === "chat"
    ? (frame?.event ?? "message") === "message" || frame?.event === "error"
    : frame?.event === "error" && at(frame.json, "type") === "error";
}

/**
 * Findings about a reply that failed: it must be refused, or be a stream with an error and nothing
 * after it.
 */
export function failed(x: Exchange, fixture: string): Finding[] {
  if (!isStream(x)) {
    return [
      factOf(
        "the reply",
        `${x.head?.status ?? x.ending}: ${x.text.slice(0, 120)}`,
        x,
      ).mustBe(
        "an error of status 500 to 599 with error.message, or a stream with an error",
        refused(x),
      ),
    ];
  }
  const ends = endsIn(x);
  const error = errorIn(x);
  const fullText = fixtureContent(fixture, x.via).text;
  const { text } = contentOf(x);
  return [
    factOf("frames that mark the reply as complete", ends[0] ?? "none", x)
      .mustBe("none", ends.length === 0),
    factOf(
      "the end",
      x.frames.at(-1)?.data ?? "nothing",
      x,
      x.frames.at(-1),
    )
      .mustBe(
        "an error in the stream, or a broken connection",
        error >= 0 || x.ending === "broken",
      ),
    factOf(
      "after the error",
      x.frames[error + 1]?.data ?? "nothing",
      x,
      error,
    )
      .mustBe("nothing", error < 0 || error === x.frames.length - 1),
    factOf("the error", x.frames[error]?.data ?? "none", x, error).mustBe(
      x.endpoint === "chat"
        ? "data with error.type and error.message"
        : "event: error, type error, error.type and error.message",
      error < 0 || wellFormed(x),
    ),
    factOf("the text before it", text, x).mustBe(
      `a beginning of: ${fullText}`,
      fullText.startsWith(text),
    ),
  ];
}

/** True when a stream ends in an error and no frame marks it as complete. */
function endsInError({ frames }: Exchange): boolean {
  return isObject(at(frames.at(-1)?.json, "error")) &&
    !frames.some(({ data, json }) =>
      data === "[DONE]" || at(json, "type") === "message_stop"
    );
}

/**
 * Findings about a reply that must be right or have failed. `tokens`: its token counts are known
 * and must be right, too.
 */
export function rightOrFailed(
  x: Exchange,
  fixture: string,
  tokens = true,
): Finding[] {
  const through = isStream(x) ? endsIn(x).length > 0 : x.head?.status === 200;
  if (!through) return failed(x, fixture);
  if (endsInError(x)) {
    const error = x.frames.at(-1)?.data ?? "";
    return [
      factOf("the error", error, x).mustBe(
        "the shape that the format documents",
        wellFormed(x),
      ),
    ];
  }
  const all = (content: ReadContent): string =>
    tokens ? fullContent(content) : textAndCalls(content);
  const expected = all(fixtureContent(fixture, x.via));
  const actual = all(contentOf(x));
  return [
    fact(expected === actual, "content", expected, actual, x),
    factOf("errors in the stream", x.frames[errorIn(x)]?.data ?? "none", x)
      .mustBe("none", errorIn(x) < 0),
    factOf(
      "frames",
      x.frames.find(({ data, json }) => data !== "[DONE]" && !isObject(json))
        ?.data ?? "JSON",
      x,
    ).mustBe(
      "JSON, but for [DONE]",
      x.frames.every(({ data, json }) => data === "[DONE]" || isObject(json)),
    ),
  ];
}
