/** Short ways to spoil the chunks of chat streams. */
import { at, textAt } from "../evidence/json_path.ts";
import type { Context, OutFrame } from "../golden/hooks.ts";
import type { Json, JsonObject } from "../replay/json.ts";
import { frames, withAt } from "./change_reply.ts";
import type { Mutant } from "./mutant.ts";

/** Which chunks a mutant spoils. */
export type Which = (data: JsonObject, x: Context) => boolean;

/** All chunks. */
export function each(): boolean {
  return true;
}
/** Chunks with a choice. */
export function choices(data: JsonObject): boolean {
  return at(data, "choices.0") !== undefined;
}
/** The chunk that tells the finish reason. */
export function finishing(data: JsonObject): boolean {
  return textAt(data, "choices.0.finish_reason") !== "";
}
/** The chunk that tells the usage. */
export function usages(data: JsonObject): boolean {
  return at(data, "usage.total_tokens") !== undefined;
}
/** Chunks with text. */
export function texts(data: JsonObject): boolean {
  return textAt(data, "choices.0.delta.content") !== "";
}

/** All chunks but the first. */
export function later(_: JsonObject, { state }: Context): boolean {
  const seen = state.has("later");
  state.set("later", true);
  return seen;
}

/** Which number a chunk has. */
export function numberOf({ state }: Context): number {
  const number = Number(state.get("number") ?? 0);
  state.set("number", number + 1);
  return number;
}

/** A mutant that puts a value at a path of some chunks; undefined takes it away. */
export function put(
  name: string,
  about: string,
  which: Which,
  path: string,
  value: (data: JsonObject, x: Context) => Json | undefined,
): Mutant {
  return {
    name,
    about,
    hooks: frames(
      "chat",
      (data, x) => which(data, x) ? withAt(data, path, value(data, x)) : data,
    ),
  };
}

/** A mutant that makes other frames of some chunks. */
export function become(
  name: string,
  about: string,
  which: Which,
  change: (data: JsonObject, x: Context) => readonly OutFrame[],
): Mutant {
  return {
    name,
    about,
    hooks: frames(
      "chat",
      (data, x) => which(data, x) ? change(data, x) : data,
    ),
  };
}

/** Takes a value away. */
export function gone(): undefined {
  return undefined;
}
