/**
 * Reads whole and streamed replies of the chat endpoint, for the checks of the areas `chat_reply`,
 * `chat_stream` and `tools`.
 */
import { compare, fact, type Finding, NotTestable } from "../suite/finding.ts";
import { fixtureContent } from "../evidence/content.ts";
import type { Exchange, Frame } from "../evidence/exchange.ts";
import { at, listAt, textAt } from "../evidence/json_path.ts";
import type { ReadContent } from "@model-gateway/replay/content_of";
import { isObject, type Json } from "@model-gateway/replay/json";
import type { StopCause } from "@model-gateway/replay/neutral_reply";
import type { Evidence } from "../suite/evidence.ts";

/** The exchanges of the chat endpoint with that form, with or without a fixture in the label. */
function ofForm(e: Evidence, form: string): string[] {
  const labels = e.exchanges.map(({ label }) => label).filter((label) => {
    const [endpoint, , how] = label.split("/");
    return endpoint === "chat" && how === form;
  });
  if (labels.length === 0) {
    throw new NotTestable(
      `no ${form} reply was requested from the chat endpoint`,
    );
  }
  return [...new Set(labels)];
}

export function chatReplies(e: Evidence): readonly Exchange[] {
  return ofForm(e, "whole").flatMap((label) => e.replies(label));
}

/** All streams of the chat endpoint that were requested with usage. */
export function chatStreams(e: Evidence): readonly Exchange[] {
  return ofForm(e, "stream").flatMap((label) => e.streams(label));
}

export function fixtureOf({ label }: Exchange): string {
  return label.split("/")[3] ?? "text";
}

export function fixtureContentOf(x: Exchange): ReadContent {
  return fixtureContent(fixtureOf(x), x.via);
}

/** The chunks of a stream that hold a choice. */
export function chunksWithChoice(x: Exchange): readonly Frame[] {
  return x.frames.filter(({ json }) => listAt(json, "choices").length > 0);
}

export function finishes({ json }: Frame): boolean {
  return listAt(json, "choices").some((choice) =>
    (at(choice, "finish_reason") ?? null) !== null
  );
}

/** The text that a client finds in a whole reply, with a separate refusal counted as text. */
export function textOfReply({ json }: Exchange): string {
  return textAt(json, "choices.0.message.content") +
    textAt(json, "choices.0.message.refusal");
}

/** The text that a client joins from a stream, with a separate refusal counted as text. */
export function textOfStream(x: Exchange): string {
  return ["content", "refusal"].map((key) =>
    x.frames.map(({ json }) => textAt(json, `choices.0.delta.${key}`)).join("")
  ).join("");
}

const FINISH: Readonly<Record<StopCause, readonly string[]>> = {
  end: ["stop"],
  max_tokens: ["length"],
  stop_sequence: ["stop"],
  tool_use: ["tool_calls"],
  refusal: ["content_filter"],
  // The format has no word for a turn that the client must continue.
  pause: ["length", "stop"],
  context_window: ["length"],
  other: [],
};

/**
 * The finish reasons that are right for the fixture of an exchange; empty when any reason is
 * right.
 */
export function allowedFinishReasons(x: Exchange): readonly string[] {
  const content = fixtureContentOf(x);
  if (content.refusal !== "") {
    return [...FINISH[content.stop], "content_filter"];
  }
  // The vendor of this dialect itself sends `stop` after a call forced by name.
  return fixtureOf(x) === "stop-with-tools" && x.via === "chat_completions"
    ? ["tool_calls", "stop"]
    : FINISH[content.stop];
}

export const FINISH_REASONS: readonly string[] = [
  "stop",
  "length",
  "tool_calls",
  "content_filter",
  "function_call",
];

/** Findings about one figure of the usage. */
export function usageFacts(
  x: Exchange,
  usage: Json | undefined,
  frame?: Frame,
): Finding[] {
  const { input, cacheRead, cacheWrite, output } = fixtureContentOf(x).usage;
  const prompt = input + cacheRead + cacheWrite;
  const figures = {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
  };
  return Object.entries(figures).map(([name, expected]) => {
    const found = at(usage, name);
    return compare(`usage.${name}`, found, expected, x, frame);
  });
}

/** One finding for all frames: the first wrong one, or a pass. */
function everyFrame(
  x: Exchange,
  frames: readonly Frame[],
  what: string,
  expected: string,
  holds: (frame: Frame) => boolean,
): Finding {
  const bad = frames.find((frame) => !holds(frame));
  return bad === undefined
    ? fact(true, what, expected, `in ${frames.length} frames`, x)
    : fact(false, `frame ${bad.at} ${what}`, expected, bad.data, x, bad);
}

/** The same in two steps. */
export function inFrames(
  x: Exchange,
  frames: readonly Frame[],
  what: string,
): { mustBe(expected: string, holds: (frame: Frame) => boolean): Finding } {
  return {
    mustBe: (expected, holds) => everyFrame(x, frames, what, expected, holds),
  };
}

/** The chunks of a stream: every frame except `[DONE]`. */
export function chunksOf(x: Exchange): readonly Frame[] {
  const chunks = x.frames.filter(({ data }) => data !== "[DONE]");
  if (chunks.length === 0) throw new NotTestable("no chunk arrived", x);
  return chunks;
}

/** True when each choice of a chunk satisfies the test. */
export function choicesHold(
  { json }: Frame,
  test: (choice: Json) => boolean,
): boolean {
  return listAt(json, "choices").every((choice) =>
    isObject(choice) && test(choice)
  );
}
