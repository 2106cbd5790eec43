/**
 * A proxy in front of a Postgres server that can lose the reply to a COMMIT: the server
 * commits, and the connection ends before the reply arrives. It can also hold back what it
 * passes on, with connections that stay open, as a network does that is cut, and move to another
 * server.
 */

/** The proxy. Disposing of it closes all connections. */
export interface CutProxy extends AsyncDisposable {
  /** Address of the server through the proxy. */
  readonly url: string;
  /** Loses the reply to the next COMMIT. */
  loseNextCommit(): void;
  /** Passes nothing on, or no replies, until {@linkcode CutProxy.release}. */
  hold(what: "all" | "replies"): void;
  /** Passes on what it held back. */
  release(): void;
  /** Closes all connections; those that follow reach another server. */
  move(serverUrl: string): void;
}

export function startCutProxy(serverUrl: string): CutProxy {
  let server = new URL(serverUrl);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = new URL(serverUrl);
  url.hostname = "127.0.0.1";
  url.port = String(listener.addr.port);
  const open = new Set<Deno.Conn>();
  const closeEnds = (ends: Iterable<Deno.Conn>): void => {
    for (const end of ends) {
      if (!open.delete(end)) continue;
      try {
        end.close();
      } catch {
        // The end of its stream has closed it.
      }
    }
  };
  let armed = false;
  let held: "all" | "replies" | undefined;
  let released = Promise.withResolvers<void>();
  const serve = async (here: Deno.Conn): Promise<void> => {
    const target = server;
    const there = await Deno.connect({
      hostname: target.hostname,
      port: Number(target.port),
    }).catch(() => undefined);
    // No server is there, or no longer this one: as if the connection were refused.
    if (there === undefined || target !== server) {
      there?.close();
      return here.close();
    }
    const both = [here, there];
    for (const end of both) open.add(end);
    let isCut = false;
    const close = (): void => closeEnds(both);
    const pump = async (
      from: Deno.Conn,
      to: Deno.Conn,
      isReply: boolean,
      passes: (bytes: Uint8Array) => boolean,
    ): Promise<void> => {
      try {
        for await (
          const bytes of from.readable.values({ preventCancel: true })
        ) {
          if (!passes(bytes)) break;
          if (held === "all" || isReply && held !== undefined) {
            await released.promise;
          }
          for (let at = 0; at < bytes.length;) {
            at += await to.write(bytes.subarray(at));
          }
        }
      } catch {
        // One of the connections has ended.
      }
      close();
    };
    await Promise.all([
      pump(here, there, false, (bytes) => {
        if (
          armed && new TextDecoder("latin1").decode(bytes).includes("COMMIT\0")
        ) {
          armed = false;
          isCut = true;
        }
        return true;
      }),
      // The first bytes after the COMMIT are its reply.
      pump(there, here, true, () => !isCut),
    ]);
  };
  const serving = new Set<Promise<void>>();
  const accepting = (async () => {
    for await (const here of listener) serving.add(serve(here));
  })();
  return {
    url: url.href,
    loseNextCommit() {
      armed = true;
    },
    hold(what) {
      held = what;
      released = Promise.withResolvers<void>();
    },
    release() {
      held = undefined;
      released.resolve();
    },
    move(to) {
      server = new URL(to);
      closeEnds(open);
    },
    async [Symbol.asyncDispose]() {
      released.resolve();
      listener.close();
      await accepting;
      closeEnds(open);
      await Promise.all(serving);
    },
  };
}
