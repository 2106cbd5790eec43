/**
 * An HTTP server that outlives a lack of file descriptors: Deno's ends with the first connection
 * that it cannot accept, and its open connections are answered no more.
 */

interface SteadyServer {
  /** Accepts no connection from now on; resolves when all requests have ended. */
  shutdown(): Promise<void>;
}

interface SteadyOptions {
  /** As of `Deno.serve`; absent: its default. */
  readonly listen:
    | { readonly hostname: string; readonly port: number }
    | undefined;
  readonly onListen: (address: { hostname: string; port: number }) => void;
  /** `peer`: the address of the connection's other end. */
  readonly handle: (
    request: Request,
    peer: () => string,
  ) => Promise<Response>;
  /** A connection could not be accepted: the idle ones are ended, so that there is room. */
  readonly onExhausted: (error: unknown) => void;
  /** After that: it accepts connections again. */
  readonly onAccepting: () => void;
}

/** Between two attempts to listen again, and two servers. */
const PAUSE_MS = 10;

/**
 * Starts a server.
 *
 * @throws whatever `Deno.serve` throws
 */
export function serveSteadily(
  { listen, onListen, handle, onExhausted, onAccepting }: SteadyOptions,
): SteadyServer {
  /** The servers that still have requests. */
  const ending = new Set<Promise<void>>();
  let isOver = false;
  const start = (
    options: Deno.ServeTcpOptions,
  ): Deno.HttpServer<Deno.NetAddr> => {
    const server = Deno.serve(
      options,
      (request, info) => handle(request, () => info.remoteAddr.hostname),
    );
    server.finished.catch((error) => void replace(server, error));
    return server;
  };
  const replace = async (
    { addr, shutdown }: Deno.HttpServer<Deno.NetAddr>,
    error: unknown,
  ): Promise<void> => {
    // Ends the idle connections and waits for the others.
    const ended = shutdown().catch(() => {}).finally(() =>
      ending.delete(ended)
    );
    ending.add(ended);
    if (isOver) return;
    onExhausted(error);
    const { hostname, port } = addr;
    while (!isOver) {
      try {
        current = start({ hostname, port, onListen: onAccepting });
        return;
      } catch {
        await new Promise((resolve) => void setTimeout(resolve, PAUSE_MS));
      }
    }
  };
  let current = start({ ...listen, onListen });
  return {
    async shutdown() {
      isOver = true;
      await Promise.all([current.shutdown(), ...ending]);
    },
  };
}
