/** Connections of strangers that take every file descriptor of the process. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { startProgram } from "../support/programs/program.ts";
import { TEST_KEY } from "../support/test_gateway.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const DESCRIPTORS = 128;
const BODY = JSON.stringify({
  model: "vendora-haiku-4-5",
  max_tokens: 9,
  messages: [{ role: "user", content: "Hi" }],
});
const HALF = BODY.length / 2;

function open(url: string): { socket: Socket; text: Promise<string> } {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = "";
  const ended = Promise.withResolvers<string>();
  socket.on("data", (piece: Uint8Array) => {
    text += new TextDecoder().decode(piece);
  });
  socket.on("error", () => {});
  socket.on("close", () => ended.resolve(text));
  return { socket, text: ended.promise };
}

Deno.test("idle connections that take every descriptor end, and the process serves on", async () => {
  await using folder = await temporaryFolder();
  await using program = await startProgram({
    env: { GATEWAY_KEY: TEST_KEY },
    folder: folder.path,
    starter: ["/bin/sh", "-c", `ulimit -n ${DESCRIPTORS}; exec "$@"`, "sh"],
  });
  const call = (): Promise<Response> =>
    fetch(`${program.url}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": TEST_KEY, "content-type": "application/json" },
      body: BODY,
    });
  const before = await call();
  assert.equal(before.status, 200, await before.text());
  const begun = open(program.url);
  begun.socket.write(
    `POST /v1/messages HTTP/1.1\r\nhost: gateway\r\nx-api-key: ${TEST_KEY}\r\n` +
      `content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: ${BODY.length}\r\n` +
      `connection: close\r\n\r\n`,
  );
  // The request has reached the gateway's code.
  await new Promise((resolve) => begun.socket.once("data", resolve));
  begun.socket.write(BODY.slice(0, HALF));
  const idle = Array.from({ length: DESCRIPTORS }, () => open(program.url));
  await program.printed(/"type":"connections_exhausted"/);
  await Promise.race(idle.map(({ text }) => text));
  await program.printed(/"type":"connections_accepted"/);
  begun.socket.write(BODY.slice(HALF));
  assert.match(await begun.text, /^HTTP\/1\.1 200 OK\r\n/m);
  const after = await call();
  assert.equal(after.status, 200, await after.text());
  for (const { socket } of idle) socket.destroy();
  program.signal("SIGTERM");
  assert.equal(await program.ended, 0, program.output());
});
