/** Mutants for the checks of the area `chat_stream`: lines and ends. */
import { at, textAt } from "../../evidence/json_path.ts";
import type {
  Context,
  Hooks,
  OutFrame,
} from "../../reference_gateway/hooks.ts";
import { type JsonObject, objectOf } from "@model-gateway/replay/json";
import { frames, withAt } from "../../reference_gateway/change_reply.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** Changes the frame `[DONE]` of chat streams. */
function done(
  change: (x: Context) => readonly OutFrame[],
): Hooks {
  return {
    frame: (frame, x) =>
      x.endpoint === "chat" && frame.data === "[DONE]" ? change(x) : [frame],
  };
}

/** Changes the text of the frames of chat streams. */
export function wire(change: (text: string, x: Context) => string): Hooks {
  return {
    wire: (text, x) => x.endpoint === "chat" ? change(text, x) : text,
  };
}

/** Changes finishing chunks. */
function finish(
  change: (
    data: JsonObject,
  ) => JsonObject | readonly OutFrame[] | undefined,
): Hooks {
  return frames(
    "chat",
    (data) =>
      textAt(data, "choices.0.finish_reason") === "" ? data : change(data),
  );
}

const END: OutFrame = { data: "[DONE]" };

/** A chunk with that choice and nothing else. */
export function chunk(choice: JsonObject): OutFrame {
  return {
    data: {
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1_780_000_000,
      model: "some-model",
      choices: [{ index: 0, ...choice }],
    },
  };
}

/** Part of `CHAT_STREAM_MUTANTS`. */
export const CHAT_STREAM_END_MUTANTS: readonly Mutant[] = [
  {
    name: "chat-done-missing",
    about: "[DONE] is missing",
    hooks: done(() => []),
  },
  {
    name: "chat-done-twice",
    about: "[DONE] is sent twice",
    hooks: done(() => [END, END]),
  },
  {
    name: "chat-done-as-json",
    about: "[DONE] is a JSON string",
    hooks: done(() => [{ data: '"[DONE]"' }]),
  },
  {
    name: "chat-done-in-small",
    about: "[DONE] is in lower case",
    hooks: done(() => [{ data: "[done]" }]),
  },
  {
    name: "chat-done-first",
    about: "[DONE] is sent before the finishing chunk",
    hooks: {
      frame: (frame, { endpoint }) => {
        if (endpoint !== "chat") return [frame];
        if (frame.data === "[DONE]") return [];
        return textAt(objectOfFrame(frame), "choices.0.finish_reason") === ""
          ? [frame]
          : [END, frame];
      },
    },
  },
  {
    name: "chat-done-before-usage",
    about: "[DONE] is sent before the usage",
    hooks: {
      frame: (frame, { endpoint }) => {
        if (endpoint !== "chat") return [frame];
        if (frame.data === "[DONE]") return [];
        return at(objectOfFrame(frame), "usage.total_tokens") === undefined
          ? [frame]
          : [END, frame];
      },
    },
  },
  {
    name: "chat-chunk-after-done",
    about: "A chunk follows [DONE]",
    hooks: done(() => [END, chunk({ delta: {}, finish_reason: null })]),
  },
  {
    name: "chat-comment-after-done",
    about: "A comment follows [DONE]",
    hooks: wire((text) => text.includes("[DONE]") ? `${text}: bye\n\n` : text),
  },
  {
    name: "chat-stream-reset",
    about: "The connection is reset instead of closed at the end",
    hooks: {
      writer: (writer, { endpoint, stream }) =>
        endpoint === "chat" && stream
          ? { ...writer, end: () => setTimeout(writer.reset, 20) }
          : writer,
    },
  },
  {
    name: "chat-long-stream-without-done",
    about: "A stream of more than 20 chunks has no [DONE]",
    hooks: {
      frame: (frame, { endpoint, state }) => {
        if (endpoint !== "chat") return [frame];
        const count = Number(state.get("frames") ?? 0);
        state.set("frames", count + 1);
        return count > 20 && frame.data === "[DONE]" ? [] : [frame];
      },
    },
  },
  {
    name: "chat-event-lines",
    about: "Chunks have an event line",
    hooks: frames("chat", (data) => [{ event: "chunk", data }]),
  },
  {
    name: "chat-chunk-broken-json",
    about: "The JSON of each chunk lacks its last brace",
    hooks: wire((text) => text.replace(/\}\n\n$/, "\n\n")),
  },
  {
    name: "chat-two-chunks-a-frame",
    about: "Two chunks share a frame",
    hooks: wire((text) =>
      text.startsWith("data: {") ? text.slice(0, -1) : text
    ),
  },
  {
    name: "chat-chunk-in-array",
    about: "Each chunk is wrapped in an array",
    hooks: wire((text) => text.replace(/^data: (\{.*\})\n/, "data: [$1]\n")),
  },
  {
    name: "chat-chunk-as-string",
    about: "Each chunk is JSON inside a JSON string",
    hooks: frames("chat", (data) => [{
      data: JSON.stringify(JSON.stringify(data)),
    }]),
  },
  {
    name: "chat-data-without-blank",
    about: "There is no space after data:",
    hooks: wire((text) => text.replace(/^data: /, "data:")),
  },
  {
    name: "chat-done-without-blank",
    about: "There is no space before [DONE]",
    hooks: wire((text) => text.replace("data: [DONE]", "data:[DONE]")),
  },
  {
    name: "chat-data-on-two-lines",
    about: "The JSON of each chunk is split over two data lines",
    hooks: wire((text) => text.replace(/^data: \{"id"/, 'data: {\ndata: "id"')),
  },
  {
    name: "chat-bare-json-lines",
    about: "Chunks are sent as lines of JSON",
    hooks: wire((text) => text.replace(/^data: \{/, "{")),
  },
  {
    name: "chat-last-frame-unfinished",
    about: "The blank line after [DONE] is missing",
    hooks: wire((text) => text.includes("[DONE]") ? text.slice(0, -1) : text),
  },
  {
    name: "chat-blank-lines-missing",
    about: "There are no blank lines between chunks",
    hooks: wire((text) => text.slice(0, -1)),
  },
  {
    name: "chat-finish-missing",
    about: "The finishing chunk is left out",
    hooks: finish(() => undefined),
  },
  {
    name: "chat-finish-with-text",
    about: "The finishing chunk has content",
    hooks: finish((data) => withAt(data, "choices.0.delta", { content: "" })),
  },
  {
    name: "chat-finish-with-role",
    about: "The finishing chunk has the role",
    hooks: finish((data) =>
      withAt(data, "choices.0.delta", { role: "assistant" })
    ),
  },
  {
    name: "chat-finish-delta-missing",
    about: "The finishing chunk has no delta",
    hooks: finish((data) => withAt(data, "choices.0.delta", undefined)),
  },
  {
    name: "chat-finish-twice",
    about: "The finishing chunk is sent twice",
    hooks: finish((data) => [{ data }, { data }]),
  },
  {
    name: "chat-finish-on-content",
    about: "The chunk with the last text has the finish reason",
    hooks: finish((data) => [
      { data: withAt(data, "choices.0.delta", { content: "." }) },
    ]),
  },
  {
    name: "chat-finish-on-usage",
    about: "The finish reason is sent only with the usage",
    hooks: frames("chat", (data) => {
      if (textAt(data, "choices.0.finish_reason") !== "") return undefined;
      return at(data, "usage.total_tokens") === undefined ? data : {
        ...data,
        finish_reason: "stop",
      };
    }),
  },
  {
    name: "chat-empty-reply-unfinished",
    about: "A reply without text has no finishing chunk",
    hooks: frames("chat", (data, { state }) => {
      if (textAt(data, "choices.0.delta.content") !== "") {
        state.set("text", true);
      }
      const finished = textAt(data, "choices.0.finish_reason") !== "";
      return finished && !state.has("text") ? undefined : data;
    }),
  },
  {
    name: "chat-finish-first",
    about: "The finishing chunk is sent before the text",
    hooks: frames("chat", (data) => {
      if (textAt(data, "choices.0.delta.role") !== "") {
        const early = withAt(
          withAt(data, "choices.0.delta", {}),
          "choices.0.finish_reason",
          "stop",
        );
        return [{ data }, { data: early }];
      }
      return textAt(data, "choices.0.finish_reason") === "" ? data : undefined;
    }),
  },
  {
    name: "chat-content-after-finish",
    about: "A chunk with empty content follows the finish",
    hooks: finish((data) => {
      const late = withAt(
        withAt(data, "choices.0.delta", { content: "" }),
        "choices.0.finish_reason",
        null,
      );
      return [{ data }, { data: late }];
    }),
  },
  {
    name: "chat-stream-finish-end_turn",
    about: "The finish reason is the message format's",
    hooks: finish((data) =>
      withAt(data, "choices.0.finish_reason", "end_turn")
    ),
  },
  ...[["empty", ""], ["false", false]].map(([name, value]): Mutant => ({
    name: `chat-stream-finish-${name}-before`,
    about: `Before the end the finish reason is ${JSON.stringify(value)}`,
    hooks: frames(
      "chat",
      (data) =>
        at(data, "choices.0.finish_reason") === null
          ? withAt(data, "choices.0.finish_reason", value)
          : data,
    ),
  })),
];

function objectOfFrame({ data }: OutFrame): JsonObject {
  return typeof data === "string" ? {} : objectOf(data);
}
