/** Mutants for the checks of the area `tools`: calls in replies of the chat endpoint. */
import { listAt } from "../../evidence/json_path.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import {
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import {
  frames,
  wholeReply,
  withAt,
} from "../../reference_gateway/change_reply.ts";

export const CALLS = "choices.0.message.tool_calls";
const DELTAS = "choices.0.delta.tool_calls";
export const ARGS = "function.arguments";

/** Changes the calls of whole chat replies. */
export function chatCalls(
  change: (calls: readonly JsonObject[]) => Json,
): Hooks {
  return wholeReply("chat", (body) => {
    const calls = listAt(body, CALLS).map(objectOf);
    return calls.length === 0 ? body : withAt(body, CALLS, change(calls));
  });
}

export function chatCall(change: (call: JsonObject) => JsonObject): Hooks {
  return chatCalls((calls) => calls.map(change));
}

/** Changes the fragments of calls in chat streams; undefined drops the chunk. */
export function chatDelta(
  change: (delta: JsonObject, x: Context) => Json | undefined,
): Hooks {
  return frames("chat", (data, x) => {
    const [delta] = listAt(data, DELTAS);
    if (delta === undefined) return data;
    const changed = change(objectOf(delta), x);
    return changed === undefined ? undefined : withAt(data, DELTAS, [changed]);
  });
}

/** True for a fragment that begins a call. */
export function first(delta: JsonObject): boolean {
  return delta["id"] !== undefined;
}

export function without(object: JsonObject, key: string): JsonObject {
  return { ...object, [key]: undefined };
}

/** True once per exchange. */
export function once({ state }: Context): boolean {
  if (state.has("once")) return false;
  state.set("once", true);
  return true;
}
