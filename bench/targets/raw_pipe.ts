/**
 * The minimal proxy in Deno: `Deno.serve` returns the response of `fetch` and reads no bytes. It is
 * the baseline of all ratios.
 */
import { startChild } from "../load/child.ts";
import { freePort } from "./programs.ts";
import {
  passThroughAddress,
  siteFor,
  type TargetKind,
  trusting,
  upstreamUrl,
} from "./target.ts";

/** The raw pipe, the baseline of processor times. */
export const rawPipe: TargetKind = {
  name: "raw pipe",
  about: `Deno.serve handing fetch's body through, Deno ${Deno.version.deno}`,
  prepare: (upstream) =>
    siteFor(async ({ probed = false } = {}) => {
      const startedMs = performance.now();
      const probePort = freePort();
      const child = startChild("targets/raw_pipe_server.ts", [
        upstreamUrl(upstream),
        ...probed ? [String(probePort)] : [],
      ], trusting(upstream));
      // The message's shape is defined in raw_pipe_server.ts.
      const { port } = await child.receive() as { readonly port: number };
      return {
        pid: child.pid,
        readyMs: performance.now() - startedMs,
        ...probed ? { probeUrl: `http://127.0.0.1:${probePort}/` } : {},
        address: (direction) => passThroughAddress(port, direction),
        [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
      };
    }),
};
