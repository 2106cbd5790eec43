/** Builders of faults in replies and streams of the Responses endpoint. */
import { listAt, textAt } from "../evidence/json_path.ts";
import { frames, wholeReply } from "./change_reply.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import type { Hooks } from "../reference_gateway/hooks.ts";

/** The frames that end a stream, each with the whole reply. */
const LAST = /^response\.(completed|incomplete|failed)$/;

export type Change = (value: JsonObject) => JsonObject;

/** Changes the reply, whole and in the last frame of a stream. */
export function inReply(change: Change): Hooks {
  return {
    ...wholeReply("responses", change),
    ...frames(
      "responses",
      (data) =>
        LAST.test(textAt(data, "type"))
          ? { ...data, response: change(objectOf(data["response"])) }
          : data,
    ),
  };
}

/** Puts a value into the reply; undefined removes it. */
export function put(name: string, value: Json | undefined): Hooks {
  return inReply((reply) => ({ ...reply, [name]: value }));
}

/** Changes items of a type wherever they stand. */
export function inItems(type: string, change: Change): Hooks {
  const one = (item: Json): Json =>
    textAt(item, "type") === type ? change(objectOf(item)) : item;
  const all: Change = (reply) => ({
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
