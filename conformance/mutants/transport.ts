/** Mutants for the checks of the area `transport`. */
import { UPSTREAM_KEY } from "../golden/call_upstream.ts";
import type { Hooks, Writer } from "../golden/hooks.ts";
import type { Mutant } from "./mutant.ts";
import { TRANSPORT_HEAD_MUTANTS } from "./transport_heads.ts";
import { TRANSPORT_SAID_MUTANTS } from "./transport_said.ts";
import { TRANSPORT_REQUEST_MUTANTS } from "./transport_requests.ts";

/** The golden gateway that holds back pieces of streams until the test says so; then all that is held goes out. */
function holding(
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

/** The golden gateway whose streams end in a way of their own. */
function ending(end: (writer: Writer) => void): Hooks {
  return {
    writer: (writer, { stream }) =>
      stream ? { ...writer, end: () => end(writer) } : writer,
  };
}

const sizeOf = (held: readonly Uint8Array[]): number =>
  held.reduce((sum, { length }) => sum + length, 0);

/** What the last stream said: a mutant mixes it into the next one. */
let lastText = "";
let underway = 0;

/** The mutants. */
export const TRANSPORT_MUTANTS: readonly Mutant[] = [
  {
    name: "stream-buffered",
    about: "The stream is held back until its end",
    hooks: {
      writer: (writer, { stream }) => {
        if (!stream) return writer;
        const held: Uint8Array[] = [];
        return {
          ...writer,
          piece: (bytes) => void held.push(bytes),
          end: () => {
            for (const bytes of held) writer.piece(bytes);
            writer.end();
          },
        };
      },
    },
  },
  {
    name: "hang-up-ignored",
    about: "The upstream call goes on when the caller leaves",
    hooks: { hangUpCancels: () => false },
  },
  {
    name: "401-echoes-key",
    about: "A refusal repeats the key that was shown",
    hooks: {
      problem: (problem, { request }) =>
        problem.status === 401
          ? { ...problem, message: `bad key ${request.headers["x-api-key"]}` }
          : problem,
    },
  },
  {
    name: "upstream-key-in-header",
    about: "A debugging header shows the upstream's key",
    hooks: {
      reply: (reply) => ({
        ...reply,
        headers: { ...reply.headers, "x-debug": `key=${UPSTREAM_KEY}` },
      }),
    },
  },
  {
    name: "client-key-forwarded",
    about: "The caller's key travels upstream in a header",
    hooks: {
      upstream: (call, { request }) => ({
        ...call,
        headers: {
          ...call.headers,
          "x-client": request.headers["x-api-key"] ??
            request.headers["authorization"] ?? "",
        },
      }),
    },
  },
  {
    name: "stream-buffered-by-size",
    about: "The stream goes out in pieces of 4 KiB",
    hooks: holding((held) => sizeOf(held) >= 4096),
  },
  {
    name: "stream-buffered-late",
    about: "After eight frames the stream is held back until its end",
    hooks: holding((_, sent) => sent < 8),
  },
  {
    name: "stream-one-behind",
    about: "Each frame waits for the next one",
    hooks: {
      writer: (writer, { stream }) => {
        if (!stream) return writer;
        let waiting: Uint8Array | undefined;
        const next = (bytes?: Uint8Array): void => {
          if (waiting !== undefined) writer.piece(waiting);
          waiting = bytes;
        };
        return {
          ...writer,
          piece: next,
          end: () => {
            next();
            writer.end();
          },
        };
      },
    },
  },
  {
    name: "hang-up-of-whole-ignored",
    about: "The upstream call of a whole reply goes on when the caller leaves",
    hooks: { hangUpCancels: ({ stream }) => stream },
  },
  {
    name: "texts-swapped",
    about: "A stream gets the words that another one had last",
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
    name: "concurrent-text-lost",
    about: "When many streams are under way, words are lost",
    hooks: {
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
    },
  },
  {
    name: "stream-reset-at-end",
    about: "A stream ends with a reset",
    hooks: ending((writer) => writer.reset()),
  },
  {
    name: "stream-never-ends",
    about: "A stream stays open after its last frame",
    hooks: ending(() => {}),
  },
  {
    name: "401-echoes-bearer",
    about: "A refusal repeats the authorization that was shown",
    hooks: {
      problem: (problem, { request }) =>
        problem.status === 401
          ? {
            ...problem,
            message: `no such key: ${request.headers["authorization"]}`,
          }
          : problem,
    },
  },
  {
    name: "key-in-every-reply",
    about: "Replies tell whose they are",
    hooks: {
      reply: (reply, { request }) => ({
        ...reply,
        body: {
          ...reply.body,
          caller: request.headers["x-api-key"] ??
            request.headers["authorization"] ?? "",
        },
      }),
    },
  },
  {
    name: "upstream-words-passed-on",
    about: "What the upstream says of the gateway's key is told to the caller",
    hooks: {
      problem: (problem) =>
        problem.message.includes("status 40")
          ? { ...problem, message: `Incorrect API key: ${UPSTREAM_KEY}` }
          : problem,
    },
  },
  {
    name: "key-in-upstream-address",
    about: "The upstream's address holds a key where none belongs",
    hooks: {
      upstream: (call) => ({
        ...call,
        url: `${call.url}${
          call.url.includes("?") ? "&" : "?"
        }caller=${UPSTREAM_KEY}`,
      }),
    },
  },
  {
    name: "sets-cookie",
    about: "Replies set a cookie",
    hooks: {
      reply: (reply) => ({
        ...reply,
        headers: { ...reply.headers, "set-cookie": "route=a; path=/" },
      }),
    },
  },
  ...TRANSPORT_HEAD_MUTANTS,
  ...TRANSPORT_SAID_MUTANTS,
  ...TRANSPORT_REQUEST_MUTANTS,
];
