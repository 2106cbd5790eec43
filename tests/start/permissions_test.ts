/** Deno permissions of the gateway: those of its tasks, and a narrower list for known addresses. */
import assert from "node:assert/strict";
import { ADMIN_TOKEN } from "../support/console/visitor.ts";
import { requestText } from "../support/tables/hostile_bodies.ts";
import { checkReply } from "../support/replies/check_reply.ts";
import { startProgram } from "../support/programs/program.ts";
import { startRawUpstream } from "../support/upstreams/raw_upstream.ts";
import { taskFlags } from "../support/programs/task_flags.ts";
import { TEST_KEY } from "../support/test_gateway.ts";
import { wholeAnswer, wholeOf } from "../support/upstreams/upstream_bytes.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

Deno.test("the tasks request only network, environment, the working directory and ./data, and never prompt; start may lower priorities", async () => {
  for (const task of ["start", "admin"]) {
    assert.deepEqual(await taskFlags(task), [
      ...task === "start" ? ["--unstable-no-legacy-abort"] : [],
      "--no-prompt",
      "--allow-net",
      "--allow-env",
      ...task === "start" ? ["--allow-sys=setPriority"] : [],
      "--allow-read=.",
      "--allow-write=./data",
    ]);
  }
});

Deno.test("the gateway works with the network limited to its own address and its upstream's, and reaches nothing else", async () => {
  await using upstream = await startRawUpstream();
  await using elsewhere = await startRawUpstream();
  await using folder = await temporaryFolder();
  const reachable = new URL(upstream.vendors.vendorb.baseUrl).host;
  await using program = await startProgram({
    folder: folder.path,
    permissions: [
      `--allow-net=127.0.0.1:0,${reachable}`,
      "--allow-env",
      "--allow-read=./data",
      "--allow-write=./data",
    ],
    env: {
      VENDORA_API_KEY: "a",
      VENDORA_BASE_URL: elsewhere.vendors.vendora.baseUrl,
      VENDORB_API_KEY: "b",
      VENDORB_BASE_URL: upstream.vendors.vendorb.baseUrl,
      GATEWAY_KEY: TEST_KEY,
      GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
      GATEWAY_MAX_ATTEMPTS: "1",
    },
  });
  upstream.answer(({ socket }) =>
    socket.send(wholeAnswer(wholeOf("text", "chat")))
  );
  const ask = (model: string): Promise<Response> =>
    fetch(`${program.url}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": TEST_KEY, "content-type": "application/json" },
      body: requestText(model),
    });
  const served = await ask("vendorb-5");
  assert.equal(served.status, 200, await served.text());
  const refused = await checkReply(await ask("vendora-opus-4-8"), {
    caller: "messages",
    upstream: "messages",
    stream: false,
  });
  assert.equal(refused.status, 502);
  assert.doesNotMatch(refused.body, /127\.0\.0\.1|--allow|NotCapable/);
  assert.deepEqual(elsewhere.requests, []);
  for (const path of ["/console/sign-in", "/console/operator/sign-in"]) {
    const page = await fetch(`${program.url}${path}`);
    assert.equal(page.status, 200, await page.text());
  }
  const again = await ask("vendorb-5");
  assert.equal(again.status, 200, await again.text());
  program.signal("SIGTERM");
  assert.equal(await program.ended, 0, program.output());
});
