/** Mutants for the checks of the area `transport`. */
import { UPSTREAM_KEY } from "../../reference_gateway/call_upstream.ts";
import type { Hooks, Writer } from "../../reference_gateway/hooks.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import { TRANSPORT_HEAD_MUTANTS } from "./faults_heads.ts";
import { TRANSPORT_FORBIDDEN_MUTANTS } from "./faults_forbidden.ts";
import { UNREAD_BODY_MUTANTS } from "./faults_unread_body.ts";
import { TRANSPORT_REQUEST_MUTANTS } from "./faults_requests.ts";

/** Buffers pieces of streams until the test is true; then all of them are sent. */
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
function heldFrom(frame: number): Hooks {
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
function ending(end: (writer: Writer) => void): Hooks {
  return {
    writer: (writer, { stream }) =>
      stream ? { ...writer, end: () => end(writer) } : writer,
  };
}

const sizeOf = (held: readonly Uint8Array[]): number =>
  held.reduce((sum, { length }) => sum + length, 0);

/** Text of the last stream, which a mutant sends in the next one. */
let lastText = "";
let underway = 0;

/** All mutants of the area `transport`. */
export const TRANSPORT_MUTANTS: readonly Mutant[] = [
  {
    name: "stream-buffered",
    about: "The stream is buffered until its end",
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
    about: "The upstream call continues when the client disconnects",
    hooks: { hangUpCancels: () => false },
  },
  {
    name: "401-echoes-key",
    about: "A refusal repeats the key of the request",
    hooks: {
      problem: (problem, { request }) =>
        problem.status === 401
          ? { ...problem, message: `bad key ${request.headers["x-api-key"]}` }
          : problem,
    },
  },
  {
    name: "upstream-key-in-header",
    about: "A debugging header contains the upstream's key",
    hooks: {
      reply: (reply) => ({
        ...reply,
        headers: { ...reply.headers, "x-debug": `key=${UPSTREAM_KEY}` },
      }),
    },
  },
  {
    name: "client-key-forwarded",
    about: "The client's key is sent upstream in a header",
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
    about: "The stream is sent in pieces of 4 KiB",
    hooks: holding((held) => sizeOf(held) >= 4096),
  },
  {
    name: "stream-buffered-late",
    about: "After eight frames the stream is buffered until its end",
    hooks: holding((_, sent) => sent < 8),
  },
  {
    name: "slow-stream-buffered",
    about: "The stream of a slow model is buffered until its end",
    hooks: heldFrom(0),
  },
  {
    name: "slow-stream-buffered-late",
    about: "The stream of a slow model is buffered after four frames",
    hooks: heldFrom(4),
  },
  {
    name: "stream-one-behind",
    about: "Each frame is sent only when the next one arrives",
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
    about:
      "The upstream call of a whole reply continues when the client disconnects",
    hooks: { hangUpCancels: ({ stream }) => stream },
  },
  {
    name: "texts-swapped",
    about: "A stream has the text of the previous stream",
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
    about: "When many streams are under way, text is lost",
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
    about: "A refusal repeats the authorization header of the request",
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
    about: "Replies contain the client's key",
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
    about: "The upstream's words about the gateway's key reach the client",
    hooks: {
      problem: (problem) =>
        problem.message.includes("status 40")
          ? { ...problem, message: `Incorrect API key: ${UPSTREAM_KEY}` }
          : problem,
    },
  },
  {
    name: "key-in-upstream-address",
    about: "The upstream's address contains a key",
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
  ...TRANSPORT_FORBIDDEN_MUTANTS,
  ...TRANSPORT_REQUEST_MUTANTS,
  ...UNREAD_BODY_MUTANTS,
];
