/** Mutants for the checks of the area `transport`. */
import { UPSTREAM_KEY } from "../golden/call_upstream.ts";
import type { Mutant } from "./mutant.ts";

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
];
