/**
 * nginx with `proxy_pass`: a lower bound for the cost of any proxy.
 */
import {
  freePort,
  readToEnd,
  startProgram,
  stop,
  waitUntilReady,
} from "./programs.ts";
import {
  passThroughAddress,
  siteFor,
  Skipped,
  type TargetKind,
} from "./target.ts";

const NOT_INSTALLED = "nginx is not installed";

/** nginx as a target. */
export const nginx: TargetKind = {
  name: "nginx",
  about: "nginx, proxy_pass without buffering, one worker",
  async prepare(upstream) {
    if (await nginxProgram() === undefined) throw new Skipped(NOT_INSTALLED);
    return await siteFor(async () => {
      const proxy = await startNginx([upstream.port], upstream.authority);
      return {
        ...proxy,
        address: (direction) => passThroughAddress(proxy.port, direction),
      };
    });
  },
};

/** A running nginx. Disposing of it stops it. */
interface Nginx extends AsyncDisposable {
  /** Id of its only process. */
  readonly pid: number;
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Time from the start of the process to its first answer. */
  readonly readyMs: number;
}

/**
 * Starts nginx in front of some ports of this machine; with `authority`, the file of a certificate
 * authority, it calls them over TLS and verifies their certificates for `localhost`.
 *
 * @throws {Skipped} when nginx is not installed
 */
async function startNginx(
  upstreams: readonly number[],
  authority?: string,
): Promise<Nginx> {
  const program = await nginxProgram();
  if (program === undefined) throw new Skipped(NOT_INSTALLED);
  const folder = await Deno.makeTempDir({ prefix: "bench-nginx-" });
  const port = freePort();
  await Deno.writeTextFile(
    `${folder}/nginx.conf`,
    nginxConfig(folder, port, upstreams, authority),
  );
  const startedMs = performance.now();
  const process = startProgram(program, {
    args: ["-e", "stderr", "-p", folder, "-c", `${folder}/nginx.conf`],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  });
  const output = readToEnd(process.stderr);
  await waitUntilReady(`http://127.0.0.1:${port}/bench-ready`, process);
  return {
    pid: process.pid,
    port,
    readyMs: performance.now() - startedMs,
    async [Symbol.asyncDispose]() {
      await stop(process, "SIGTERM");
      await output;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Path of the nginx program; undefined when it is not installed. */
export async function nginxProgram(): Promise<string | undefined> {
  for (const path of ["/usr/sbin/nginx", "/usr/local/sbin/nginx"]) {
    const found = await Deno.stat(path).catch(() => undefined);
    if (found?.isFile === true) return path;
  }
  return undefined;
}

/** Configuration of one process that balances the requests over the upstream ports. */
function nginxConfig(
  folder: string,
  port: number,
  upstreams: readonly number[],
  authority: string | undefined,
): string {
  const tls = authority === undefined ? [] : [
    `proxy_ssl_trusted_certificate ${authority};`,
    "proxy_ssl_verify on;",
    "proxy_ssl_server_name on;",
    "proxy_ssl_name localhost;",
  ];
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  ).join("\n  ");
  return `daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr error;
worker_rlimit_nofile 20000;
events { worker_connections 10000; }
http {
  access_log off;
  ${temporary}
  upstream mock {
    ${upstreams.map((one) => `server 127.0.0.1:${one};`).join("\n    ")}
    keepalive 256;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    keepalive_requests 100000000;
    client_max_body_size 32m;
    client_body_buffer_size 1m;
    location = /bench-ready { return 204; }
    location / {
      proxy_pass ${authority === undefined ? "http" : "https"}://mock;
      ${tls.join("\n      ")}
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_request_buffering off;
    }
  }
}
`;
}
