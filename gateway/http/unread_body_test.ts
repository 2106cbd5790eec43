import assert from "node:assert/strict";
import type { HttpReply } from "./http_reply.ts";
import { LongTimer, type TimerId, type Timers } from "../timers.ts";
import { UnreadBodies } from "./unread_body.ts";

const REFUSAL: HttpReply = { status: 401, headers: {}, body: '{"error":{}}' };
const CLOSING = { ...REFUSAL, headers: { connection: "close" } };
const MIB = 1024 * 1024;

/** Timers that fire when the test calls `fire()`. */
class ManualTimers implements Timers {
  readonly #timers = new Set<TimerId>();

  set(callback: () => void, ms: number): TimerId {
    const timer = new LongTimer(callback, ms);
    this.#timers.add(timer);
    return timer;
  }

  clear(timer: TimerId): void {
    this.#timers.delete(timer);
  }

  /** Fires all timers of one duration. */
  fire(ms: number): void {
    for (const timer of [...this.#timers]) {
      if (!(timer instanceof LongTimer) || timer.due !== ms) continue;
      if (this.#timers.delete(timer)) timer.callback();
    }
  }

  get count(): number {
    return this.#timers.size;
  }
}

/** A request whose body is sent chunk by chunk. */
class Upload {
  readonly request: Request;
  /** True once the reader has cancelled the body. */
  cancelled = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #wanted = Promise.withResolvers<void>();

  constructor(headers: Record<string, string> = {}) {
    this.request = new Request("http://gateway/v1/messages", {
      method: "POST",
      headers: { "transfer-encoding": "chunked", ...headers },
      body: new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#wanted.resolve(),
        cancel: () => {
          this.cancelled = true;
        },
      }, { highWaterMark: 0 }),
    });
  }

  /** Sends a chunk once it is requested. */
  async send(bytes: number): Promise<void> {
    await this.#wanted.promise;
    this.#wanted = Promise.withResolvers();
    this.#controller?.enqueue(new Uint8Array(bytes));
  }

  end(): void {
    this.#controller?.close();
  }

  /** Settles when more is requested. */
  wanted(): Promise<void> {
    return this.#wanted.promise;
  }
}

async function prepare(
  bodies: UnreadBodies,
  { request }: Upload,
): Promise<HttpReply> {
  return await bodies.prepareReply(request, REFUSAL);
}

interface Bench {
  readonly timers: ManualTimers;
  readonly upload: Upload;
  readonly reply: Promise<HttpReply>;
  /** Resolves when the delayed reply has ended; its text has been read. */
  rest(): Promise<() => Promise<void>>;
}

/** A test of one reply; afterwards no timer is set. */
function test(name: string, run: (bench: Bench) => Promise<void>): void {
  Deno.test(`prepareReply() ${name}`, async () => {
    const timers = new ManualTimers();
    const upload = new Upload();
    const reply = prepare(new UnreadBodies(timers), upload);
    await run({
      timers,
      upload,
      reply,
      async rest() {
        const rest = (await held(await reply)).read();
        return async () => assert.equal((await rest).done, true);
      },
    });
    assert.equal(timers.count, 0);
  });
}

/** The body of a response that is held open, after its text was read. */
async function held(
  reply: HttpReply,
): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  assert.deepEqual(reply.headers, CLOSING.headers);
  assert.ok(reply.body instanceof ReadableStream);
  const reader = reply.body.getReader();
  const { value } = await reader.read();
  assert.equal(new TextDecoder().decode(value), REFUSAL.body);
  return reader;
}

test("returns the reply unchanged after the end of the body", async ({ upload, reply }) => {
  await upload.send(MIB);
  upload.end();
  assert.deepEqual(await reply, REFUSAL);
});

test("announces the close if nothing arrives for a second, and reads on", async ({ timers, upload, rest }) => {
  await upload.send(10);
  await upload.wanted();
  timers.fire(1_000);
  const ended = await rest();
  await upload.send(10);
  upload.end();
  await ended();
});

test("announces the close after the end of a body of more than 1 MiB", async ({ upload, reply }) => {
  await upload.send(MIB);
  await upload.send(1);
  upload.end();
  assert.deepEqual(await reply, CLOSING);
});

test("replies after two seconds, and delays the end of the reply while the body arrives", async ({ timers, upload, rest }) => {
  await upload.send(MIB);
  await upload.wanted();
  timers.fire(2_000);
  const ended = await rest();
  for (let sent = 0; sent < 40; sent++) await upload.send(MIB);
  upload.end();
  await ended();
});

test("waits for ten seconds of silence, each of which the process was awake for", async ({ timers, upload, rest }) => {
  await upload.wanted();
  timers.fire(1_000);
  const ended = await rest();
  for (let step = 0; step < 9; step++) timers.fire(1_000);
  assert.ok(!upload.cancelled);
  await upload.send(10);
  await upload.wanted();
  for (let step = 0; step < 9; step++) timers.fire(1_000);
  assert.ok(!upload.cancelled);
  timers.fire(1_000);
  await ended();
  assert.ok(upload.cancelled);
});

const LIMITS: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  async "no more bytes"({ upload, timers }) {
    await upload.wanted();
    for (let step = 0; step < 10; step++) timers.fire(1_000);
  },
  async "30 seconds"({ upload, timers }) {
    await upload.wanted();
    timers.fire(30_000);
  },
  async "128 MiB"({ upload }) {
    for (let sent = 0; sent <= 128; sent++) await upload.send(MIB);
  },
};

for (const [name, reach] of Object.entries(LIMITS)) {
  test(`ends a delayed reply if the body exceeds a limit: ${name}`, async (bench) => {
    const { timers, upload, rest } = bench;
    await upload.wanted();
    // Two seconds have passed, and the body still arrives.
    timers.fire(2_000);
    const ended = await rest();
    await reach(bench);
    await ended();
    assert.ok(upload.cancelled);
  });
}

Deno.test("prepareReply() leaves a body unread beyond 256 at once, and reads again after one has ended", async () => {
  const timers = new ManualTimers();
  const bodies = new UnreadBodies(timers);
  const uploads = Array.from({ length: 256 }, () => new Upload());
  const replies = uploads.map((upload) => prepare(bodies, upload));
  const beyond = new Upload();
  assert.deepEqual(await prepare(bodies, beyond), CLOSING);
  assert.equal(beyond.request.bodyUsed, false);
  uploads[0]?.end();
  assert.deepEqual(await replies[0], REFUSAL);
  const next = new Upload();
  const reply = prepare(bodies, next);
  next.end();
  assert.deepEqual(await reply, REFUSAL);
  timers.fire(1_000);
  for (const each of replies.slice(1)) await (await held(await each)).cancel();
  assert.equal(timers.count, 0);
});

Deno.test("prepareReply() releases its slot if the client of a delayed reply disconnects", async () => {
  const timers = new ManualTimers();
  const bodies = new UnreadBodies(timers);
  for (let again = 0; again < 300; again++) {
    const upload = new Upload();
    const reply = prepare(bodies, upload);
    await upload.wanted();
    timers.fire(2_000);
    const reader = await held(await reply);
    await reader.cancel();
    assert.ok(upload.cancelled);
  }
  assert.equal(timers.count, 0);
});

Deno.test("prepareReply() returns the reply without a promise if nothing is unread", async () => {
  const bodies = new UnreadBodies(new ManualTimers());
  const url = "http://gateway/";
  assert.equal(bodies.prepareReply(new Request(url), REFUSAL), REFUSAL);
  const empty = new Request(url, {
    method: "POST",
    headers: { "content-length": "0" },
    body: "",
  });
  assert.equal(bodies.prepareReply(empty, REFUSAL), REFUSAL);
  const read = new Request(url, { method: "POST", body: "{}" });
  await read.arrayBuffer();
  const success = { ...REFUSAL, status: 200 };
  assert.equal(bodies.prepareReply(read, success), success);
});
