/** Files that clients read: few at a time of a credential, and not for ever. */
import assert from "node:assert/strict";
import { ReadSlots } from "../../gateway/admin/read_slots.ts";
import { nextTurn } from "../../gateway/accounts/next_turn.ts";
import { toResponse } from "../../gateway/http/http_reply.ts";
import { gatewayTimers } from "../../gateway/timers.ts";
import { fileReply } from "../../routes/account/file_reply.ts";
import { heldFile } from "../../routes/account/held_file.ts";
import {
  ADMIN_TOKEN,
  credentialOf,
  startConsole,
  visit,
} from "../support/console/visitor.ts";
import { serveLoopback } from "../support/serve_loopback.ts";
import { bearer } from "../support/clients/bearer.ts";

Deno.test("a client that leaves its file unread is cut off, and its slot is free", async () => {
  const ended = Promise.withResolvers<void>();
  async function* endless(): AsyncGenerator<string, void, void> {
    try {
      for (;;) {
        yield "x".repeat(100_000);
        await nextTurn();
      }
    } finally {
      ended.resolve();
    }
  }
  const fileSlots = new ReadSlots("files", 1);
  const gateway = {
    fileSlots,
    timers: gatewayTimers(),
    config: { slowReaderMs: 50 },
  } as Parameters<typeof heldFile>[0];
  await using server = serveLoopback(async () =>
    toResponse(await heldFile(gateway, "a", await fileReply({}, endless())))
  );
  using client = await Deno.connect({
    hostname: "127.0.0.1",
    port: server.addr.port,
  });
  await client.write(
    new TextEncoder().encode("GET / HTTP/1.1\r\nhost: x\r\n\r\n"),
  );
  await ended.promise;
  fileSlots.take("b")();
});

Deno.test("each file holds a slot of its credential until it is read", async () => {
  await using gateway = await startConsole();
  const { fileSlots } = gateway.gateway;
  const token = await credentialOf(gateway, "read");
  const visitor = await visit(gateway.url, "read", token.text);
  const asked = (path: string, token: string) => () =>
    fetch(gateway.url + path, bearer(token));
  const files: readonly (readonly [string, () => Promise<Response>])[] = [
    [token.id, asked("/v1/account/ledger/export", token.text)],
    ["operator", asked("/admin/v1/ledger/export", ADMIN_TOKEN)],
    [token.id, () => visitor.get("/console/ledger.csv")],
  ];
  for (const [credential, ask] of files) {
    const taken = Array.from({ length: 4 }, () => fileSlots.take(credential));
    const refused = await ask();
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), "1");
    await refused.body?.cancel();
    taken.pop()?.();
    for (let n = 0; n < 2; n++) {
      const reply = await ask();
      assert.equal(reply.status, 200);
      await reply.text();
    }
    for (const release of taken) release();
  }
  const head = await fetch(`${gateway.url}/admin/v1/ledger/export`, {
    method: "HEAD",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  assert.equal(head.status, 200);
  for (let n = 0; n < 4; n++) fileSlots.take("operator");
});
