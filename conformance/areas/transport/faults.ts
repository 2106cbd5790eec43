/** What the faults of the area `transport` are built from, and those that several checks have. */
import { changeParts, changeReplies } from "../../faults/change_hooks.ts";
import type {
  Context,
  Hooks,
  JsonReply,
  OutFrame,
  Writer,
} from "../../reference_gateway/hooks.ts";
import { textAt } from "../../evidence/json_path.ts";
import { frames, withAt } from "../../faults/change_reply.ts";
import { problemOf } from "../../reference_gateway/problems.ts";

/** Buffers pieces of streams until the test is true; then all of them are sent. */
export function holdPieces(
  due: (held: readonly Uint8Array[], sent: number) => boolean,
  endpoint?: string,
): Hooks {
  return {
    writer: (writer, x): Writer => {
      if (!x.stream || (endpoint ?? x.endpoint) !== x.endpoint) return writer;
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

export function ending(end: (writer: Writer) => void): Hooks {
  return {
    writer: (writer, { stream }) =>
      stream ? { ...writer, end: () => end(writer) } : writer,
  };
}

export const sizeOf = (held: readonly Uint8Array[]): number =>
  held.reduce((sum, { length }) => sum + length, 0);

let underway = 0;

/** Each piece has the text of the piece before it, also of another reply. */
export function textsOfOthers(): Hooks {
  let last = "";
  return changeParts("text", (part) => {
    const text = last === "" ? part.text : last;
    last = part.text;
    return { ...part, text };
  });
}

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

/** Streams of an endpoint that split a text inside its first surrogate pair. */
export function halved(endpoint: "messages" | "chat", path: string): Hooks {
  return frames(endpoint, (data, _, frame): readonly OutFrame[] => {
    const text = textAt(data, path);
    const at = [...text.matchAll(/[\u{10000}-\u{10ffff}]/gu)][0]?.index;
    if (at === undefined) return [frame];
    return [text.slice(0, at + 1), text.slice(at + 1)].map((part) => ({
      ...frame,
      data: withAt(data, path, part),
    }));
  });
}

export function refusals(name: string, value: string): Hooks {
  return changeReplies({ least: 400 }, { headers: { [name]: value } });
}

type Headers = Readonly<Record<string, string>>;

/** Headers to replace, or how they change; undefined removes one. */
type HeaderChange<More extends readonly unknown[] = []> =
  | Readonly<Record<string, string | undefined>>
  | ((headers: Headers, ...more: More) => Headers);

function changedHeaders<More extends readonly unknown[]>(
  headers: Headers,
  change: HeaderChange<More>,
  ...more: More
): Headers {
  if (typeof change === "function") return change(headers, ...more);
  const kept = Object.entries({ ...headers, ...change }).flatMap((
    [name, value],
  ) => value === undefined ? [] : [[name, value]]);
  return Object.fromEntries(kept);
}

export function streams(change: HeaderChange): Hooks {
  return { streamHeaders: (headers) => changedHeaders(headers, change) };
}

export function json(change: HeaderChange<[reply: JsonReply]>): Hooks {
  return changeReplies(
    {},
    (reply) => ({ headers: changedHeaders(reply.headers, change, reply) }),
  );
}

export function all(change: HeaderChange): Hooks {
  return { ...streams(change), ...json(change) };
}

export function without(headers: Headers, ...names: string[]): Headers {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !names.includes(name)),
  );
}

export function typed(type: string): Headers {
  return { "content-type": type };
}

export const SAME_IDS = {
  "request-id": "req_1",
  "x-request-id": "req_1",
} as const;

export function replies(
  status: number,
  change: (reply: JsonReply, x: Context) => JsonReply,
): Hooks {
  return {
    reply: (reply, x) => reply.status === status ? change(reply, x) : reply,
  };
}

export function refuseWhere(
  status: number,
  test: (x: Context) => boolean,
): Hooks {
  return {
    accept: (problem, _, x) =>
      test(x) ? problemOf(status, "This request is not possible") : problem,
  };
}

export const html = (reply: JsonReply): JsonReply => ({
  ...reply,
  headers: { ...reply.headers, "content-type": "text/html" },
});

export function afterRefusals(status: number): Hooks {
  let refused = 0;
  return {
    reply: (reply) => {
      if (reply.status === 400) refused++;
      return reply.status === 200 && refused > 4
        ? {
          ...reply,
          status,
          body: { type: "error", error: { type: "api_error", message: "no" } },
        }
        : reply;
    },
  };
}
