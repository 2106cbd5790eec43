/** Frames of a web socket that client libraries do not send, or not so. */
import assert from "node:assert/strict";
import { joinPieces } from "../../translate/bytes/buffers.ts";
import { objectOr } from "../../translate/bytes/json.ts";
import {
  clientFrame,
  type FrameOptions,
  OPCODE,
  RawWebSocket,
} from "../support/clients/raw_web_socket.ts";
import { bytesOf } from "../support/clients/raw_socket.ts";
import {
  FAMILIES,
  startTestGateway,
  type TestGateway,
} from "../support/test_gateway.ts";
import { withTimeout } from "../support/with_timeout.ts";

const [MODEL = ""] = FAMILIES;
const KIB = 1024;
/** Connections at once. */
const LANES = 12;
const STEER = JSON.stringify({
  type: "response.steer",
  previous_response_id: "resp_é",
});

async function withGateway(
  run: (gateway: TestGateway) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await using gateway = await startTestGateway({ env });
  await run(gateway);
  await withTimeout(gateway.gateway.sockets.closed(), "the last one");
}

const part = (text: string | Uint8Array, isFirst: boolean): Uint8Array =>
  clientFrame(isFirst ? OPCODE.text : OPCODE.continuation, text, {
    isLast: false,
  });

/** Asserts that the socket answers a message in one frame. */
async function assertAnswers(socket: RawWebSocket): Promise<void> {
  await socket.sendText(STEER);
  assert.equal((await socket.nextEvent())["type"], "response.steer.failed");
}

Deno.test("a message larger than a body may be ends the connection with 1009", async (t) => {
  const limit = 64 * KIB;
  const fragment = new Uint8Array(KIB).fill(0x20);
  const rows: Readonly<
    Record<string, (socket: RawWebSocket) => Promise<void>>
  > = {
    async "in one frame, at its head"(socket) {
      await socket.send(
        clientFrame(OPCODE.text, "", { announced: limit + 1 }),
      );
    },
    async "in one frame of 2^60 bytes"(socket) {
      await socket.send(clientFrame(OPCODE.text, "", { announced: 2 ** 60 }));
    },
    async "in fragments, with the one that exceeds it"(socket) {
      await socket.send(part(fragment, true));
      for (let at = 1; at < 64; at++) await socket.send(part(fragment, false));
      await socket.send(
        clientFrame(OPCODE.continuation, "x", { isLast: false }),
      );
    },
    async "in fragments without an end"(socket) {
      let isClosed = false;
      const closed = socket.socket.closed.then(() => isClosed = true);
      await socket.send(part(fragment, true));
      const piece = part(new Uint8Array(512 * KIB).fill(0x20), false);
      while (!isClosed) await Promise.race([socket.send(piece), closed]);
    },
  };
  for (const [name, send] of Object.entries(rows)) {
    await t.step(name, () =>
      withGateway(async ({ url }) => {
        using socket = await RawWebSocket.open(url);
        const sent = send(socket);
        const { status, error } = await socket.nextEvent();
        assert.equal(status, 413);
        assert.match(String(objectOr(error)["message"]), /larger than 65536 /);
        const [code, reason] = await socket.closeFrame();
        assert.equal(code, 1009);
        assert.match(reason, /larger than 65536 bytes/);
        await withTimeout(sent, "the closing of the connection");
      }, {
        GATEWAY_MAX_BODY_BYTES: String(limit),
        GATEWAY_WEB_SOCKET_IDLE_SECONDS: "1",
      }));
  }
});

Deno.test("a message as large as a body may be is read, in one frame or many", () => {
  const limit = 64 * KIB;
  const text = STEER.padEnd(limit - 1);
  return withGateway(async ({ url }) => {
    using socket = await RawWebSocket.open(url);
    assert.equal(bytesOf(text).length, limit);
    for (const size of [limit, 1000, 40]) {
      for (let at = 0; at < limit; at += size) {
        const bytes = bytesOf(text).subarray(at, at + size);
        await socket.send(
          clientFrame(at === 0 ? OPCODE.text : OPCODE.continuation, bytes, {
            isLast: at + size >= limit,
          }),
        );
      }
      assert.equal((await socket.nextEvent())["type"], "response.steer.failed");
    }
  }, { GATEWAY_MAX_BODY_BYTES: String(limit) });
});

Deno.test("fragments may be empty, cut inside a character, and have control frames between them", () =>
  withGateway(async ({ url }) => {
    using socket = await RawWebSocket.open(url);
    const bytes = bytesOf(STEER);
    const cut = bytes.indexOf(0xc3) + 1;
    await socket.send(joinPieces([
      part("", true),
      part(bytes.subarray(0, cut), false),
      clientFrame(OPCODE.ping, "one"),
      clientFrame(OPCODE.pong),
      part("", false),
      clientFrame(OPCODE.continuation, bytes.subarray(cut)),
    ]));
    const pong = await socket.next();
    assert.equal(pong?.opcode, OPCODE.pong);
    assert.equal(new TextDecoder().decode(pong?.payload), "one");
    const failed = await socket.nextEvent();
    assert.equal(objectOr(failed["steer"])["previous_response_id"], "resp_é");
  }));

Deno.test("frames are read wherever the network cuts them", () =>
  withGateway(async ({ url }) => {
    const bytes = joinPieces([
      clientFrame(OPCODE.ping, "a"),
      part(STEER.slice(0, 20), true),
      clientFrame(OPCODE.continuation, STEER.slice(20).padEnd(70_000)),
      clientFrame(OPCODE.text, STEER.padEnd(200)),
      clientFrame(OPCODE.ping, "b"),
    ]);
    const places = Array.from({ length: 80 }, (_, at) => at).concat(
      Array.from({ length: 220 }, (_, at) => bytes.length - at),
    );
    const cutEach = async (): Promise<void> => {
      using socket = await RawWebSocket.open(url);
      for (let at = places.pop(); at !== undefined; at = places.pop()) {
        await socket.send(bytes.subarray(0, at));
        await socket.send(bytes.subarray(at));
        const opcodes: number[] = [];
        for (let i = 0; i < 4; i++) {
          opcodes.push((await socket.next())?.opcode ?? -1);
        }
        // Pongs do not wait for the events.
        opcodes.sort((a, b) => a - b);
        assert.deepEqual(opcodes, [1, 1, OPCODE.pong, OPCODE.pong]);
      }
    };
    // Each answer waits for an acknowledgement of the one before.
    await Promise.all(Array.from({ length: LANES }, cutEach));
  }));

Deno.test("bytes that are sent with the handshake are read", () =>
  withGateway(async ({ url }) => {
    using socket = await RawWebSocket.open(
      url,
      {},
      clientFrame(OPCODE.text, STEER),
    );
    assert.equal((await socket.nextEvent())["type"], "response.steer.failed");
    await assertAnswers(socket);
  }));

Deno.test("frames against the protocol end the connection with their code", async (t) => {
  const text = (options: FrameOptions): Uint8Array =>
    clientFrame(OPCODE.text, STEER, options);
  const rows: readonly (readonly [string, Uint8Array, number])[] = [
    ["unmasked", text({ mask: undefined }), 1002],
    ["compressed, which was not negotiated", text({ reserved: 4 }), 1002],
    ["a reserved bit", text({ reserved: 1 }), 1002],
    ["a reserved code", clientFrame(3, "x"), 1002],
    ["a reserved code of control frames", clientFrame(11, "x"), 1002],
    ["a continuation of nothing", clientFrame(OPCODE.continuation, "x"), 1002],
    [
      "a message inside a message",
      joinPieces([part("{", true), text({})]),
      1002,
    ],
    [
      "a ping in fragments",
      clientFrame(OPCODE.ping, "", { isLast: false }),
      1002,
    ],
    ["a ping of 126 bytes", clientFrame(OPCODE.ping, "x".repeat(126)), 1002],
    ["a close of one byte", clientFrame(OPCODE.close, "x"), 1002],
    [
      "a close with a code that is never sent",
      clientFrame(OPCODE.close, Uint8Array.of(0x03, 0xed)),
      1002,
    ],
    [
      "text that is no UTF-8",
      clientFrame(OPCODE.text, Uint8Array.of(0x22, 0xff, 0x22)),
      1007,
    ],
    [
      "text that ends inside a character",
      joinPieces([
        part('"', true),
        clientFrame(OPCODE.continuation, Uint8Array.of(0xc3)),
      ]),
      1007,
    ],
    [
      "a close whose reason is no UTF-8",
      clientFrame(OPCODE.close, Uint8Array.of(0x03, 0xe8, 0xff)),
      1007,
    ],
    ["bytes", clientFrame(OPCODE.bytes, "{}"), 1003],
  ];
  for (const [name, bytes, code] of rows) {
    await t.step(name, () =>
      withGateway(async ({ url }) => {
        using socket = await RawWebSocket.open(url);
        await assertAnswers(socket);
        await socket.send(bytes);
        const error = await socket.nextEvent();
        assert.equal(error["status"], 400);
        const [closed, reason] = await socket.closeFrame();
        assert.equal(closed, code, reason);
        assert.ok(reason.length > 10, reason);
      }));
  }
});

Deno.test("more fragments than a message may have end the connection, whatever they hold", () =>
  withGateway(async ({ url }) => {
    using socket = await RawWebSocket.open(url);
    const many = joinPieces(
      Array.from({ length: 1000 }, () => part("x", false)),
    );
    await socket.send(part("{", true));
    for (let sent = 0; sent < 100; sent++) await socket.send(many);
    const error = await socket.nextEvent();
    assert.match(JSON.stringify(error), /fragments/);
    const [code, reason] = await socket.closeFrame();
    assert.equal(code, 1008);
    assert.match(reason, /fragments/);
  }, { GATEWAY_WEB_SOCKET_IDLE_SECONDS: "1" }));

Deno.test("pings inside a message count towards its size", () =>
  withGateway(async ({ url }) => {
    using socket = await RawWebSocket.open(url);
    await socket.send(part("{".padEnd(200), true));
    const pongs = joinPieces(
      Array.from(
        { length: 500 },
        () => clientFrame(OPCODE.pong, "x".repeat(125)),
      ),
    );
    for (let sent = 0; sent < 40; sent++) await socket.send(pongs);
    assert.equal((await socket.closeFrame())[0], 1009);
  }, {
    GATEWAY_MAX_BODY_BYTES: "2000",
    GATEWAY_WEB_SOCKET_IDLE_SECONDS: "1",
  }));

Deno.test("pings without a message count towards nothing", () =>
  withGateway(async ({ url }) => {
    using socket = await RawWebSocket.open(url);
    const pongs = joinPieces(
      Array.from(
        { length: 500 },
        () => clientFrame(OPCODE.pong, "x".repeat(125)),
      ),
    );
    for (let sent = 0; sent < 40; sent++) await socket.send(pongs);
    await assertAnswers(socket);
  }, { GATEWAY_MAX_BODY_BYTES: "2000" }));

Deno.test("a message has the time of a body to arrive, whatever else its client sends", async (t) => {
  for (
    const [name, begun] of Object.entries({
      "half a frame": clientFrame(OPCODE.text, "{", { announced: 10 }),
      "half a head": Uint8Array.of(0x81),
      "a fragment": part("{", true),
      "an empty fragment": part("", true),
    })
  ) {
    await t.step(name, () =>
      withGateway(async ({ url }) => {
        using socket = await RawWebSocket.open(url);
        await assertAnswers(socket);
        await socket.send(begun);
        // A proxy may take a dropped connection's place, so the client is heard.
        const pings = name.includes("fragment")
          ? setInterval(() => void socket.send(clientFrame(OPCODE.pong)), 50)
          : undefined;
        try {
          const late = await socket.nextEvent();
          assert.equal(late["status"], 408);
          const [code, reason] = await socket.closeFrame();
          assert.equal(code, 1008);
          assert.match(reason, /in time/);
        } finally {
          clearInterval(pings);
        }
      }, {
        GATEWAY_BODY_TIMEOUT_SECONDS: "0.5",
        GATEWAY_WEB_SOCKET_IDLE_SECONDS: "20",
      }));
  }
});

Deno.test("a client that only pings and reads nothing is cut off", () =>
  withGateway(async ({ url }) => {
    using socket = await RawWebSocket.open(url);
    socket.socket.pause();
    const pings = joinPieces(
      Array.from(
        { length: 500 },
        () => clientFrame(OPCODE.ping, "x".repeat(125)),
      ),
    );
    let isClosed = false;
    const closed = socket.socket.closed.then(() => isClosed = true);
    while (!isClosed) await Promise.race([socket.send(pings), closed]);
  }, { GATEWAY_WEB_SOCKET_IDLE_SECONDS: "1" }));

Deno.test("a close is answered with its code, and then the connection ends", async (t) => {
  for (
    const [name, payload, code] of [
      ["1000", Uint8Array.of(0x03, 0xe8), 1000],
      ["4000 with a reason", Uint8Array.of(0x0f, 0xa0, 0x78), 4000],
      ["no code", new Uint8Array(), 0],
    ] as const
  ) {
    await t.step(name, () =>
      withGateway(async ({ url }) => {
        using socket = await RawWebSocket.open(url);
        await assertAnswers(socket);
        await socket.send(clientFrame(OPCODE.close, payload));
        assert.equal((await socket.closeFrame())[0], code);
        assert.equal(await socket.next(), undefined);
      }));
  }
});

Deno.test("the handshake's answer has the request's id and negotiates nothing", () =>
  withGateway(async ({ url }) => {
    using socket = await RawWebSocket.open(url, {
      "sec-websocket-extensions": "permessage-deflate; client_max_window_bits",
      "sec-websocket-protocol": "one, two",
    });
    assert.match(socket.head, /^HTTP\/1\.1 101 /);
    assert.match(
      socket.head,
      /sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/i,
    );
    assert.match(socket.head, /\r\nrequest-id: req_/);
    assert.match(socket.head, /\r\nx-request-id: req_/);
    assert.doesNotMatch(socket.head, /sec-websocket-(?:extensions|protocol)/i);
  }));

Deno.test("what a handshake offers is not read, also if it is malformed", () =>
  withGateway(async ({ url }) => {
    using socket = await RawWebSocket.open(url, {
      "sec-websocket-extensions": ";;=",
      "sec-websocket-protocol": ",, /",
    });
    await assertAnswers(socket);
  }));

Deno.test("a client that leaves at any moment is not counted", () =>
  withGateway(async ({ url, gateway }) => {
    const left = await RawWebSocket.open(url);
    left.socket.reset();
    const ended = await RawWebSocket.open(url);
    ended.socket.end();
    assert.equal(await ended.next(), undefined);
    const half = await RawWebSocket.open(url);
    await half.send(part(`{"model":"${MODEL}"`, true));
    half.socket.reset();
    await withTimeout(gateway.sockets.closed(), "the last one");
    for (const socket of [left, ended, half]) socket.socket.close();
  }));
