/** Mutants for the checks of the area `chat_stream`: the text of a stream. */
import { at, textAt } from "../../evidence/json_path.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import { type JsonObject, objectOf } from "@model-gateway/replay/json";
import { frames, withAt } from "../../reference_gateway/change_reply.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

const CONTENT = "choices.0.delta.content";

/** Changes the chunks that have text. */
function texts(
  change: (
    text: string,
    data: JsonObject,
    x: Context,
  ) => JsonObject | readonly { readonly data: JsonObject }[] | undefined,
): Hooks {
  return frames("chat", (data, x) => {
    const text = textAt(data, CONTENT);
    return text === "" ? data : change(text, data, x);
  });
}

/** Changes the text of chunks. */
function words(change: (text: string, x: Context) => string): Hooks {
  return texts((text, data, x) => withAt(data, CONTENT, change(text, x)));
}

/** Number of the chunks with text before this one. */
function before({ state }: Context): number {
  const count = Number(state.get("texts") ?? 0);
  state.set("texts", count + 1);
  return count;
}

/** Changes the bytes of the upstream's stream for the chat endpoint. */
function upstreamPieces(
  change: (piece: Uint8Array) => Uint8Array,
): Hooks {
  return {
    upstreamBytes: async function* (bytes, { endpoint, stream }) {
      for await (const piece of bytes) {
        yield endpoint === "chat" && stream ? change(piece) : piece;
      }
    },
  };
}

/** Changes the reason of the finishing chunk. */
function reason(name: string, from: string, to: string): Mutant {
  return {
    name,
    about: `Streams report ${from} as ${to}`,
    hooks: frames(
      "chat",
      (data) =>
        textAt(data, "choices.0.finish_reason") === from
          ? withAt(data, "choices.0.finish_reason", to)
          : data,
    ),
  };
}

/** Part of `CHAT_STREAM_MUTANTS`. */
export const CHAT_STREAM_TEXT_MUTANTS: readonly Mutant[] = [
  {
    name: "chat-stream-delta-lost",
    about: "The second text delta is lost",
    hooks: texts((_, data, x) => before(x) === 1 ? undefined : data),
  },
  {
    name: "chat-stream-first-delta-lost",
    about: "The first text delta is lost",
    hooks: texts((_, data, x) => before(x) === 0 ? undefined : data),
  },
  {
    name: "chat-stream-last-delta-lost",
    about: "The last text delta is lost",
    hooks: frames("chat", (data, { state }) => {
      const held = objectOf(state.get("held"));
      state.delete("held");
      if (textAt(data, CONTENT) !== "") {
        state.set("held", data);
        return Object.keys(held).length === 0 ? [] : [{ data: held }];
      }
      return data;
    }),
  },
  {
    name: "chat-stream-delta-twice",
    about: "One text delta is sent twice",
    hooks: texts((_, data, x) => before(x) === 1 ? [{ data }, { data }] : data),
  },
  {
    name: "chat-stream-deltas-swapped",
    about: "Two text deltas are swapped",
    hooks: frames("chat", (data, x) => {
      const held = objectOf(x.state.get("held"));
      const waits = Object.keys(held).length > 0;
      x.state.delete("held");
      if (textAt(data, CONTENT) !== "" && !waits && before(x) === 0) {
        x.state.set("held", data);
        return [];
      }
      return waits ? [{ data }, { data: held }] : data;
    }),
  },
  {
    name: "chat-stream-delta-trimmed",
    about: "Whitespace at the ends of deltas is lost",
    hooks: words((text) => text.trim()),
  },
  {
    name: "chat-stream-deltas-grow",
    about: "Each delta holds all the text so far",
    hooks: words((text, { state }) => {
      const all = `${state.get("all") ?? ""}${text}`;
      state.set("all", all);
      return all;
    }),
  },
  {
    name: "chat-stream-letter-changed",
    about: "One letter of the text is changed",
    hooks: words((text) => text.replace("o", "0")),
  },
  {
    name: "chat-stream-latin1",
    about: "The text is decoded as Latin-1",
    hooks: words((text) =>
      [...new TextEncoder().encode(text)].map((byte) =>
        String.fromCharCode(byte)
      ).join("")
    ),
  },
  {
    name: "chat-stream-text-capped",
    about: "No text is sent after 100 deltas",
    hooks: texts((_, data, x) => before(x) >= 100 ? undefined : data),
  },
  {
    name: "chat-stream-big-frame-cut",
    about: "A large delta is truncated to 64 KiB",
    hooks: words((text) => text.slice(0, 65536)),
  },
  {
    name: "chat-stream-thinking-leaks",
    about: "Thinking is streamed as text",
    hooks: {
      part: (part, { endpoint, stream }) =>
        endpoint === "chat" && stream && part.type === "thinking"
          ? [{ type: "text", text: part.text }]
          : [part],
    },
  },
  {
    name: "chat-stream-text-renamed",
    about: "Text is sent in delta.text",
    hooks: frames(
      "chat",
      (data) =>
        textAt(data, CONTENT) === ""
          ? data
          : withAt(data, "choices.0.delta", { text: textAt(data, CONTENT) }),
    ),
  },
  {
    name: "chat-stream-characters-lost",
    about: "Characters split between two reads from the upstream are lost",
    hooks: upstreamPieces((piece) =>
      new TextEncoder().encode(new TextDecoder().decode(piece))
    ),
  },
  {
    name: "chat-stream-bytes-lost",
    about: "The stream is encoded as Latin-1",
    hooks: {
      writer: (writer, { endpoint, stream }) =>
        endpoint === "chat" && stream
          ? {
            ...writer,
            piece: (bytes) =>
              writer.piece(
                Uint8Array.from(
                  new TextDecoder().decode(bytes),
                  (letter) => letter.charCodeAt(0),
                ),
              ),
          }
          : writer,
    },
  },
  {
    name: "chat-stream-empty",
    about: "The stream has all its frames, but no text",
    hooks: words(() => ""),
  },
  {
    name: "chat-stream-text-in-one-chunk",
    about: "The text is buffered and sent in one chunk",
    hooks: frames("chat", (data, { state }) => {
      const all = `${state.get("all") ?? ""}${textAt(data, CONTENT)}`;
      state.set("all", all);
      if (at(data, "choices.0.finish_reason") === null) {
        return textAt(data, CONTENT) === "" ? data : undefined;
      }
      state.delete("all");
      if (all === "") return data;
      const chunk = withAt(data, "choices", [{
        index: 0,
        delta: { content: all },
        finish_reason: null,
      }]);
      return [{ data: chunk }, { data }];
    }),
  },
  reason("chat-stream-length-as-stop", "length", "stop"),
  reason("chat-stream-filter-as-stop", "content_filter", "stop"),
  reason("chat-stream-tools-as-stop", "tool_calls", "stop"),
];
