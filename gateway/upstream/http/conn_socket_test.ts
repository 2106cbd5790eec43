import assert from "node:assert/strict";
import { joinPieces } from "../../../translate/bytes/buffers.ts";
import { ConnSocket } from "./conn_socket.ts";
import { StrayBytes } from "./stray_bytes.ts";
import { SystemEvents } from "./system_events.ts";

const LOCAL = { hostname: "127.0.0.1", port: 0 } as const;
/** More than one read holds. */
const REPLY = new Uint8Array(20_000).fill(120);
/** More than the system's buffers hold. */
const BODY = new Uint8Array(64 * 1024 * 1024);

Deno.test("a reply is read whole where its upstream has closed the connection to the rest of the request", async () => {
  using listener = Deno.listen(LOCAL);
  const upstream = (async () => {
    using conn = await listener.accept();
    await conn.read(new Uint8Array(16));
    await conn.write(REPLY);
  })();
  const conn = await Deno.connect({ ...LOCAL, port: listener.addr.port });
  const failed = Promise.withResolvers<void>();
  const write = conn.write.bind(conn);
  conn.write = (bytes) =>
    write(bytes).catch((error) => {
      failed.resolve();
      throw error;
    });
  const socket = new ConnSocket(conn, new SystemEvents(), new StrayBytes());
  const closed = new Promise((resolve) => void socket.once("close", resolve));
  const ended = new Promise((resolve) => {
    socket.once("end", resolve).once("error", resolve);
  });
  socket.write(BODY);
  await failed.promise;
  await upstream;
  const pieces: Uint8Array[] = [];
  const readAll = (): void => {
    for (let piece; (piece = socket.read()) !== null;) pieces.push(piece);
  };
  socket.on("readable", readAll);
  readAll();
  await ended;
  assert.equal(joinPieces(pieces).length, REPLY.length);
  socket.destroy();
  await closed;
});
