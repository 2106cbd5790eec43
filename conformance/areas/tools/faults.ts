/** What the faults of the area `tools` are built from, and those that several checks have. */
import { changeParts } from "../../faults/change_hooks.ts";
import { mapValues } from "@model-gateway/replay/map_values";
import {
  type Change,
  changed,
  chatFrames,
  chatReply,
  frames,
  wholeReply,
  withAt,
} from "../../faults/change_reply.ts";
import {
  changeRequest,
  inTools,
  inTurns,
} from "../../faults/change_request.ts";
import { listAt, textAt } from "../../evidence/json_path.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import type { TurnPart } from "../../reference_gateway/part.ts";

/** Changes the fragments of arguments as they come from the upstream. */
export function args(change: (text: string, x: Context) => string): Hooks {
  return changeParts(
    "args",
    (part, x) => ({ ...part, text: change(part.text, x) }),
  );
}

/** A whole reply and a stream with another stop cause. */
export function stops(
  endpoint: "messages" | "chat",
  path: string,
  to: string,
  stream: boolean,
): Hooks {
  const change = (data: JsonObject): JsonObject =>
    ["tool_use", "tool_calls"].includes(textAt(data, path))
      ? withAt(data, path, to)
      : data;
  return stream ? frames(endpoint, change) : wholeReply(endpoint, change);
}

export const FINISH = "choices.0.finish_reason";

export const CALLS = "choices.0.message.tool_calls";

const DELTAS = "choices.0.delta.tool_calls";

export const ARGS = "function.arguments";

export function chatCalls(
  change: (calls: readonly JsonObject[]) => Json,
): Hooks {
  return chatReply((body) => {
    const calls = listAt(body, CALLS).map(objectOf);
    return calls.length === 0 ? body : withAt(body, CALLS, change(calls));
  });
}

export function chatCall(change: Change): Hooks {
  return chatCalls((calls) => calls.map((call) => changed(call, change)));
}

/** Changes the fragments of calls in chat streams; undefined drops the chunk. */
export function chatDelta(
  change: Change<[x: Context], Json | undefined>,
): Hooks {
  return chatFrames((data, x) => {
    const [delta] = listAt(data, DELTAS);
    if (delta === undefined) return data;
    const other = changed(objectOf(delta), change, x);
    return other === undefined ? undefined : withAt(data, DELTAS, [other]);
  });
}

/** True for a fragment that begins a call. */
export function first(delta: JsonObject): boolean {
  return delta["id"] !== undefined;
}

/** True once per exchange. */
export function once({ state }: Context): boolean {
  if (state.has("once")) return false;
  state.set("once", true);
  return true;
}

/** Changes the ids of results, in order; names follow the ids where an upstream requires names. */
export function resultIds(
  change: (ids: readonly string[]) => readonly string[],
): Hooks {
  return inTurns((all) => {
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
    return mapValues(entry, (value) =>
      Array.isArray(value)
        ? [
          ...value.filter((part: Json) => !isAnswer(part)),
          ...value.filter(isAnswer),
        ]
        : value);
  };
  const { messages, contents } = body;
  return {
    ...body,
    ...(Array.isArray(messages) ? { messages: messages.map(moved) } : {}),
    ...(Array.isArray(contents) ? { contents: contents.map(moved) } : {}),
  };
}

/** Replaces the signatures in the request upstream by this member, or by none. */
export function callSignatures(member: string): Hooks {
  return {
    upstream: (call) => ({
      ...call,
      body: objectOf(parseJson(
        JSON.stringify(call.body).replaceAll(
          /,"thoughtSignature":"[^"]*"/g,
          member,
        ),
      )),
    }),
  };
}

/** Changes every schema inside a schema, including itself. */
export function schemas(change: (schema: JsonObject) => JsonObject): Hooks {
  const inside = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(inside);
    if (!isObject(value)) return value;
    const changed = mapValues(value, (inner) => inside(inner ?? null));
    const schema = typeof value["type"] === "string";
    return schema ? change(changed) : changed;
  };
  return inTools(({ schema }) => ({ schema: inside(schema) }));
}

export function choice(
  change: (choice: string | undefined) => string | undefined,
): Hooks {
  return changeRequest((request) => ({ choice: change(request.choice) }));
}

/** The text with a question mark for each non-ASCII character. */
export function ascii(text: string): string {
  return text.replaceAll(/[^ -~]/g, "?");
}

export const toolDescriptionsLost: Hooks = inTools(() => ({
  about: undefined,
}));
