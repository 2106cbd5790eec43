/** A server that accepts connections and never answers. */
interface SilentServer extends AsyncDisposable {
  /** `127.0.0.1` with the port. */
  readonly host: string;
  connections(): number;
}

export function silentServer(): SilentServer {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const open: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const conn of listener) open.push(conn);
  })();
  return {
    host: `127.0.0.1:${listener.addr.port}`,
    connections: () => open.length,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const conn of open) conn.close();
      await accepting;
    },
  };
}
