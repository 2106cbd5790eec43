import assert from "node:assert/strict";
import { certificate } from "../../../tests/support/upstreams/fault_upstream.ts";
import { TRUSTING_ENV } from "../../../tests/support/programs/program_env.ts";

/** Calls a TLS upstream from a process with authorities of its own; gives the call's error. */
async function refusal(
  name: Parameters<typeof certificate>[0],
): Promise<{ kind: string; message: string; details: { note?: string } }> {
  using listener = Deno.listenTls({
    hostname: "127.0.0.1",
    port: 0,
    ...certificate(name),
  });
  const served = listener.accept().then(async (conn) => {
    await conn.handshake().catch(() => {});
    conn.close();
  });
  const here = (file: string): string =>
    JSON.stringify(new URL(file, import.meta.url).href);
  const script = `
    const { upstreamClient } = await import(${here("http_client.ts")});
    const { gatewayTimers } = await import(${here("../../timers.ts")});
    const client = upstreamClient({
      connectTimeoutMs: 60_000, firstByteTimeoutMs: 60_000, idleTimeoutMs: 60_000,
    }, gatewayTimers());
    try {
      await client.call({
        url: "https://localhost:${listener.addr.port}/", headers: {},
        body: new Uint8Array(1), signal: new AbortController().signal,
      });
    } catch ({ kind, message, details }) {
      console.log(JSON.stringify({ kind, message, details }));
    }
    await client.close();`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", script],
    clearEnv: true,
    env: TRUSTING_ENV,
    stderr: "inherit",
  }).output();
  await served;
  return JSON.parse(new TextDecoder().decode(stdout));
}

Deno.test("a refused certificate is explained to the operator alone", async (t) => {
  for (
    const [name, note] of [
      ["unknown", /^the upstream's certificate .*unknown authority/],
      ["expired", /^the upstream's certificate has expired$/],
      ["wrong_name", /^the upstream's certificate is for another name/],
    ] as const
  ) {
    await t.step(name, async () => {
      const { kind, message, details } = await refusal(name);
      assert.equal(kind, "upstream");
      assert.equal(message, "could not reach the upstream");
      assert.match(details.note ?? "", note);
    });
  }
});
