/** Mutants for the checks of the area `tools` about earlier turns in requests upstream. */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import type { Turn, TurnPart } from "../../reference_gateway/part.ts";
import {
  isObject,
  type Json,
  type JsonObject,
} from "@model-gateway/replay/json";
import { changeRequest } from "./faults_upstream.ts";

/** Changes the parts of each turn. */
export function turns(
  change: (parts: readonly TurnPart[], turn: Turn) => readonly TurnPart[],
): Hooks {
  return changeRequest((request) => ({
    turns: request.turns.map((turn) => ({
      ...turn,
      parts: change(turn.parts, turn),
    })),
  }));
}

export function parts(change: (part: TurnPart) => TurnPart | undefined): Hooks {
  return turns((all) => all.flatMap((part) => change(part) ?? []));
}

/** Changes the ids of results, in order; names follow the ids where an upstream requires names. */
export function resultIds(
  change: (ids: readonly string[]) => readonly string[],
): Hooks {
  return turns((all) => {
    const ids = all.flatMap((part) => part.type === "result" ? [part.id] : []);
    const changed = [...change(ids)];
    return all.map((part) =>
      part.type === "result"
        ? { ...part, id: changed.shift() ?? part.id }
        : part
    );
  });
}

export function results(part: TurnPart): boolean {
  return part.type === "result";
}

/** The body with the results moved after the text of their turn. */
export function resultsLast(body: JsonObject): JsonObject {
  const moved = (entry: Json): Json => {
    if (!isObject(entry)) return entry;
    const isAnswer = (part: Json): boolean =>
      isObject(part) &&
      (part["type"] === "tool_result" ||
        part["functionResponse"] !== undefined);
    return Object.fromEntries(
      Object.entries(entry).map(([key, value]) => [
        key,
        Array.isArray(value)
          ? [
            ...value.filter((part: Json) => !isAnswer(part)),
            ...value.filter(isAnswer),
          ]
          : value,
      ]),
    );
  };
  const { messages, contents } = body;
  return {
    ...body,
    ...(Array.isArray(messages) ? { messages: messages.map(moved) } : {}),
    ...(Array.isArray(contents) ? { contents: contents.map(moved) } : {}),
  };
}
