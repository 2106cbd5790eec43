import assert from "node:assert/strict";
import { nextTurn } from "./next_turn.ts";

/** More than a byte's way through a connection takes. */
const MOST_TURNS = 20;

Deno.test("nextTurn() lets sockets be read in between", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using near = await Deno.connect({ port: listener.addr.port });
  using far = await listener.accept();
  let isRead = false;
  const read = far.read(new Uint8Array(1)).then(() => {
    isRead = true;
  });
  await near.write(new Uint8Array(1));
  for (let turns = 0; turns < MOST_TURNS && !isRead; turns++) await nextTurn();
  const wasRead = isRead;
  await read;
  assert.equal(wasRead, true);
});
