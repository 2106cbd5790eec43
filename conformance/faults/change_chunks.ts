/** Builders of mutants that change the chunks of chat streams. */
import { chatFrames, withAt } from "./change_reply.ts";
import type { Context, Hooks, OutFrame } from "../reference_gateway/hooks.ts";
import { at, textAt } from "../evidence/json_path.ts";
import type { Json, JsonObject } from "@model-gateway/replay/json";

type Which = (data: JsonObject, x: Context) => boolean;

export function everyChunk(): boolean {
  return true;
}
export function withChoice(data: JsonObject): boolean {
  return at(data, "choices.0") !== undefined;
}
export function finishing(data: JsonObject): boolean {
  return textAt(data, "choices.0.finish_reason") !== "";
}
export function withUsage(data: JsonObject): boolean {
  return at(data, "usage.total_tokens") !== undefined;
}
export function withText(data: JsonObject): boolean {
  return textAt(data, "choices.0.delta.content") !== "";
}

/** True for all chunks except the first. */
export function later(_: JsonObject, { state }: Context): boolean {
  const seen = state.has("later");
  state.set("later", true);
  return seen;
}

export function numberOf({ state }: Context): number {
  const number = Number(state.get("number") ?? 0);
  state.set("number", number + 1);
  return number;
}

/** A mutant that puts a value at a path of the selected chunks; undefined removes it. */
export function put(
  which: Which,
  path: string,
  value:
    | Json
    | undefined
    | ((data: JsonObject, x: Context) => Json | undefined),
): Hooks {
  return chatFrames((data, x) => {
    if (!which(data, x)) return data;
    const wrong = typeof value === "function" ? value(data, x) : value;
    return withAt(data, path, wrong);
  });
}

/** A mutant that replaces the selected chunks by other frames. */
export function replace(
  which: Which,
  change: (data: JsonObject, x: Context) => readonly OutFrame[],
): Hooks {
  return chatFrames((data, x) => which(data, x) ? change(data, x) : data);
}
