/** Mutants for the checks of the area `hostile`: gateways that make something of what stopped or failed. */
import type { Context, Hooks, OutFrame } from "../golden/hooks.ts";
import type { Part } from "../golden/part.ts";
import { isObject, objectOf } from "../replay/json.ts";
import type { SaidUsage } from "../replay/said.ts";
import { withAt } from "./change_reply.ts";
import type { Mutant } from "./mutant.ts";

const encoder = new TextEncoder();

/** Spoils the upstream's text as a whole. */
export function wholeText(change: (text: string) => string): Hooks {
  return {
    upstreamBytes: async function* (bytes) {
      const all = await new Response(ReadableStream.from(bytes)).arrayBuffer();
      // `ignoreBOM` keeps the mark for the mutant to trip over.
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(all);
      yield encoder.encode(change(text));
    },
  };
}

/** What becomes of a failure in the middle; `said` is the text before it. */
function onFailure(
  change: (part: Part, said: string, x: Context) => readonly Part[],
): Hooks {
  return {
    part: (part, x) => {
      const said = String(x.state.get("said") ?? "");
      if (part.type === "text") x.state.set("said", said + part.text);
      return part.type === "failed" ? change(part, said, x) : [part];
    },
  };
}

/** Changes the error frame of a stream. */
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
let lastText = "";
let lastUsage: Partial<SaidUsage> = {};

/** The mutants. */
export const STREAM_MUTANTS: readonly Mutant[] = [
  {
    name: "break-is-silent",
    about: "A stream that broke off ends without a word",
    hooks: {
      ...errorFrame(() => []),
      reply: (reply) =>
        reply.status >= 500 ? { ...reply, status: 200, body: {} } : reply,
    },
  },
  {
    name: "break-is-told-and-finished",
    about: "After an error the stream ends as if all were well",
    hooks: errorFrame((frame, { endpoint }) => [
      frame,
      endpoint === "chat"
        ? { data: "[DONE]" }
        : { event: "message_stop", data: { type: "message_stop" } },
    ]),
  },
  {
    name: "break-without-words-becomes-end",
    about: "A stream that broke off before any text is an empty reply",
    hooks: onFailure((part, said) => said === "" ? [] : [part]),
  },
  {
    name: "late-break-becomes-end",
    about: "A stream that broke off after some text is taken for finished",
    hooks: onFailure((part, said) => said.length > 12 ? [] : [part]),
  },
  {
    name: "break-has-no-message",
    about: "The error of a stream says nothing",
    hooks: errorFrame((frame) => [{
      ...frame,
      data: withAt(objectOf(frame.data), "error.message", ""),
    }]),
  },
  {
    name: "break-has-no-event-name",
    about: "The error of a message stream has no event line",
    hooks: errorFrame(({ data }) => [{ data }]),
  },
  {
    name: "break-adds-words",
    about: "The caller is told of a broken stream in the reply itself",
    hooks: onFailure((part) => [
      { type: "text", text: " [connection lost]" },
      part,
    ]),
  },
  {
    name: "half-replies-are-replies",
    about: "A whole reply is made of whatever arrived",
    hooks: onFailure((part, _, { stream }) => stream ? [part] : []),
  },
  {
    name: "broken-replies-are-400",
    about: "A broken upstream is the caller's fault",
    hooks: {
      problem: (problem) =>
        problem.status >= 500 ? { ...problem, status: 400 } : problem,
    },
  },
  {
    name: "confused-streams-lose-words",
    about: "Of a strange stream the rest is left out, and it ends well",
    hooks: {
      part: (part, x) => {
        if (!x.stream || !confused(x)) return [part];
        if (part.type === "failed") return [];
        return part.type === "text" && part.text.includes("o") ? [] : [part];
      },
      problem: (problem, x) =>
        x.stream && confused(x) ? { ...problem, status: 400 } : problem,
    },
  },
  {
    name: "confused-streams-hold-no-json",
    about: "What is no JSON is passed on",
    hooks: {
      wire: (text, x) =>
        confused(x) && text.includes("brown")
          ? `data: {"broken": "json\n\n${text}`
          : text,
      problem: (problem, x) =>
        x.stream && confused(x) ? { ...problem, status: 400 } : problem,
    },
  },
  {
    name: "confused-replies-lose-words",
    about: "Of a strange whole reply only a part is told",
    hooks: {
      part: (part, x) => {
        if (x.stream || !confused(x)) return [part];
        if (part.type === "failed") return [];
        return part.type === "text" && part.text.includes("o") ? [] : [part];
      },
      problem: (problem, x) =>
        !x.stream && confused(x) ? { ...problem, status: 400 } : problem,
    },
  },
  {
    name: "nothing-is-a-reply",
    about: "Nothing is told as an empty reply",
    hooks: {
      part: (part) => part.type === "failed" ? [] : [part],
      reply: (reply) =>
        reply.status >= 500
          ? { ...reply, status: 200, body: { content: [], choices: [] } }
          : reply,
    },
  },
  {
    name: "no-done-is-a-break",
    about: "Without its last line a chat stream counts as broken",
    hooks: {
      ...wholeText((text) =>
        text.includes('"choices"') && !text.includes("[DONE]")
          ? text.split('data: {"id"').slice(0, -3).join('data: {"id"')
          : text
      ),
    },
  },
  {
    name: "confused-for-good",
    about: "After ten strange replies every reply is empty",
    hooks: {
      part: (part, x) => {
        if (confused(x) && part.type === "stop") confusions++;
        return part.type === "text" && confusions > 10 ? [] : [part];
      },
    },
  },
  {
    name: "replies-mix",
    about: "Texts of other requests get into a reply",
    hooks: {
      part: (part) => {
        if (part.type !== "text") return [part];
        const text = lastText === "" ? part.text : lastText;
        lastText = part.text;
        return [{ ...part, text }];
      },
    },
  },
  {
    name: "usage-mixes",
    about: "A reply is billed with the tokens of another",
    hooks: {
      part: (part) => {
        if (part.type !== "usage") return [part];
        const usage = { ...part.usage, ...lastUsage };
        lastUsage = part.usage;
        return [{ ...part, usage }];
      },
    },
  },
  {
    name: "request-ids-repeat",
    about: "All replies have the same request id",
    hooks: {
      reply: (reply) => ({
        ...reply,
        headers: { ...reply.headers, "request-id": "req_1" },
      }),
      streamHeaders: (headers) => ({ ...headers, "request-id": "req_1" }),
    },
  },
];
