/**
 * A relay in front of a server that passes everything on some milliseconds later, both ways, as a
 * network does.
 */

/** The relay. Disposing of it closes all connections. */
interface DelayRelay extends AsyncDisposable {
  /** Address of the server through the relay. */
  readonly url: string;
}

/** Starts a relay to the server of an address. */
export function startDelayRelay(serverUrl: string, ms: number): DelayRelay {
  const server = new URL(serverUrl);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = new URL(serverUrl);
  url.hostname = "127.0.0.1";
  url.port = String(listener.addr.port);
  const open = new Set<Deno.TcpConn>();
  const close = (ends: Iterable<Deno.TcpConn>): void => {
    for (const end of ends) if (open.delete(end)) end.close();
  };
  const serve = async (here: Deno.TcpConn): Promise<void> => {
    const there = await Deno.connect({
      hostname: server.hostname,
      port: Number(server.port),
    });
    const ends = [here, there];
    for (const end of ends) {
      open.add(end);
      end.setNoDelay(true);
    }
    await Promise.all([pass(here, there, ms), pass(there, here, ms)].map(
      (passing) => passing.catch(() => {}).finally(() => close(ends)),
    ));
  };
  const serving = new Set<Promise<void>>();
  const accepting = (async () => {
    for await (const here of listener) serving.add(serve(here));
  })();
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      close([...open]);
      await Promise.all(serving);
    },
  };
}

/** Passes on what arrives, in order, each piece `ms` after its arrival, until the end. */
async function pass(
  from: Deno.TcpConn,
  to: Deno.TcpConn,
  ms: number,
): Promise<void> {
  let last: Promise<void> = Promise.resolve();
  const room = new Uint8Array(65_536);
  for (;;) {
    const length = await from.read(room);
    if (length === null) break;
    const bytes = room.slice(0, length);
    const due = new Promise<void>((resolve) => setTimeout(resolve, ms));
    last = last.then(async () => {
      await due;
      for (let at = 0; at < bytes.length;) {
        at += await to.write(bytes.subarray(at));
      }
    });
    // A failed write closes the connection, which ends the reading.
    last.catch(() => {});
  }
  await last;
}
