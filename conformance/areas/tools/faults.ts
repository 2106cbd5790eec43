/** Mutants for the checks of the area `tools`: calls in replies. */
import { at, listAt, textAt } from "../../evidence/json_path.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type { Part } from "../../reference_gateway/part.ts";
import { type JsonObject, objectOf } from "@model-gateway/replay/json";
import {
  frames,
  wholeReply,
  withAt,
} from "../../reference_gateway/change_reply.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import { TOOL_CHAT_MUTANTS } from "./faults_chat.ts";
import { TOOL_HISTORY_MUTANTS } from "./faults_history.ts";
import { TOOL_REQUEST_MUTANTS } from "./faults_upstream.ts";

/** Changes the tool_use blocks of whole messages. */
function messageBlock(
  change: (block: JsonObject, index: number) => JsonObject | undefined,
): Hooks {
  return wholeReply("messages", (body) => ({
    ...body,
    content: listAt(body, "content").map(objectOf).flatMap((block, index) => {
      if (block["type"] !== "tool_use") return [block];
      const changed = change(block, index);
      return changed === undefined ? [] : [changed];
    }),
  }));
}

/** Changes the starts of tool_use blocks in message streams. */
function messageStart(change: (block: JsonObject) => JsonObject): Hooks {
  return frames(
    "messages",
    (data) =>
      at(data, "content_block.type") === "tool_use"
        ? withAt(
          data,
          "content_block",
          change(objectOf(data["content_block"])),
        )
        : data,
  );
}

/** Changes the fragments of inputs in message streams. */
function messageDelta(
  change: (delta: JsonObject, x: Context) => JsonObject | undefined,
): Hooks {
  return frames("messages", (data, x) => {
    if (at(data, "delta.type") !== "input_json_delta") return data;
    const changed = change(objectOf(data["delta"]), x);
    return changed === undefined ? undefined : { ...data, delta: changed };
  });
}

/** Changes the fragments of arguments as they come from the upstream. */
function args(change: (text: string, x: Context) => string): Hooks {
  return {
    part: (part, x) =>
      part.type === "args" ? [{ ...part, text: change(part.text, x) }] : [part],
  };
}

function without(object: JsonObject, key: string): JsonObject {
  return { ...object, [key]: undefined };
}

/** A whole reply and a stream with another stop cause. */
function stops(
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

const FINISH = "choices.0.finish_reason";

/** All mutants of the area `tools`. */
export const TOOLS_MUTANTS: readonly Mutant[] = [
  {
    name: "tool-message-input-lost",
    about: "The input of whole messages is empty",
    hooks: messageBlock((block) => ({ ...block, input: {} })),
  },
  {
    name: "tool-message-second-lost",
    about: "A whole message has only its first call",
    hooks: messageBlock((block, index) => index > 0 ? undefined : block),
  },
  {
    name: "tool-message-fragment-lost",
    about: "The last fragment of an input is lost",
    hooks: messageDelta((delta) =>
      textAt(delta, "partial_json").endsWith("}") ? undefined : delta
    ),
  },
  {
    name: "tool-message-input-string",
    about: "The input is JSON in a string",
    hooks: messageBlock((block) => ({
      ...block,
      input: JSON.stringify(block["input"]),
    })),
  },
  ...["id", "name", "input"].map((key): Mutant => ({
    name: `tool-message-${key}-missing`,
    about: `tool_use blocks have no ${key}`,
    hooks: messageBlock((block) => without(block, key)),
  })),
  {
    name: "tool-message-id-empty",
    about: "The id of a tool_use block is empty",
    hooks: messageBlock((block) => ({ ...block, id: "" })),
  },
  {
    name: "tool-message-type-function",
    about: "The blocks have the type function",
    hooks: messageBlock((block) => ({ ...block, type: "function" })),
  },
  {
    name: "tool-message-start-input-full",
    about: "The start of a block already has an input",
    hooks: messageStart((block) => ({ ...block, input: { city: "" } })),
  },
  ...["id", "name"].map((key): Mutant => ({
    name: `tool-message-stream-${key}-missing`,
    about: `Streamed tool_use blocks have no ${key}`,
    hooks: messageStart((block) => without(block, key)),
  })),
  {
    name: "tool-message-delta-renamed",
    about: "Inputs are sent as text deltas",
    hooks: messageDelta((delta) => ({
      type: "text_delta",
      text: textAt(delta, "partial_json"),
    })),
  },
  {
    name: "tool-message-partial-object",
    about: "A fragment is an object",
    hooks: messageDelta((delta) => ({ ...delta, partial_json: {} })),
  },
  {
    name: "tool-ids-equal",
    about: "All calls have the same id",
    hooks: {
      part: (part) =>
        part.type === "tool" ? [{ ...part, id: "call_1" }] : [part],
    },
  },
  {
    name: "tool-args-value-changed",
    about: "One letter of the arguments is changed",
    hooks: args((text) => text.replace("o", "0").replace("a", "e")),
  },
  {
    name: "tool-args-latin1",
    about: "Arguments are decoded as Latin-1",
    hooks: args((text) =>
      [...new TextEncoder().encode(text)].map((byte) =>
        byte < 128 ? String.fromCharCode(byte) : `\\u00${byte.toString(16)}`
      ).join("")
    ),
  },
  {
    name: "tool-args-interleaved-mixed",
    about: "Fragments of overlapping calls go to the call that began last",
    hooks: {
      part: (part, { state }) => {
        if (part.type === "tool") state.set("call", part.call);
        return part.type === "args"
          ? [{ ...part, call: Number(state.get("call") ?? 0) }]
          : [part];
      },
    },
  },
  {
    name: "tool-args-capped",
    about: "Arguments are truncated to 32 KiB",
    hooks: args((text, { state }) => {
      const room = 32768 - Number(state.get("length") ?? 0);
      state.set("length", Number(state.get("length") ?? 0) + text.length);
      return text.slice(0, Math.max(0, room));
    }),
  },
  {
    name: "tool-args-as-text",
    about: "Arguments are also sent as text",
    hooks: {
      part: (part): readonly Part[] =>
        part.type === "args"
          ? [{ type: "text", text: part.text }, part]
          : [part],
    },
  },
  {
    name: "tool-text-before-lost",
    about: "Text before a call is lost",
    hooks: {
      part: (part, { state }) => {
        if (part.type === "tool") state.set("called", true);
        return part.type === "text" && !state.has("called") ? [] : [part];
      },
    },
  },
  {
    name: "tool-blocks-turned",
    about: "Calls precede the text of a whole message",
    hooks: wholeReply("messages", (body) => ({
      ...body,
      content: listAt(body, "content").toReversed(),
    })),
  },
  {
    name: "tool-stop-of-chat-lost",
    about: "Whole chat replies with calls report an ordinary end",
    hooks: stops("chat", FINISH, "stop", false),
  },
  {
    name: "tool-stop-of-chat-stream-lost",
    about: "Chat streams with calls report an ordinary end",
    hooks: stops("chat", FINISH, "stop", true),
  },
  {
    name: "tool-stop-of-messages-lost",
    about: "Whole messages with calls report an ordinary end",
    hooks: stops("messages", "stop_reason", "end_turn", false),
  },
  {
    name: "tool-stop-of-messages-stream-lost",
    about: "Message streams with calls report an ordinary end",
    hooks: stops("messages", "delta.stop_reason", "end_turn", true),
  },
  ...TOOL_CHAT_MUTANTS,
  ...TOOL_HISTORY_MUTANTS,
  ...TOOL_REQUEST_MUTANTS,
];
