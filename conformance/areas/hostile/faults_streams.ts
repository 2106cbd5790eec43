/**
 * Mutants for the checks of the area `hostile`: gateways that make a reply of a stream that broke
 * off or failed.
 */
import type {
  Context,
  Hooks,
  OutFrame,
} from "../../reference_gateway/hooks.ts";
import type { Part } from "../../reference_gateway/part.ts";
import { isObject, objectOf } from "@model-gateway/replay/json";
import type { NeutralUsage } from "@model-gateway/replay/neutral_reply";
import { withAt } from "../../reference_gateway/change_reply.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

const encoder = new TextEncoder();

/** Changes the upstream's text as a whole. */
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
let lastUsage: Partial<NeutralUsage> = {};

/** Part of `HOSTILE_MUTANTS`. */
export const STREAM_MUTANTS: readonly Mutant[] = [
  {
    name: "break-is-silent",
    about: "A stream that broke off ends without an error",
    hooks: {
      ...errorFrame(() => []),
      reply: (reply) =>
        reply.status >= 500 ? { ...reply, status: 200, body: {} } : reply,
    },
  },
  {
    name: "break-is-told-and-finished",
    about: "After an error the stream ends as if it were complete",
    hooks: errorFrame((frame, { endpoint }) => [
      frame,
      endpoint === "chat"
        ? { data: "[DONE]" }
        : { event: "message_stop", data: { type: "message_stop" } },
    ]),
  },
  {
    name: "break-without-words-becomes-end",
    about: "A stream that broke off before any text becomes an empty reply",
    hooks: onFailure((part, textBefore) => textBefore === "" ? [] : [part]),
  },
  {
    name: "late-break-becomes-end",
    about: "A stream that broke off after some text is reported as complete",
    hooks: onFailure((part, textBefore) =>
      textBefore.length > 12 ? [] : [part]
    ),
  },
  {
    name: "break-has-no-message",
    about: "The error of a stream has no message",
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
    about: "The break of a stream is reported in the reply's text",
    hooks: onFailure((part) => [
      { type: "text", text: " [connection lost]" },
      part,
    ]),
  },
  {
    name: "half-replies-are-replies",
    about: "A whole reply is built from whatever arrived",
    hooks: onFailure((part, _, { stream }) => stream ? [part] : []),
  },
  {
    name: "broken-replies-are-400",
    about: "A broken upstream reply is reported as the client's mistake",
    hooks: {
      problem: (problem) =>
        problem.status >= 500 ? { ...problem, status: 400 } : problem,
    },
  },
  {
    name: "confused-streams-lose-words",
    about:
      "The rest of an unexpected stream is dropped, and the stream ends as if it were complete",
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
    about: "Frames that are not JSON are passed on",
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
    about: "Only a part of an unexpected whole reply is sent",
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
    about: "A reply without content is reported as an empty success",
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
    about: "A chat stream without its last line is reported as broken",
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
    about: "After ten unexpected replies every reply is empty",
    hooks: {
      part: (part, x) => {
        if (confused(x) && part.type === "stop") confusions++;
        return part.type === "text" && confusions > 10 ? [] : [part];
      },
    },
  },
  {
    name: "replies-mix",
    about: "A reply contains text of other requests",
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
    about: "A reply reports the token counts of another one",
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
