/**
 * Debian's nginx with exactly the configuration in docs/operations.md.
 */
import assert from "node:assert/strict";
import { collected } from "../programs/collected_program.ts";
import { temporaryFolder } from "../temporary_folder.ts";
import { documentedBlock, installed, type Proxy } from "./proxy.ts";

/** The program; undefined where it is not installed. */
export const NGINX: string | undefined = await installed(
  "/usr/sbin/nginx",
  "/usr/local/sbin/nginx",
);

interface Nginx extends Proxy {
  /** Calls these gateways from now on; resolves once no new request reaches others. */
  reload(gatewayUrls: readonly string[]): Promise<void>;
}

/**
 * The documented block, changed for the test: the gateways' ports, a Unix socket, and no
 * certificate.
 */
async function documentedConfig(
  gatewayUrls: readonly string[],
  socket: string,
  change: (config: string) => string,
): Promise<string> {
  const config = (await documentedBlock("nginx"))
    .replace(
      /^.*127\.0\.0\.1:8787.*\n/m,
      (line) =>
        gatewayUrls.map((url) =>
          line.replace("127.0.0.1:8787", new URL(url).host)
        ).join(""),
    )
    .replace("listen 443 ssl;", `listen unix:${socket};`)
    .replaceAll(/^ *ssl_certificate.*\n/gm, "");
  assert.doesNotMatch(config, /:8787|listen 443|ssl/);
  return change(config);
}

/**
 * Starts nginx in a temporary folder in front of gateways and waits until it listens. `change` is made
 * to the documented block.
 */
export async function startNginx(
  program: string,
  gatewayUrls: readonly string[],
  change: (config: string) => string = (config) => config,
): Promise<Nginx> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder());
  // Started by root, its workers run as another user.
  await Deno.chmod(folder, 0o755);
  const path = `${folder}/nginx.sock`;
  const file = `${folder}/nginx.conf`;
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  ).join("\n");
  const write = async (urls: readonly string[]): Promise<void> => {
    await Deno.writeTextFile(
      file,
      `daemon off;\npid ${folder}/pid;\nerror_log stderr notice;\n` +
        `events { worker_connections 4096; }\nhttp {\naccess_log off;\n${temporary}\n` +
        `${await documentedConfig(urls, path, change)}\n}\n`,
    );
  };
  await write(gatewayUrls);
  const nginx = collected(
    new Deno.Command(program, {
      args: ["-e", "stderr", "-p", folder, "-c", file],
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn(),
  );
  stack.defer(async () => {
    if (!nginx.isOver()) nginx.signal("SIGTERM");
    await nginx.ended;
  });
  await nginx.printed(/start worker process \d/);
  const connect = () => Deno.connect({ transport: "unix", path });
  const bridge = startBridge(connect);
  stack.defer(() => bridge.close());
  const ending = stack.move();
  return {
    url: `http://127.0.0.1:${bridge.addr.port}`,
    host: "models.example.com",
    connect,
    async reload(urls) {
      const from = nginx.output().length;
      await write(urls);
      nginx.signal("SIGHUP");
      await nginx.printed(new RegExp(`^[^]{${from}}[^]*gracefully shutting`));
    },
    [Symbol.asyncDispose]: () => ending.disposeAsync(),
  };
}

/** Passes connections to a TCP port on to a Unix socket, which libraries do not call. */
function startBridge(
  connect: () => Promise<Deno.UnixConn>,
): Deno.TcpListener {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const accept = async (): Promise<void> => {
    for await (const client of listener) {
      const server = await connect();
      client.readable.pipeTo(server.writable).catch(() => {});
      server.readable.pipeTo(client.writable).catch(() => {});
    }
  };
  void accept();
  return listener;
}
