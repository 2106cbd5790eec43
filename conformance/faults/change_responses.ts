/** Builders of faults in replies and streams of the Responses endpoint. */
import { listAt, textAt } from "../evidence/json_path.ts";
import { type Change, changed, frames, wholeReply } from "./change_reply.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import type { Hooks } from "../reference_gateway/hooks.ts";

/** The frames that end a stream, each with the whole reply. */
const LAST = /^response\.(completed|incomplete|failed)$/;

/** Changes the reply, whole and in the last frame of a stream. */
export function inReply(change: Change): Hooks {
  return {
    ...wholeReply("responses", change),
    ...frames(
      "responses",
      (data) =>
        LAST.test(textAt(data, "type"))
          ? { ...data, response: changed(objectOf(data["response"]), change) }
          : data,
    ),
  };
}

/** Puts a value into the reply; undefined removes it. */
export function put(name: string, value: Json | undefined): Hooks {
  return inReply({ [name]: value });
}

/** Changes items of a type wherever they stand. */
export function inItems(type: string, change: Change): Hooks {
  const one = (item: Json): Json =>
    textAt(item, "type") === type ? changed(objectOf(item), change) : item;
  const all = (reply: JsonObject): JsonObject => ({
    ...reply,
    output: listAt(reply, "output").map(one),
  });
  return {
    ...wholeReply("responses", all),
    ...frames("responses", (data) => ({
      ...data,
      ...(isObject(data["item"]) ? { item: one(data["item"]) } : {}),
      ...(isObject(data["response"])
        ? { response: all(data["response"]) }
        : {}),
    })),
  };
}
