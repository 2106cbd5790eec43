/** Where a message goes when a name server chooses its addresses to do harm. */
import assert from "node:assert/strict";
import { startNameServer } from "../../../tests/support/name_server.ts";
import { serveLoopback } from "../../../tests/support/serve_loopback.ts";
import { postWebhook } from "./post_webhook.ts";
import { newWebhookSecret } from "./signature.ts";

const METADATA = "169.254.169.254";
const LINK_LOCAL = "the host has only link-local addresses";

/** Sends messages to a name; returns the reasons, the requests that arrived and the questions. */
async function deliver(
  messages: number,
  answer: (n: number) => readonly string[],
): Promise<{
  readonly reasons: readonly (string | undefined)[];
  readonly arrived: number;
  readonly questions: number;
}> {
  let arrived = 0;
  await using server = serveLoopback(() => {
    arrived++;
    return new Response();
  });
  using names = await startNameServer(answer);
  const reasons: (string | undefined)[] = [];
  for (let i = 0; i < messages; i++) {
    reasons.push(
      await postWebhook(
        { id: `msg_${i}`, atMs: 0, body: "{}" },
        {
          url: `http://hooks.test:${server.addr.port}/`,
          secret: newWebhookSecret(),
        },
        new AbortController().signal,
        { resolve: names.resolve },
      ),
    );
  }
  return { reasons, arrived, questions: names.questions };
}

Deno.test("nothing is sent to a name with link-local addresses alone", async () => {
  assert.deepEqual(await deliver(1, () => [METADATA, "169.254.0.7"]), {
    reasons: [LINK_LOCAL],
    arrived: 0,
    questions: 1,
  });
});

Deno.test("a name that changes to a link-local address after it was checked leads to the checked one", async () => {
  // A second question for one message would lead to the metadata service.
  const result = await deliver(2, (n) => [n === 0 ? "127.0.0.1" : METADATA]);
  assert.deepEqual(result, {
    reasons: [undefined, LINK_LOCAL],
    arrived: 1,
    questions: 2,
  });
});

Deno.test("a link-local address among others is passed over", async () => {
  assert.deepEqual(await deliver(1, () => [METADATA, "127.0.0.1"]), {
    reasons: [undefined],
    arrived: 1,
    questions: 1,
  });
});
