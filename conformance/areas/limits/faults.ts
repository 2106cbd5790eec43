/** What the faults of the area `limits` are built from, and those that several checks have. */
import {
  arrayOf,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type {
  ModelRequest,
  Turn,
  TurnPart,
} from "../../reference_gateway/part.ts";
import { problemOf } from "../../reference_gateway/problems.ts";
import { asking } from "../../reference_gateway/change_request.ts";
import { refusing } from "./hooks.ts";

type Test = (body: JsonObject, x: Context) => boolean;

export function refuses(param: string, test: Test): Hooks {
  return refusing(param, test);
}

export function breaks(test: Test): Hooks {
  return {
    accept: (problem, body, x) =>
      test(body, x) ? problemOf(500, "failed") : problem,
  };
}

export function turnsIn(body: JsonObject): readonly JsonObject[] {
  return arrayOf(body["messages"]).map(objectOf);
}

/** The blocks or parts of all turns. */
export function blocksIn(body: JsonObject): readonly JsonObject[] {
  return turnsIn(body).flatMap(({ content }) => arrayOf(content).map(objectOf));
}

export function hasType(...types: readonly Json[]): Test {
  return (body) =>
    blocksIn(body).some(({ type = null }) => types.includes(type));
}

export function isStreamed(body: JsonObject): boolean {
  return body["stream"] === true;
}

export function has(name: string): Test {
  return (body) => body[name] !== undefined;
}

/** Truncates streams whose request satisfies the test. */
export function endless(test: (body: JsonObject) => boolean): Hooks {
  const isEnd = (data: Json | undefined): boolean =>
    objectOf(data)["type"] === "message_stop";
  return {
    frame: (frame, x) => {
      const body = objectOf(JSON.parse(x.request.body));
      const end = frame.data === "[DONE]" ||
        (typeof frame.data !== "string" && isEnd(frame.data));
      return end && test(body) ? [] : [frame];
    },
  };
}

/** Changes the parts of each turn. */
export function turning(
  change: (parts: readonly TurnPart[], turn: Turn) => readonly TurnPart[],
): Hooks {
  return asking(({ turns }: ModelRequest) => ({
    turns: turns.map((turn) => ({ ...turn, parts: change(turn.parts, turn) })),
  }));
}

/** Keeps only the first part of one type unchanged. */
export function onlyFirst(
  type: TurnPart["type"],
  otherwise: (part: TurnPart) => readonly TurnPart[],
): Hooks {
  return turning((parts) => {
    const first = parts.find((part) => part.type === type);
    return parts.flatMap((part) =>
      part.type !== type || part === first ? [part] : otherwise(part)
    );
  });
}
