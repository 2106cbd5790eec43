/**
 * A web socket of the Responses format through a proxy.
 */
import assert from "node:assert/strict";
import { openSocket, replyIn } from "./socket_client.ts";
import type { TestGateway } from "../test_gateway.ts";
import { withTimeout } from "../with_timeout.ts";

/** Turns, a large message, a refusal, a cancellation and a drain pass the proxy at `url`. */
export async function assertWebSocket(
  url: string,
  { replay, gateway, logEntry }: TestGateway,
): Promise<void> {
  await assert.rejects(openSocket(url, { "x-api-key": "sk-wrong" }));
  const client = await openSocket(url);
  const turn = { model: "vendora-opus-4-8", store: false };
  const first = replyIn(
    await client.create({ ...turn, input: "x".repeat(1_000_000) }),
  );
  const second = replyIn(
    await client.create({
      ...turn,
      input: "Next.",
      previous_response_id: first["id"],
    }),
  );
  assert.equal(second["previous_response_id"], first["id"]);

  const left = await openSocket(url);
  left.send({
    type: "response.create",
    ...turn,
    input: "[[fx:text-long?gate=proxied&at=4#proxied]]",
  });
  await left.until(({ type }) => type === "response.output_text.delta");
  await left.close();
  const entry = await withTimeout(
    replay.requestLog.waitForNonce("proxied"),
    "the call",
  );
  assert.equal(await withTimeout(entry.ended, "its end"), "caller-hung-up");
  await logEntry(({ ended }) => ended === "caller_left");

  gateway.drain();
  assert.equal((await withTimeout(client.closed, "the close")).code, 1001);
  await withTimeout(gateway.sockets.closed(), "the last one");
}
