/** Reads what the chat endpoint sent, whole and streamed, for the checks of the areas `chat_reply`, `chat_stream` and `tools`. */
import { fixtureSays } from "../evidence/content.ts";
import type { Exchange, Frame } from "../evidence/exchange.ts";
import { at, listAt, textAt } from "../evidence/json_path.ts";
import type { ReadContent } from "../replay/content_of.ts";
import { isObject, type Json, parseJson } from "../replay/json.ts";
import type { StopCause } from "../replay/said.ts";
import type { Evidence } from "../suite/evidence.ts";
import { fact, type Finding, NotTestable } from "../suite/finding.ts";

/** The exchanges of the chat endpoint of that form, with or without a fixture in the label. */
function ofForm(e: Evidence, form: string): string[] {
  const labels = e.exchanges.map(({ label }) => label).filter((label) => {
    const [endpoint, , how] = label.split("/");
    return endpoint === "chat" && how === form;
  });
  if (labels.length === 0) {
    throw new NotTestable(`the chat endpoint was asked for no ${form} reply`);
  }
  return [...new Set(labels)];
}

/** All whole replies of the chat endpoint. */
export function chatReplies(e: Evidence): readonly Exchange[] {
  return ofForm(e, "whole").flatMap((label) => e.replies(label));
}

/** All streams of the chat endpoint that were asked for with usage. */
export function chatStreams(e: Evidence): readonly Exchange[] {
  return ofForm(e, "stream").flatMap((label) => e.streams(label));
}

/** The fixture that an exchange asked for. */
export function fixtureOf({ label }: Exchange): string {
  return label.split("/")[3] ?? "text";
}

/** What the upstream said in an exchange. */
export function saidTo(x: Exchange): ReadContent {
  return fixtureSays(fixtureOf(x), x.via);
}

/** True for a content type of that kind, in UTF-8 when it tells the characters. */
export function isType(kind: string, type: string | undefined): boolean {
  const [told = "", ...parameters] = (type ?? "").toLowerCase().split(";")
    .map((part) => part.trim());
  return told === kind &&
    parameters.every((parameter) =>
      !parameter.startsWith("charset") ||
      /^charset="?utf-?8"?$/.test(parameter)
    );
}

/** The model that an exchange asked for. */
export function modelAsked({ request }: Exchange): string {
  return textAt(parseJson(request.body), "model");
}

/** The chunks of a stream that hold a choice. */
export function chunksWithChoice(x: Exchange): readonly Frame[] {
  return x.frames.filter(({ json }) => listAt(json, "choices").length > 0);
}

/** True for a chunk that tells why the reply ended. */
export function finishes({ json }: Frame): boolean {
  return listAt(json, "choices").some((choice) =>
    (at(choice, "finish_reason") ?? null) !== null
  );
}

/** The text that a reader of a whole reply finds; a refusal that stands apart is text. */
export function textOfReply({ json }: Exchange): string {
  return textAt(json, "choices.0.message.content") +
    textAt(json, "choices.0.message.refusal");
}

/** The text that a reader of a stream joins; a refusal that stands apart is text. */
export function textOfStream(x: Exchange): string {
  return ["content", "refusal"].map((key) =>
    x.frames.map(({ json }) => textAt(json, `choices.0.delta.${key}`)).join("")
  ).join("");
}

/** All text of a fixture. */
export function textSaid(said: ReadContent): string {
  return said.text + said.refusal;
}

const FINISH: Readonly<Record<StopCause, readonly string[]>> = {
  end: ["stop"],
  max_tokens: ["length"],
  stop_sequence: ["stop"],
  tool_use: ["tool_calls"],
  refusal: ["content_filter"],
  pause: ["stop"],
  context_window: ["length"],
  other: [],
};

/** The finish reasons that tell what an exchange's fixture says; none when every reason is as good. */
export function finishesFor(x: Exchange): readonly string[] {
  const said = saidTo(x);
  if (said.refusal !== "") return [...FINISH[said.stop], "content_filter"];
  // The vendor of this dialect itself tells `stop` after a call that was demanded by name.
  return fixtureOf(x) === "stop-with-tools" && x.via === "chat_completions"
    ? ["tool_calls", "stop"]
    : FINISH[said.stop];
}

/** The stop causes that the specification has names for. */
const SPECIFIED: readonly StopCause[] = [
  "end",
  "max_tokens",
  "stop_sequence",
  "tool_use",
];

/** True when what ended an exchange's fixture has a name in the specification. */
export function isSpecified(x: Exchange): boolean {
  return SPECIFIED.includes(saidTo(x).stop);
}

/** The reasons that the format documents. */
export const FINISH_REASONS: readonly string[] = [
  "stop",
  "length",
  "tool_calls",
  "content_filter",
  "function_call",
];

/** A figure of the usage and what it must be. */
export function usageFacts(
  x: Exchange,
  usage: Json | undefined,
  frame?: Frame,
): Finding[] {
  const { input, cacheRead, cacheWrite, output } = saidTo(x).usage;
  const prompt = input + cacheRead + cacheWrite;
  const figures = {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
  };
  return Object.entries(figures).map(([name, expected]) => {
    const found = at(usage, name);
    return fact(
      found === expected,
      `usage.${name}`,
      `${expected}`,
      found,
      x,
      frame,
    );
  });
}

/** One finding for all frames: the first that is at fault, or a pass. */
export function everyFrame(
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

/** The chunks of a stream: every frame but the end mark. */
export function chunksOf(x: Exchange): readonly Frame[] {
  const chunks = x.frames.filter(({ data }) => data !== "[DONE]");
  if (chunks.length === 0) throw new NotTestable("no chunk came", x);
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
