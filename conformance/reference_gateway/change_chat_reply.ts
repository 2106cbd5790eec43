/** Builder of mutants that change whole replies of the chat endpoint. */
import type { Hooks } from "./hooks.ts";
import type { Json, JsonObject } from "@model-gateway/replay/json";
import { wholeReply, withAt } from "./change_reply.ts";

/** A mutant that puts a value at a path of whole replies; undefined removes it. */
export function put(
  path: string,
  value: (body: JsonObject) => Json | undefined,
): Hooks {
  return wholeReply("chat", (body) => withAt(body, path, value(body)));
}
