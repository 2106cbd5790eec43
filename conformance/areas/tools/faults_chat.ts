/** Mutants for the checks of the area `tools`: calls in replies of the chat endpoint. */
import { at, listAt, textAt } from "../../evidence/json_path.ts";
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
import type { Mutant } from "../../reference_gateway/mutant.ts";

const CALLS = "choices.0.message.tool_calls";
const DELTAS = "choices.0.delta.tool_calls";
const ARGS = "function.arguments";

/** Changes the calls of whole chat replies. */
function chatCalls(
  change: (calls: readonly JsonObject[]) => Json,
): Hooks {
  return wholeReply("chat", (body) => {
    const calls = listAt(body, CALLS).map(objectOf);
    return calls.length === 0 ? body : withAt(body, CALLS, change(calls));
  });
}

function chatCall(change: (call: JsonObject) => JsonObject): Hooks {
  return chatCalls((calls) => calls.map(change));
}

/** Changes the fragments of calls in chat streams; undefined drops the chunk. */
function chatDelta(
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
function first(delta: JsonObject): boolean {
  return delta["id"] !== undefined;
}

function without(object: JsonObject, key: string): JsonObject {
  return { ...object, [key]: undefined };
}

/** True once per exchange. */
function once({ state }: Context): boolean {
  if (state.has("once")) return false;
  state.set("once", true);
  return true;
}

/** Part of `TOOLS_MUTANTS`. */
export const TOOL_CHAT_MUTANTS: readonly Mutant[] = [
  {
    name: "tool-chat-args-lost",
    about: "The arguments of whole chat replies are lost",
    hooks: chatCall((call) => withAt(call, ARGS, "")),
  },
  {
    name: "tool-chat-args-empty-for-none",
    about: "A call without arguments has an empty string",
    hooks: chatCall((call) =>
      textAt(call, ARGS) === "{}" ? withAt(call, ARGS, "") : call
    ),
  },
  {
    name: "tool-chat-args-twice-encoded",
    about: "The arguments are JSON in a JSON string",
    hooks: chatCall((call) =>
      withAt(call, ARGS, JSON.stringify(textAt(call, ARGS)))
    ),
  },
  {
    name: "tool-chat-arguments-object",
    about: "The arguments are an object",
    hooks: chatCall((call) =>
      withAt(call, ARGS, JSON.parse(textAt(call, ARGS)))
    ),
  },
  {
    name: "tool-chat-second-lost",
    about: "A chat reply has only its first call",
    hooks: chatCalls((calls) => calls.slice(0, 1)),
  },
  {
    name: "tool-chat-swapped",
    about: "The calls are in another order",
    hooks: chatCalls((calls) => calls.toReversed()),
  },
  {
    name: "tool-chat-function_call",
    about: "The call is in the field of the older format",
    hooks: wholeReply("chat", (body) =>
      withAt(
        withAt(
          body,
          "choices.0.message.function_call",
          at(body, `${CALLS}.0.function`),
        ),
        CALLS,
        undefined,
      )),
  },
  ...["id", "type"].map((key): Mutant => ({
    name: `tool-chat-${key}-missing`,
    about: `Calls of whole chat replies have no ${key}`,
    hooks: chatCall((call) => without(call, key)),
  })),
  {
    name: "tool-chat-id-empty",
    about: "The id of a call is empty",
    hooks: chatCall((call) => ({ ...call, id: "" })),
  },
  {
    name: "tool-chat-type-tool_use",
    about: "Calls have the type tool_use",
    hooks: chatCall((call) => ({ ...call, type: "tool_use" })),
  },
  {
    name: "tool-chat-name-beside",
    about: "Name and arguments are beside the function",
    hooks: chatCall((call) => ({
      id: call["id"],
      type: "function",
      ...objectOf(call["function"]),
    })),
  },
  {
    name: "tool-chat-content-array",
    about: "Beside calls the content is an array",
    hooks: wholeReply(
      "chat",
      (body) => withAt(body, "choices.0.message.content", []),
    ),
  },
  {
    name: "tool-chat-content-missing",
    about: "Beside calls the content is missing",
    hooks: wholeReply(
      "chat",
      (body) => withAt(body, "choices.0.message.content", undefined),
    ),
  },
  {
    name: "tool-chat-fragment-lost",
    about: "One fragment of the arguments is lost",
    hooks: chatDelta((delta, x) =>
      first(delta) || !once(x) ? delta : undefined
    ),
  },
  {
    name: "tool-chat-fragment-twice",
    about: "Fragments of the arguments are sent twice",
    hooks: chatDelta((delta) =>
      withAt(delta, ARGS, textAt(delta, ARGS).repeat(2))
    ),
  },
  {
    name: "tool-chat-index-missing",
    about: "Fragments have no index",
    hooks: chatDelta((delta) => without(delta, "index")),
  },
  {
    name: "tool-chat-index-0",
    about: "All calls have the index 0",
    hooks: chatDelta((delta) => ({ ...delta, index: 0 })),
  },
  {
    name: "tool-chat-index-1",
    about: "Calls are numbered from 1",
    hooks: chatDelta((delta) => ({
      ...delta,
      index: Number(delta["index"]) + 1,
    })),
  },
  {
    name: "tool-chat-index-text",
    about: "The index is a string",
    hooks: chatDelta((delta) => ({ ...delta, index: `${delta["index"]}` })),
  },
  {
    name: "tool-chat-id-each",
    about: "Each fragment has a different id",
    hooks: chatDelta((delta) => ({ ...delta, id: crypto.randomUUID() })),
  },
  {
    name: "tool-chat-name-each",
    about: "Each fragment has the name",
    hooks: chatDelta((delta, { state }) => {
      if (first(delta)) state.set("name", at(delta, "function.name") ?? "");
      return withAt(delta, "function.name", state.get("name"));
    }),
  },
  {
    name: "tool-chat-stream-id-missing",
    about: "Streamed calls have no id",
    hooks: chatDelta((delta) => without(delta, "id")),
  },
  {
    name: "tool-chat-stream-type-missing",
    about: "Streamed calls have no type",
    hooks: chatDelta((delta) => without(delta, "type")),
  },
  {
    name: "tool-chat-stream-name-late",
    about: "The name is sent after the first fragment",
    hooks: chatDelta((delta, { state }) => {
      const late = state.get("late");
      state.delete("late");
      if (first(delta)) {
        state.set("late", at(delta, "function.name") ?? "");
        return withAt(delta, "function.name", undefined);
      }
      return late === undefined ? delta : withAt(delta, "function.name", late);
    }),
  },
  {
    name: "tool-chat-stream-arguments-object",
    about: "Streamed arguments are an object",
    hooks: chatDelta((delta) => withAt(delta, ARGS, {})),
  },
];
