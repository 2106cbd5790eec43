/** Builder of mutants that change whole replies of the chat endpoint. */
import type { Json, JsonObject } from "@model-gateway/replay/json";
import { wholeReply, withAt } from "./change_reply.ts";
import type { Mutant } from "./mutant.ts";

/** A mutant that puts a value at a path of whole replies; undefined removes it. */
export function put(
  name: string,
  about: string,
  path: string,
  value: (body: JsonObject) => Json | undefined,
): Mutant {
  return {
    name,
    about,
    hooks: wholeReply("chat", (body) => withAt(body, path, value(body))),
  };
}
