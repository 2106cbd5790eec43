/** Reads replies of the Responses format, whole and streamed. */
import type { Exchange, Frame } from "../../evidence/exchange.ts";
import { at, listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import type { ReadContent } from "../../../replay/content_of.ts";
import { type Json, parseJson } from "../../../replay/json.ts";
import type { StopCause } from "../../../replay/neutral_reply.ts";
import type { Evidence } from "../../suite/evidence.ts";

/** The `type` of a frame's data. */
export function typeOf({ json }: Frame): string {
  return textAt(json, "type");
}

/** The last state of the reply: the body, or the one in the last frame that has any. */
export function responseOf(x: Exchange): Json | undefined {
  return x.frames.length === 0 ? x.json : at(
    x.frames.findLast(({ json }) => at(json, "response") !== undefined)?.json,
    "response",
  );
}

/** The replies of both forms with these names; "*" is all of them. */
export function repliesOf(e: Evidence, name = "*"): readonly Exchange[] {
  return [
    ...e.replies(`responses/*/whole/${name}`),
    ...streamsOf(e, name),
  ];
}

/** The streams with these names. */
export function streamsOf(e: Evidence, name = "*"): readonly Exchange[] {
  return e.streams(`responses/*/stream/${name}`);
}

/** The name of a request: the last part of its label. */
export function nameOf({ label }: Exchange): string {
  return label.split("/").at(-1) ?? "";
}

/** The output items of a reply. */
export function itemsOf(x: Exchange): readonly Json[] {
  return listAt(responseOf(x), "output");
}

/** The items of these types. */
export function itemsOfType(x: Exchange, ...types: string[]): readonly Json[] {
  return itemsOf(x).filter((item) => types.includes(textAt(item, "type")));
}

/** The calls of a reply. */
export function callsOf(x: Exchange): readonly Json[] {
  return itemsOfType(x, "function_call", "custom_tool_call");
}

/** All texts of the parts of one type, joined. */
function joined(
  x: Exchange,
  type: string,
  path: string,
  field: string,
): string {
  return itemsOf(x).flatMap((item) => listAt(item, path))
    .filter((part) => textAt(part, "type") === type)
    .map((part) => textAt(part, field)).join("");
}

/** The text of a reply's messages. */
export function textOf(x: Exchange): string {
  return joined(x, "output_text", "content", "text");
}

const INCOMPLETE: Readonly<Record<string, StopCause>> = {
  max_output_tokens: "max_tokens",
  content_filter: "refusal",
};

/** The content of a reply. */
export function contentIn(x: Exchange): ReadContent {
  const reply = responseOf(x);
  const tools = itemsOfType(x, "function_call").map((call) => ({
    name: textAt(call, "name"),
    args: parseJson(textAt(call, "arguments")) ?? null,
  }));
  const usage = (path: string): number =>
    numberAt(reply, `usage.${path}`) ?? -1;
  const cached = usage("input_tokens_details.cached_tokens");
  return {
    text: textOf(x),
    thinking: joined(x, "summary_text", "summary", "text"),
    refusal: joined(x, "refusal", "content", "refusal"),
    tools,
    stop: at(reply, "status") === "completed"
      ? tools.length > 0 ? "tool_use" : "end"
      : INCOMPLETE[textAt(reply, "incomplete_details.reason")] ?? "other",
    stopSequence: null,
    usage: {
      input: usage("input_tokens") - cached,
      cacheRead: cached,
      cacheWrite: 0,
      output: usage("output_tokens"),
      reasoning: usage("output_tokens_details.reasoning_tokens"),
    },
  };
}
