/** Reads replies of the Responses format, whole and streamed. */
import type { Exchange, Frame } from "../evidence/exchange.ts";
import { at, listAt, textAt } from "../evidence/json_path.ts";
import {
  contentOfWhole,
  type ReadContent,
} from "@model-gateway/replay/content_of";
import { type Json, objectOf } from "@model-gateway/replay/json";
import { comparable, fixtureContent } from "../evidence/content.ts";
import { type Evidence, outcome } from "../suite/evidence.ts";
import { demanded, type Finding } from "../suite/finding.ts";

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
  return e.matching(`responses/*/*/${name}`).flatMap(({ label }) =>
    label.split("/")[2] === "stream" ? e.streams(label) : e.replies(label)
  );
}

export function streamsOf(e: Evidence, name = "*"): readonly Exchange[] {
  return e.streams(`responses/*/stream/${name}`);
}

/**
 * Judges the replies of both forms with these names. In a live run a refusal is unclear: the model
 * may not support what the request asks for.
 */
export function whereAccepted(
  e: Evidence,
  name: string,
  judge: (x: Exchange) => Finding | readonly Finding[],
): Finding[] {
  return e.matching(`responses/*/*/${name}`).flatMap((x) =>
    x.head?.status === 200
      ? judge(x)
      : [demanded(e)(false, "the reply", "status 200", outcome(x), x)]
  );
}

/** The name of a request: the last part of its label. */
export function nameOf({ label }: Exchange): string {
  return label.split("/").at(-1) ?? "";
}

export function itemsOf(x: Exchange): readonly Json[] {
  return listAt(responseOf(x), "output");
}

export function itemsOfType(x: Exchange, ...types: string[]): readonly Json[] {
  return itemsOf(x).filter((item) => types.includes(textAt(item, "type")));
}

export function callsOf(x: Exchange): readonly Json[] {
  return itemsOfType(x, "function_call", "custom_tool_call");
}

export function textOf(x: Exchange): string {
  return contentIn(x).text;
}

export function contentIn(x: Exchange): ReadContent {
  return comparable(contentOfWhole("responses", objectOf(responseOf(x))));
}

/** The fixture's content, with its stop as this format has it. */
export function expectedContent(x: Exchange): ReadContent {
  const content = fixtureContent(nameOf(x), x.via);
  const { stop, refusal, tools } = content;
  const isCut = ["max_tokens", "context_window", "pause", "other"].includes(
    stop,
  );
  const isBarred = stop === "refusal" && refusal === "";
  return {
    ...content,
    stop: isCut
      ? "max_tokens"
      : isBarred
      ? "refusal"
      : tools.length > 0
      ? "tool_use"
      : "end",
  };
}
