/**
 * A vendor that asks for a client certificate, called by the gateway as a process with the
 * permissions of its start task, while the certificate's files change.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import {
  AUTHORITY_FILE,
  certificate,
} from "../support/upstreams/fault_upstream.ts";
import { COMPLETION } from "../support/upstreams/host_upstream.ts";
import { startProgram } from "../support/programs/program.ts";
import { taskFlags } from "../support/programs/task_flags.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { TEST_KEY } from "../support/test_gateway.ts";

const AUTHORITY = Deno.readTextFileSync(AUTHORITY_FILE);

/** A host that replies with the name in the client's certificate. */
async function startHost(): Promise<
  { readonly port: number } & AsyncDisposable
> {
  const open = new Set<TLSSocket>();
  const server = createServer(
    {
      ...certificate("right"),
      ca: AUTHORITY,
      requestCert: true,
      // Another certificate of the tests is the next one, though it is a server's.
      rejectUnauthorized: false,
    },
    (socket) => {
      open.add(socket);
      socket.on("error", () => {});
      const name = socket.getPeerCertificate().subject?.CN ?? "nobody";
      socket.on("data", () => {
        const [choice] = COMPLETION.choices;
        const message = { role: "assistant", content: `I see ${name}` };
        const body = JSON.stringify({
          ...COMPLETION,
          choices: [{ ...choice, message }],
        });
        socket.end(
          "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n" +
            `content-length: ${body.length}\r\n\r\n${body}`,
        );
      });
    },
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

Deno.test("a client certificate is shown, and another one once its files have changed", async () => {
  await using host = await startHost();
  await using folder = await temporaryFolder();
  const write = async (name: "client" | "right"): Promise<void> => {
    const { cert, key } = certificate(name);
    await Deno.writeTextFile(`${folder.path}/client.pem`, cert);
    await Deno.writeTextFile(`${folder.path}/client.key`, key);
  };
  await write("client");
  await Deno.writeTextFile(`${folder.path}/ca.pem`, AUTHORITY);
  await Deno.writeTextFile(
    `${folder.path}/gateway.json`,
    JSON.stringify({
      vendors: {
        host: {
          kind: "openai_compatible",
          base_url: `https://localhost:${host.port}/v1`,
          auth: "none",
          tls: {
            ca: "ca.pem",
            cert: "client.pem",
            key: "client.key",
            min_version: "1.3",
          },
        },
      },
      models: { m: { vendor: "host", upstream_model: "m", price: "free" } },
    }),
  );
  await using program = await startProgram({
    folder: folder.path,
    permissions: (await taskFlags("start")).filter((flag) =>
      flag.startsWith("--allow-")
    ),
    env: {
      GATEWAY_CONFIG: "gateway.json",
      GATEWAY_KEY: TEST_KEY,
      DATABASE_URL: "sqlite::memory:",
    },
  });
  const seen = async (): Promise<string> =>
    await (await program.call(TEST_KEY, { model: "m" })).text();
  assert.match(await seen(), /I see client/);
  await write("right");
  program.signal("SIGHUP");
  await program.printed(/"certificates":\[[^\]]*tls\.cert[^\]]*tls\.key/);
  assert.match(await seen(), /I see right/);
});
