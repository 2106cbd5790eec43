/**
 * A proxy on loopback that opens tunnels and takes whole requests. It alone knows where the names
 * of a test lead.
 */

export interface LoopbackProxy extends AsyncDisposable {
  /** `host:port`. */
  readonly address: string;
  /** The first line of the first request of each connection so far. */
  readonly requests: readonly string[];
  /** The `proxy-authorization` of these, empty without one. */
  readonly logins: readonly string[];
}

interface ProxyOptions {
  /** Ports of this machine by `host:port` of a request; others are refused with 403. */
  readonly leadsTo: Readonly<Record<string, number>>;
  /** The `proxy-authorization` that it asks for; absent: none. */
  readonly login?: string;
  /** What it answers to every request instead. */
  readonly answer?: string;
  /** Its own certificate; absent: it is reached without TLS. */
  readonly certificate?: { readonly cert: string; readonly key: string };
}

const LOCAL = { hostname: "127.0.0.1", port: 0 } as const;

/** Starts a proxy on a free port. */
export function startLoopbackProxy(options: ProxyOptions): LoopbackProxy {
  const listener: Deno.Listener<Deno.Conn> & { addr: Deno.Addr } =
    options.certificate === undefined
      ? Deno.listen(LOCAL)
      : Deno.listenTls({ ...LOCAL, ...options.certificate });
  const requests: string[] = [];
  const logins: string[] = [];
  const open = new Set<Deno.Conn>();
  const running = new Set<Promise<void>>();
  const close = (conn: Deno.Conn): void => {
    if (!open.delete(conn)) return;
    conn.close();
  };
  const serve = async (conn: Deno.Conn): Promise<void> => {
    open.add(conn);
    try {
      const head = await headOf(conn);
      if (head === undefined) return;
      const [line = ""] = head.split("\r\n");
      const [method, target = ""] = line.split(" ");
      const login = /^proxy-authorization: (.*)$/im.exec(head)?.[1] ?? "";
      requests.push(line);
      logins.push(login);
      const isTunnel = method === "CONNECT";
      const host = isTunnel ? target : hostOf(target);
      const port = options.leadsTo[host];
      const refusal = options.answer ??
        (options.login !== undefined && options.login !== login
          ? answerOf(407, "Proxy Authentication Required")
          : port === undefined
          ? answerOf(403, "Forbidden")
          : undefined);
      if (refusal !== undefined || port === undefined) {
        await writeAll(conn, refusal ?? "");
        return;
      }
      const upstream = await Deno.connect({ hostname: "127.0.0.1", port });
      open.add(upstream);
      try {
        if (isTunnel) await writeAll(conn, "HTTP/1.1 200 Established\r\n\r\n");
        else await writeAll(upstream, head);
        await Promise.race([copy(conn, upstream), copy(upstream, conn)]);
      } finally {
        close(upstream);
      }
    } catch {
      // One side has gone.
    } finally {
      close(conn);
    }
  };
  const accepting = (async () => {
    for await (const conn of listener) {
      const served = serve(conn);
      running.add(served);
      void served.then(() => running.delete(served));
    }
  })();
  const { port } = listener.addr as Deno.NetAddr;
  return {
    address: `127.0.0.1:${port}`,
    requests,
    logins,
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting.catch(() => {});
      for (const conn of open) close(conn);
      await Promise.all(running);
    },
  };
}

/** The head of a request and what came with it, as Latin-1; undefined where there is none. */
async function headOf(conn: Deno.Conn): Promise<string | undefined> {
  const bytes = new Uint8Array(16 * 1024);
  let head = "";
  while (!head.includes("\r\n\r\n")) {
    const size = await conn.read(bytes);
    if (size === null) return undefined;
    head += String.fromCharCode(...bytes.subarray(0, size));
  }
  return head;
}

function hostOf(target: string): string {
  if (!URL.canParse(target)) return target;
  const { hostname, port } = new URL(target);
  return `${hostname}:${port || 80}`;
}

function answerOf(status: number, text: string): string {
  return `HTTP/1.1 ${status} ${text}\r\ncontent-length: 0\r\n\r\n`;
}

async function writeAll(conn: Deno.Conn, text: string): Promise<void> {
  let rest = Uint8Array.from(text, (character) => character.charCodeAt(0));
  while (rest.length > 0) rest = rest.subarray(await conn.write(rest));
}

async function copy(from: Deno.Conn, to: Deno.Conn): Promise<void> {
  const bytes = new Uint8Array(16 * 1024);
  for (;;) {
    const size = await from.read(bytes);
    if (size === null) return;
    let rest = bytes.subarray(0, size);
    while (rest.length > 0) rest = rest.subarray(await to.write(rest));
  }
}
