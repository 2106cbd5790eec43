/** Two processes on one store behind Caddy, as documented, restart one by one under load. */
import assert from "node:assert/strict";
import { CADDY, startCaddy } from "../support/deploy/caddy.ts";
import { type Program, startProgram } from "../support/programs/program.ts";
import { freePort } from "../../gateway/accounts/testing/free_port.ts";
import { smallBody } from "../support/small_body.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { TEST_KEY } from "../support/test_gateway.ts";

const BODY = JSON.stringify(
  smallBody({ model: "vendorb-5", stream: true, text: "[[fx:text]]" }),
);

Deno.test({
  name: "no call fails while each of two processes restarts",
  ignore: CADDY === undefined,
  async fn() {
    assert.ok(CADDY !== undefined);
    await using folder = await temporaryFolder();
    await using started = new AsyncDisposableStack();
    const start = async (port: string): Promise<Program> =>
      started.use(
        await startProgram({
          folder: folder.path,
          env: {
            PORT: port,
            GATEWAY_KEY: TEST_KEY,
            GATEWAY_UPSTREAM: "replay",
            GATEWAY_SHUTDOWN_DELAY_SECONDS: "4",
          },
        }),
      );
    const ports = [freePort(), freePort()];
    const programs = new Map<string, Program>();
    for (const port of ports) programs.set(port, await start(port));
    await using proxy = await startCaddy(
      CADDY,
      [...programs.values()].map(({ url }) => url),
    );
    const url = `${proxy.url}/v1/messages`;
    const failed: string[] = [];
    let [calls, restarting] = [0, true];
    const worker = async (): Promise<void> => {
      while (restarting) {
        const response = await fetch(url, {
          method: "POST",
          headers: {
            "x-api-key": TEST_KEY,
            "content-type": "application/json",
          },
          body: BODY,
        });
        const text = await response.text();
        calls++;
        if (!text.includes("message_stop")) {
          failed.push(`${response.status} ${text.slice(0, 200)}`);
        }
      }
    };
    const workers = Array.from({ length: 4 }, worker);
    try {
      for (const [port, program] of programs) {
        program.signal("SIGTERM");
        assert.equal(await program.ended, 0, program.output());
        const restarted = await start(port);
        programs.set(port, restarted);
        // Only then does the proxy call it again.
        await restarted.printed(/"endpoint":"\/v1\/messages"/);
      }
    } finally {
      restarting = false;
      await Promise.all(workers);
    }
    assert.deepEqual(failed, []);
    assert.ok(calls > 0);
  },
});
