/**
 * Debian's nginx with exactly the configuration in docs/operations.md.
 */
import assert from "node:assert/strict";

const PAGE = new URL("../../../docs/operations.md", import.meta.url);

/** The program; undefined where it is not installed. */
export const NGINX: string | undefined = await (async () => {
  for (const path of ["/usr/sbin/nginx", "/usr/local/sbin/nginx"]) {
    const found = await Deno.stat(path).catch(() => undefined);
    if (found?.isFile === true) return path;
  }
  return undefined;
})();

export interface Nginx {
  /** Path of the socket that it listens on, without TLS. */
  readonly socket: string;
  /** Calls these gateways from now on; resolves once no new request reaches others. */
  reload(gatewayUrls: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/**
 * The documented block, changed for the test: the gateways' ports, a Unix socket, and no
 * certificate.
 */
async function documentedConfig(
  gatewayUrls: readonly string[],
  socket: string,
  connections: number,
): Promise<string> {
  const block = /```nginx\n([^]*?)```/.exec(await Deno.readTextFile(PAGE))
    ?.[1];
  assert.ok(block !== undefined, "docs/operations.md has no nginx block");
  const config = block
    .replace(
      /^.*127\.0\.0\.1:8787.*\n/m,
      (line) =>
        gatewayUrls.map((url) =>
          line.replace("127.0.0.1:8787", new URL(url).host)
        ).join(""),
    )
    .replace("limit_conn callers 200;", `limit_conn callers ${connections};`)
    .replace("listen 443 ssl;", `listen unix:${socket};`)
    .replaceAll(/^ *ssl_certificate.*\n/gm, "");
  assert.doesNotMatch(config, /:8787|listen 443|ssl/);
  return config;
}

/**
 * Starts nginx in a temporary folder in front of gateways and waits until it listens. `connections`
 * are those that one address may have; absent: as documented.
 */
export async function startNginx(
  program: string,
  gatewayUrls: readonly string[],
  connections: number = 200,
): Promise<Nginx> {
  const folder = await Deno.makeTempDir();
  // Started by root, its workers run as another user.
  await Deno.chmod(folder, 0o755);
  const socket = `${folder}/nginx.sock`;
  const file = `${folder}/nginx.conf`;
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  ).join("\n");
  const write = async (urls: readonly string[]): Promise<void> => {
    await Deno.writeTextFile(
      file,
      `daemon off;\npid ${folder}/pid;\nerror_log stderr notice;\n` +
        `events { worker_connections 4096; }\nhttp {\naccess_log off;\n${temporary}\n` +
        `${await documentedConfig(urls, socket, connections)}\n}\n`,
    );
  };
  await write(gatewayUrls);
  const child = new Deno.Command(program, {
    args: ["-e", "stderr", "-p", folder, "-c", file],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let text = "";
  const looks = new Set<() => void>();
  const reading = (async () => {
    for await (
      const piece of child.stderr.pipeThrough(new TextDecoderStream())
    ) {
      text += piece;
      for (const look of [...looks]) look();
    }
  })();
  /** Resolves once nginx has printed something that matches, from an offset on. */
  const printed = async (wanted: RegExp, from: number): Promise<void> => {
    const found = Promise.withResolvers<void>();
    const look = (): void => {
      if (wanted.test(text.slice(from))) found.resolve();
    };
    looks.add(look);
    look();
    try {
      await Promise.race([
        found.promise,
        reading.then(() => {
          throw new Error(`nginx has ended:\n${text}`);
        }),
      ]);
    } finally {
      looks.delete(look);
    }
  };
  await printed(/start worker process \d/, 0);
  return {
    socket,
    async reload(urls) {
      const from = text.length;
      await write(urls);
      child.kill("SIGHUP");
      await printed(/gracefully shutting down/, from);
    },
    async stop() {
      child.kill("SIGTERM");
      await child.status;
      await reading.catch(() => {});
      await Deno.remove(folder, { recursive: true });
    },
  };
}
