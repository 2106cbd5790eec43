/** Builders of faults that change the request as the reference gateway understood it. */
import { isObject, parseJson } from "@model-gateway/replay/json";
import { type Change, changed } from "./change_reply.ts";
import type { Context, Hooks } from "../reference_gateway/hooks.ts";
import type {
  ModelRequest,
  Tool,
  Turn,
  TurnPart,
} from "../reference_gateway/part.ts";

/** Replaces members of the request. */
export function changeRequest(
  change:
    | Partial<ModelRequest>
    | ((request: ModelRequest, x: Context) => Partial<ModelRequest>),
): Hooks {
  return {
    modelRequest: (request, x) => ({
      ...request,
      ...typeof change === "function" ? change(request, x) : change,
    }),
  };
}

/** Changes a setting of the requests that have it. */
export function setting<Name extends "maxTokens" | "temperature" | "topP">(
  name: Name,
  change: (value: number) => number,
): Hooks {
  return changeRequest(({ [name]: value }) =>
    value === undefined ? {} : { [name]: change(value) }
  );
}

/** Replaces members of each tool. */
export function inTools(change: (tool: Tool) => Partial<Tool>): Hooks {
  return changeRequest(({ tools }) => ({
    tools: tools.map((tool) => ({ ...tool, ...change(tool) })),
  }));
}

/** Changes the parts of each turn. */
export function inTurns(
  change: (parts: readonly TurnPart[], turn: Turn) => readonly TurnPart[],
): Hooks {
  return changeRequest(({ turns }) => ({
    turns: turns.map((turn) => ({ ...turn, parts: change(turn.parts, turn) })),
  }));
}

/** Changes the parts of these types; undefined removes one. */
export function inParts<Type extends TurnPart["type"]>(
  types: Type | readonly Type[],
  change: (part: TurnPart & { readonly type: Type }) => TurnPart | undefined,
): Hooks {
  const isOf = (part: TurnPart): part is TurnPart & { readonly type: Type } =>
    [types].flat().some((type) => part.type === type);
  return inTurns((parts) =>
    parts.flatMap((part) => isOf(part) ? change(part) ?? [] : [part])
  );
}

/** Changes the parts of a type but the first of each turn; undefined removes one. */
export function afterFirst(
  type: TurnPart["type"],
  change: (part: TurnPart) => TurnPart | undefined,
): Hooks {
  return inTurns((parts) => {
    const first = parts.find((part) => part.type === type);
    return parts.flatMap((part) =>
      part.type !== type || part === first ? [part] : change(part) ?? []
    );
  });
}

/** Changes the body of requests to an endpoint before they are read. */
export function inBodies(
  endpoint: Context["endpoint"],
  change: Change,
): Hooks {
  return {
    request: (request, x) => {
      const body = parseJson(request.body);
      return x.endpoint === endpoint && isObject(body)
        ? { ...request, body: JSON.stringify(changed(body, change)) }
        : request;
    },
  };
}

/** Changes the body of requests upstream for clients of an endpoint. */
export function inCalls(
  endpoint: Context["endpoint"],
  change: Change<[x: Context]>,
): Hooks {
  return {
    upstream: (call, x) =>
      x.endpoint === endpoint
        ? { ...call, body: changed(call.body, change, x) }
        : call,
  };
}
