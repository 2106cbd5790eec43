/**
 * No proxy at all: what the mock upstream and the load generator take by themselves.
 *
 * @module
 */
import { handedThrough, type TargetKind } from "./target.ts";

/** The target. */
export const direct: TargetKind = {
  name: "direct",
  about: "the mock upstream itself",
  start: ({ port }) =>
    Promise.resolve({
      address: (direction) => handedThrough(port, direction),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
};
