/** Builder of mutants that change whole replies of the chat endpoint. */
import { chatReply, withAt } from "./change_reply.ts";
import type { Hooks } from "./hooks.ts";
import { valueOf, type Wrong } from "./field.ts";

/** A mutant that puts a value at a path of whole replies; undefined removes it. */
export function put(path: string, value: Wrong): Hooks {
  return chatReply((body) => withAt(body, path, valueOf(value, body)));
}
