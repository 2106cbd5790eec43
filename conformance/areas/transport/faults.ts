/** Mutants for the checks of the area `transport`. */
import type { Hooks, Writer } from "../../reference_gateway/hooks.ts";

/** Buffers pieces of streams until the test is true; then all of them are sent. */
export function holding(
  due: (held: readonly Uint8Array[], sent: number) => boolean,
): Hooks {
  return {
    writer: (writer, { stream }): Writer => {
      if (!stream) return writer;
      const held: Uint8Array[] = [];
      let sent = 0;
      const flush = (): void => {
        sent += held.length;
        for (const bytes of held.splice(0)) writer.piece(bytes);
      };
      return {
        ...writer,
        piece: (bytes) => {
          held.push(bytes);
          if (due(held, sent)) flush();
        },
        end: () => {
          flush();
          writer.end();
        },
      };
    },
  };
}

/** Time between two frames from the upstream of a slow model. */
const PACE_MS = 25;

/** Reads a stream at the pace of a slow model: frame after frame, with a pause before each. */
async function* paced(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  let held = "";
  for await (const piece of bytes) {
    held += decoder.decode(piece, { stream: true });
    const frames = held.split(/(?<=\n\n)/);
    held = frames.pop() ?? "";
    for (const frame of frames) {
      await new Promise((resolve) => setTimeout(resolve, PACE_MS));
      yield encoder.encode(frame);
    }
  }
  yield encoder.encode(held + decoder.decode());
}

/** Slows the upstream down to the pace of a slow model, and buffers its streams from a frame on. */
export function heldFrom(frame: number): Hooks {
  return {
    upstreamBytes: paced,
    writer: (writer, { stream }): Writer => {
      if (!stream) return writer;
      const held: Uint8Array[] = [];
      let seen = 0;
      return {
        ...writer,
        piece: (bytes) => {
          if (seen++ < frame) writer.piece(bytes);
          else held.push(bytes);
        },
        end: () => {
          writer.piece(new Uint8Array(held.flatMap((bytes) => [...bytes])));
          writer.end();
        },
      };
    },
  };
}

/** Ends streams in another way. */
export function ending(end: (writer: Writer) => void): Hooks {
  return {
    writer: (writer, { stream }) =>
      stream ? { ...writer, end: () => end(writer) } : writer,
  };
}

export const sizeOf = (held: readonly Uint8Array[]): number =>
  held.reduce((sum, { length }) => sum + length, 0);

/** Text of the last stream, which a mutant sends in the next one. */
let lastText = "";
let underway = 0;

/** A stream has the text of the previous stream. */
export const textsSwapped: Hooks = {
  part: (part) => {
    if (part.type !== "text") return [part];
    const text = lastText === "" ? part.text : lastText;
    lastText = part.text;
    return [{ ...part, text }];
  },
};

/** When many streams are under way, text is lost. */
export const concurrentTextLost: Hooks = {
  part: (part, { state }) => {
    if (!state.has("counted")) {
      state.set("counted", true);
      underway++;
    }
    if (part.type === "stop") underway--;
    return part.type === "text" && underway > 3 && part.text.includes("fox")
      ? []
      : [part];
  },
};
