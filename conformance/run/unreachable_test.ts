/** A target that gives no reply is explained in one line, with what the user can do. */
import assert from "node:assert/strict";
import { Unreachable } from "./discover.ts";
import { run } from "./run.ts";
import { readSettings } from "./settings.ts";

const CERTIFICATES = new URL(
  "../../tests/support/certificates/",
  import.meta.url,
);

/** The port of the discard protocol: nothing listens there, and no free port is it. */
const UNUSED_PORT = 9;

/** A server at a free port that answers every request with 200; it ends without waiting. */
function server(
  tls: { cert: string; key: string } | Record<never, never>,
): { readonly port: number } & AsyncDisposable {
  const leaving = new AbortController();
  const { addr, finished } = Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    onListen: () => {},
    signal: leaving.signal,
    ...tls,
  }, () => new Response("{}"));
  return {
    port: addr.port,
    [Symbol.asyncDispose]() {
      leaving.abort();
      return finished;
    },
  };
}

/** Judges an address, which must fail with a line that names the cause. */
async function explained(baseUrl: string, cause: RegExp): Promise<void> {
  const settings = readSettings(
    [`--base-url=${baseUrl}`, "--timeout=20"],
    "sk-unreachable-7f3a9c51",
  );
  const screen = { line: () => {}, progress: () => {}, verdict: String };
  await assert.rejects(run(settings, screen), (error) => {
    assert.ok(error instanceof Unreachable);
    assert.match(error.message, /^\S+ does not answer: .*$/);
    assert.match(error.message, cause);
    return true;
  });
}

Deno.test("an address where nothing listens", async () => {
  await explained(`http://127.0.0.1:${UNUSED_PORT}`, /nothing listens there/);
});

Deno.test("an https:// address of a server without TLS", async () => {
  await using plain = server({});
  await explained(
    `https://127.0.0.1:${plain.port}`,
    /may need http:\/\//,
  );
});

Deno.test("a certificate of an unknown authority, and http:// for https://", async () => {
  const [cert, key] = await Promise.all(
    ["unknown.pem", "unknown.key"].map((file) =>
      Deno.readTextFile(new URL(file, CERTIFICATES))
    ),
  );
  await using secure = server({ cert: cert ?? "", key: key ?? "" });
  const address = `127.0.0.1:${secure.port}`;
  await explained(`https://${address}`, /certificate .*DENO_CERT=FILE/);
  await explained(`http://${address}`, /may need https:\/\//);
});
