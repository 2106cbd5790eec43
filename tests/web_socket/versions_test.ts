/**
 * Web sockets on other versions of Deno: `TEST_DENO_VERSIONS` names their executables, separated by
 * colons.
 */
import assert from "node:assert/strict";
import { openSocket } from "../support/clients/socket_client.ts";
import { startProgram } from "../support/programs/program.ts";
import { FAMILIES, TEST_KEY } from "../support/test_gateway.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const [MODEL = ""] = FAMILIES;
const BEARER = { authorization: `Bearer ${TEST_KEY}` };

for (
  const deno of [
    Deno.execPath(),
    ...(Deno.env.get("TEST_DENO_VERSIONS") ?? "").split(":").filter((path) =>
      path !== ""
    ),
  ]
) {
  const { stdout } = await new Deno.Command(deno, { args: ["-V"] }).output();
  const version = new TextDecoder().decode(stdout).trim();
  Deno.test(`${version} opens web sockets, or sends clients to HTTP and reports it at the start`, async () => {
    await using folder = await temporaryFolder();
    await using program = await startProgram({
      deno,
      folder: folder.path,
      permissions: ["--allow-net", "--allow-env", "--allow-read=."],
      env: {
        DATABASE_URL: "sqlite::memory:",
        GATEWAY_KEY: TEST_KEY,
        GATEWAY_UPSTREAM: "replay",
      },
    });
    if (/there are no web sockets/.test(program.output())) {
      assert.notEqual(deno, Deno.execPath());
      const refused = await fetch(`${program.url}/v1/responses`, {
        headers: {
          ...BEARER,
          connection: "upgrade",
          upgrade: "websocket",
          "sec-websocket-version": "13",
          "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        },
      });
      assert.equal(refused.status, 426, await refused.text());
      return;
    }
    const client = await openSocket(program.url, BEARER);
    const events = await client.create({
      model: MODEL,
      input: "Hi.",
      store: false,
    });
    assert.equal(events.at(-1)?.["type"], "response.completed");
    await client.close();
  });
}
