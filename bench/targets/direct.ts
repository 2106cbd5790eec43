/**
 * No proxy at all. The processor time told for it is the mock upstream's.
 *
 * @module
 */
import { handedThrough, siteFor, type TargetKind } from "./target.ts";

/** The target. */
export const direct: TargetKind = {
  name: "direct",
  about: "the mock upstream itself, with its processor time",
  prepare: ({ port, pid }) =>
    siteFor(() =>
      Promise.resolve({
        pid,
        address: (direction) => handedThrough(port, direction),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      })
    ),
};
