/** Mutants for the checks of the area `chat_stream`: the text of a stream. */
import { textAt } from "../../evidence/json_path.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type { JsonObject } from "@model-gateway/replay/json";
import { frames, withAt } from "../../reference_gateway/change_reply.ts";

export const CONTENT = "choices.0.delta.content";

/** Changes the chunks that have text. */
export function texts(
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
export function words(change: (text: string, x: Context) => string): Hooks {
  return texts((text, data, x) => withAt(data, CONTENT, change(text, x)));
}

/** Number of the chunks with text before this one. */
export function before({ state }: Context): number {
  const count = Number(state.get("texts") ?? 0);
  state.set("texts", count + 1);
  return count;
}

/** Changes the bytes of the upstream's stream for the chat endpoint. */
export function upstreamPieces(
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
export function reason(from: string, to: string): Hooks {
  return frames(
    "chat",
    (data) =>
      textAt(data, "choices.0.finish_reason") === from
        ? withAt(data, "choices.0.finish_reason", to)
        : data,
  );
}
