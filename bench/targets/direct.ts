/**
 * No proxy: requests go directly to the mock upstream, and the reported processor time is the
 * mock's.
 */
import { passThroughAddress, siteFor, type TargetKind } from "./target.ts";

/** The direct connection, the baseline of delays. */
export const direct: TargetKind = {
  name: "direct",
  about: "the mock upstream itself, with its processor time",
  prepare: ({ port, pid, authority }) =>
    siteFor(() =>
      Promise.resolve({
        pid,
        // The load generator does not use TLS.
        address: (direction) =>
          authority === undefined
            ? passThroughAddress(port, direction)
            : undefined,
        [Symbol.asyncDispose]: () => Promise.resolve(),
      })
    ),
};
