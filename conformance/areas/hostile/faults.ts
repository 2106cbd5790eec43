/** What the faults of the area `hostile` are built from, and those that several checks have. */
import { changeProblems } from "../../faults/change_hooks.ts";
import type {
  Context,
  Hooks,
  OutFrame,
} from "../../reference_gateway/hooks.ts";
import type { Faults } from "../../suite/check.ts";
import type { Part } from "../../reference_gateway/part.ts";
import { isObject, objectOf } from "@model-gateway/replay/json";
import type { NeutralUsage } from "@model-gateway/replay/neutral_reply";
import { withAt } from "../../faults/change_reply.ts";

const encoder = new TextEncoder();

function pieces(change: (piece: Uint8Array) => Uint8Array): Hooks {
  return {
    upstreamBytes: async function* (bytes) {
      for await (const piece of bytes) yield change(piece);
    },
  };
}

/** Changes the whole text of an upstream's body. */
export function wholeText(change: (text: string) => string): Hooks {
  return {
    upstreamBytes: async function* (bytes) {
      const all = await new Response(ReadableStream.from(bytes)).arrayBuffer();
      // `ignoreBOM` keeps the byte order mark, so that the mutant fails on it.
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(all);
      yield encoder.encode(change(text));
    },
  };
}

export const READER_FAULTS: Faults = {
  "decodes-each-piece": pieces((piece) =>
    encoder.encode(new TextDecoder().decode(piece))
  ),
  "one-frame-a-piece": pieces((piece) => {
    const [first = ""] = new TextDecoder().decode(piece).split(/(?<=\n\n)/);
    return encoder.encode(first);
  }),
  "line-feeds-only": wholeText((text) => text.replaceAll("\r", "~")),
  "byte-order-mark-kept": wholeText((text) =>
    text.startsWith("\ufeff") ? "" : text
  ),
  "blank-after-colon-needed": wholeText((text) =>
    text.replaceAll(/^data:(?! )/gm, "lost:")
  ),
  "first-data-line-only": wholeText((text) =>
    text.replaceAll(/(^data: .*$\r?\n)(?:^data: .*$\r?\n)+/gm, "$1")
  ),
  "comments-end-the-stream": wholeText((text) => text.split(/^:/m)[0] ?? ""),
  "id-lines-end-the-stream": wholeText((text) => text.split(/^id:/m)[0] ?? ""),
  // The upstream is asked to compress, but compressed replies are not decoded.
  "gzip-not-understood": {
    upstreamBytes: async function* (bytes, { request }) {
      for await (const piece of bytes) {
        if (!request.body.includes("?gzip")) yield piece;
      }
    },
  },
};

/** Replaces a failure in the middle of a stream; `textBefore` is the text before it. */
function onFailure(
  change: (part: Part, textBefore: string, x: Context) => readonly Part[],
): Hooks {
  return {
    part: (part, x) => {
      const textBefore = String(x.state.get("text") ?? "");
      if (part.type === "text") x.state.set("text", textBefore + part.text);
      return part.type === "failed" ? change(part, textBefore, x) : [part];
    },
  };
}

function errorFrame(
  change: (frame: OutFrame, x: Context) => readonly OutFrame[],
): Hooks {
  return {
    frame: (frame, x) =>
      isObject(objectOf(frame.data)["error"]) ? change(frame, x) : [frame],
  };
}

function confused({ request }: Context): boolean {
  return /fx:(json-for|sse-for|bad-json|no-blank|long-l|short-l|close-d|bare)/
    .test(request.body);
}

let confusions = 0;

let lastUsage: Partial<NeutralUsage> = {};

export const STREAM_FAULTS: Faults = {
  "break-is-silent": {
    ...errorFrame(() => []),
    reply: (reply) =>
      reply.status >= 500 ? { ...reply, status: 200, body: {} } : reply,
  },
  "break-is-told-and-finished": errorFrame((frame, { endpoint }) => [
    frame,
    endpoint === "chat"
      ? { data: "[DONE]" }
      : { event: "message_stop", data: { type: "message_stop" } },
  ]),
  "break-without-words-becomes-end": onFailure((part, textBefore) =>
    textBefore === "" ? [] : [part]
  ),
  "break-has-no-message": errorFrame((frame) => [{
    ...frame,
    data: withAt(objectOf(frame.data), "error.message", ""),
  }]),
  "break-adds-words": onFailure((part) => [
    { type: "text", text: " [connection lost]" },
    part,
  ]),
  "late-break-becomes-end": onFailure((part, textBefore) =>
    textBefore.length > 12 ? [] : [part]
  ),
  "break-has-no-event-name": errorFrame(({ data }) => [{ data }]),
  "half-replies-are-replies": onFailure((part, _, { stream }) =>
    stream ? [part] : []
  ),
  "broken-replies-are-400": changeProblems({ least: 500 }, { status: 400 }),
  // The rest of an unexpected stream is dropped, and the stream ends as if it were complete.
  "confused-streams-lose-words": {
    part: (part, x) => {
      if (!x.stream || !confused(x)) return [part];
      if (part.type === "failed") return [];
      return part.type === "text" && part.text.includes("o") ? [] : [part];
    },
    problem: (problem, x) =>
      x.stream && confused(x) ? { ...problem, status: 400 } : problem,
  },
  // Frames that are not JSON are passed on.
  "confused-streams-hold-no-json": {
    wire: (text, x) =>
      confused(x) && text.includes("brown")
        ? `data: {"broken": "json\n\n${text}`
        : text,
    problem: (problem, x) =>
      x.stream && confused(x) ? { ...problem, status: 400 } : problem,
  },
  // Only a part of an unexpected whole reply is sent.
  "confused-replies-lose-words": {
    part: (part, x) => {
      if (x.stream || !confused(x)) return [part];
      if (part.type === "failed") return [];
      return part.type === "text" && part.text.includes("o") ? [] : [part];
    },
    problem: (problem, x) =>
      !x.stream && confused(x) ? { ...problem, status: 400 } : problem,
  },
  // A reply without content is reported as an empty success.
  "nothing-is-a-reply": {
    part: (part) => part.type === "failed" ? [] : [part],
    reply: (reply) =>
      reply.status >= 500
        ? { ...reply, status: 200, body: { content: [], choices: [] } }
        : reply,
  },
};

/** After ten unexpected replies every reply is empty. */
export const confusedForGood: Hooks = {
  part: (part, x) => {
    if (confused(x) && part.type === "stop") confusions++;
    return part.type === "text" && confusions > 10 ? [] : [part];
  },
};

/** A reply reports the token counts of another one. */
export const usageMixes: Hooks = {
  part: (part) => {
    if (part.type !== "usage") return [part];
    const usage = { ...part.usage, ...lastUsage };
    lastUsage = part.usage;
    return [{ ...part, usage }];
  },
};
