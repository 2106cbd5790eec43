/**
 * The least that a proxy in Deno can do: `Deno.serve` gives back what `fetch` got, nothing read. All ratios are to this one.
 *
 * @module
 */
import { startChild } from "../child.ts";
import { handedThrough, siteFor, type TargetKind } from "./target.ts";

/** The target. */
export const rawPipe: TargetKind = {
  name: "raw pipe",
  about: `Deno.serve handing fetch's body through, Deno ${Deno.version.deno}`,
  prepare: (upstream) =>
    siteFor(async () => {
      const startedMs = performance.now();
      const child = startChild("targets/raw_pipe_server.ts", [
        String(upstream.port),
      ]);
      // What the program says is in its file.
      const { port } = await child.next() as { readonly port: number };
      return {
        pid: child.pid,
        readyMs: performance.now() - startedMs,
        address: (direction) => handedThrough(port, direction),
        [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
      };
    }),
};
