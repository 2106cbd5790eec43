/**
 * Mutants for the checks of the area `transport` about methods, paths, headers, and requests after
 * refused ones.
 */
import type {
  Context,
  Hooks,
  JsonReply,
} from "../../reference_gateway/hooks.ts";
import { problemOf } from "../../reference_gateway/problems.ts";

/** Changes the replies of a status. */
export function replies(
  status: number,
  change: (reply: JsonReply, x: Context) => JsonReply,
): Hooks {
  return {
    reply: (reply, x) => reply.status === status ? change(reply, x) : reply,
  };
}

/** Refuses requests that satisfy the test. */
export function refusing(status: number, test: (x: Context) => boolean): Hooks {
  return {
    accept: (problem, _, x) =>
      test(x) ? problemOf(status, "This request is not possible") : problem,
  };
}

export const html = (reply: JsonReply): JsonReply => ({
  ...reply,
  headers: { ...reply.headers, "content-type": "text/html" },
});

/** Fails after some refusals with this status. */
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
