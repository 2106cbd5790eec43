/** Web sockets on other versions of Deno. */
import assert from "node:assert/strict";
import { openSocket } from "../support/clients/socket_client.ts";
import { HANDSHAKE } from "../support/clients/handshake.ts";
import { DENOS } from "../support/programs/denos.ts";
import { startProgram } from "../support/programs/program.ts";
import { FAMILIES, TEST_KEY } from "../support/test_gateway.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const [MODEL = ""] = FAMILIES;
const BEARER = { authorization: `Bearer ${TEST_KEY}` };

for (const { deno, version } of DENOS) {
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
        headers: { ...BEARER, ...HANDSHAKE },
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
