/**
 * HTTP/2 without TLS, which Deno speaks to every client that opens with its preface: frames that ask for
 * nothing do not keep other requests from being answered.
 */
import assert from "node:assert/strict";
import { withGateway } from "../support/with_gateway.ts";
import { withTimeout } from "../support/with_timeout.ts";

const PREFACE = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const DATA = 0;
const HEADERS = 1;
const SETTINGS = 4;
const PING = 6;
const END_HEADERS = 4;

function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = new Uint8Array(0),
): Uint8Array {
  const bytes = new Uint8Array(9 + payload.length);
  bytes.set([0, 0, payload.length, type, flags, 0, 0, 0, stream]);
  bytes.set(payload, 9);
  return bytes;
}

/** A header field that is not indexed (RFC 7541, 6.2.2). */
function field(name: string, value: string): readonly number[] {
  const bytes = (text: string): readonly number[] => [
    text.length,
    ...new TextEncoder().encode(text),
  ];
  return [0, ...bytes(name), ...bytes(value)];
}

/** POST over http, by the static table, to an endpoint that reads a body. */
const REQUEST = frame(
  HEADERS,
  END_HEADERS,
  1,
  new Uint8Array([
    ...[0x83, 0x86],
    ...field(":authority", "gateway"),
    ...field(":path", "/v1/messages"),
  ]),
);

const FLOODS: Readonly<
  Record<string, { readonly opening?: Uint8Array; readonly frame: Uint8Array }>
> = {
  PING: { frame: frame(PING, 0, 0, new Uint8Array(8)) },
  SETTINGS: { frame: frame(SETTINGS, 0, 0) },
  "empty DATA": { opening: REQUEST, frame: frame(DATA, 0, 1) },
};

const FRAMES_AT_ONCE = 500;

Deno.test("requests are answered while a client floods HTTP/2 frames without content", async (t) => {
  await withGateway(async ({ url }) => {
    const { hostname, port } = new URL(url);
    for (const [name, { opening, frame: one }] of Object.entries(FLOODS)) {
      await t.step(name, async () => {
        using connection = await Deno.connect({ hostname, port: Number(port) });
        const read = connection.readable.pipeTo(new WritableStream())
          .catch(() => {});
        const writer = connection.writable.getWriter();
        await writer.write(PREFACE);
        await writer.write(frame(SETTINGS, 0, 0));
        if (opening !== undefined) await writer.write(opening);
        const many = new Uint8Array(one.length * FRAMES_AT_ONCE);
        for (let at = 0; at < many.length; at += one.length) many.set(one, at);
        let isOver = false;
        let batches = 0;
        const flood = (async () => {
          try {
            while (!isOver) {
              await writer.write(many);
              batches++;
            }
          } catch {
            // The gateway has closed the connection.
          }
        })();
        for (let i = 0; i < 3; i++) {
          const answer = await withTimeout(
            fetch(`${url}/healthz`),
            "an answer",
          );
          assert.equal(answer.status, 200);
          await answer.body?.cancel();
        }
        isOver = true;
        await flood;
        assert.ok(batches > 0, "the gateway took no frame");
        await writer.abort().catch(() => {});
        await read;
      });
    }
  });
});
