/**
 * Mutants for the checks of the area `transport` about refused requests whose body the target need
 * not read.
 */
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** Part of `TRANSPORT_MUTANTS`. */
export const UNREAD_BODY_MUTANTS: readonly Mutant[] = [
  {
    name: "refusal-closes-silently",
    about: "A refusal closes the connection without announcing it",
    hooks: {
      reply: (reply) =>
        reply.status === 200 ? reply : {
          ...reply,
          headers: { ...reply.headers, connection: "keep-alive" },
        },
    },
  },
  {
    name: "refusal-resets",
    about: "A refusal resets the connection while the body is being sent",
    hooks: {
      writer: (writer) => {
        let refused = false;
        return {
          ...writer,
          head: (status, headers) => {
            refused = status === 413;
            writer.head(status, headers);
          },
          end: () => refused ? writer.reset() : writer.end(),
        };
      },
    },
  },
];
