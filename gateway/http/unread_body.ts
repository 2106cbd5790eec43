/**
 * Responses sent before the request body was read to its end. The server closes such a connection
 * without announcing it, and closing with unread bytes resets it: the client's next request fails,
 * or the response is lost. So the rest of the body is read and discarded before the response is
 * sent. If it has not ended by then, the response announces the close (RFC 9112, 9.3 and 9.6), its
 * text is sent at once, and it ends only when the client has stopped sending: the server reads no
 * body after the end of the response.
 */
import type { HttpReply } from "./http_reply.ts";
import type { TimerId, Timers } from "../timers.ts";

/** How much of a body is discarded, and for how long. */
interface DiscardLimits {
  readonly maxBytes: number;
  readonly maxMs: number;
  /** Without a byte. */
  readonly quietMs: number;
}

/** A longer body is the last one on its connection. */
const LONG_BYTES = 1024 * 1024;
const MAX_BYTES = 128 * 1024 * 1024;

/**
 * Before the response is sent. Some clients and proxies stop sending when a refusal arrives, and
 * would then wait for its delayed end; most bodies have ended before it is sent.
 */
const BEFORE: DiscardLimits = {
  maxBytes: MAX_BYTES,
  maxMs: 2_000,
  quietMs: 1_000,
};
/**
 * After the response's text: many clients send the whole body before they read anything, and a busy
 * machine or a bad network interrupts them for seconds.
 */
const AFTER: DiscardLimits = {
  maxBytes: MAX_BYTES,
  maxMs: 30_000,
  quietMs: 10_000,
};
/**
 * Silence is counted in steps of this length, each with a turn of the event loop: bytes that arrive
 * while the process itself is busy end the silence.
 */
const QUIET_STEP_MS = 1_000;
/**
 * Bodies that are discarded concurrently. Beyond that, a connection is closed with its body unread.
 */
const MAX_AT_ONCE = 256;

/** `end`: the body has ended; `more`: a limit was reached; `broken`: the body failed. */
type DiscardOutcome = "end" | "more" | "broken";

/** Discards the unread request bodies of one process. */
export class UnreadBodies {
  readonly #timers: Timers;
  #open = 0;

  /** Reads nothing; {@linkcode UnreadBodies.prepareReply} does. */
  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /**
   * The response in the form in which it can be sent; a promise only if there is something to read
   * first.
   */
  prepareReply(
    request: Request,
    reply: HttpReply,
  ): HttpReply | Promise<HttpReply> {
    // A handler that succeeded has read the whole body.
    if (request.bodyUsed && reply.status < 400) return reply;
    const rest = unreadPart(request, reply.status);
    if (rest === "nothing") return reply;
    if (rest === "unreadable" || this.#open >= MAX_AT_ONCE) {
      return announceClose(reply);
    }
    const declared = Number(request.headers.get("content-length") ?? "0");
    return this.#discard(rest, reply, declared);
  }

  async #discard(
    body: ReadableStream<Uint8Array>,
    reply: HttpReply,
    declared: number,
  ): Promise<HttpReply> {
    const rest = new Rest(body, this.#timers);
    this.#open++;
    const release = (): void => {
      this.#open--;
      rest.stop();
    };
    const outcome = await rest.read(BEFORE);
    if (outcome === "more" && typeof reply.body === "string") {
      return announceClose({
        ...reply,
        body: heldOpen(reply.body, rest.read(AFTER), release),
      });
    }
    release();
    const canReuse = outcome === "end" &&
      Math.max(declared, rest.bytes) <= LONG_BYTES;
    return canReuse ? reply : announceClose(reply);
  }
}

/** The unread part of a request's body. */
function unreadPart(
  request: Request,
  status: number,
): "nothing" | "unreadable" | ReadableStream<Uint8Array> {
  // After 408, the body has exceeded its time limit already.
  if (status === 408) return "unreadable";
  if (request.bodyUsed) {
    const { body } = request;
    // A reader that stops early releases the body; one that has read all of it keeps the lock.
    return body === null || body.locked ? "nothing" : body;
  }
  const { headers } = request;
  const isChunked = headers.has("transfer-encoding");
  const length = headers.get("content-length");
  if (!isChunked && Number(length ?? "0") === 0) return "nothing";
  // If there are two lengths, no byte after the head can be trusted. A client that sends `expect`
  // has not sent its body yet, and reading would request it.
  if ((isChunked && length !== null) || headers.has("expect")) {
    return "unreadable";
  }
  // The server exposes no body for GET and HEAD.
  return request.body ?? "unreadable";
}

function announceClose(reply: HttpReply): HttpReply {
  return { ...reply, headers: { ...reply.headers, connection: "close" } };
}

/** A text that is readable at once, in a stream that ends when `until` settles. */
function heldOpen(
  text: string,
  until: Promise<unknown>,
  release: () => void,
): ReadableStream<Uint8Array> {
  let isOpen = true;
  const end = (): void => {
    if (!isOpen) return;
    isOpen = false;
    release();
  };
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      until.then(() => {
        if (isOpen) controller.close();
        end();
      });
    },
    cancel: end,
  });
}

/** Reads the rest of a body. */
class Rest {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #timers: Timers;
  #bytes = 0;
  #next: Promise<ReadableStreamReadResult<Uint8Array>> | undefined;

  constructor(body: ReadableStream<Uint8Array>, timers: Timers) {
    this.#reader = body.getReader();
    this.#timers = timers;
  }

  /** Bytes that were discarded. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Reads and discards; never rejects. `maxBytes` includes what was read before. */
  read(
    { maxBytes, maxMs, quietMs }: DiscardLimits,
  ): Promise<DiscardOutcome> {
    return new Promise((resolve) => {
      const timers = this.#timers;
      let quietSteps = 0;
      let hasFinished = false;
      const finish = (outcome: DiscardOutcome): void => {
        if (hasFinished) return;
        hasFinished = true;
        timers.clear(whole);
        timers.clear(quiet);
        resolve(outcome);
      };
      const addQuietStep = (): void => {
        quietSteps++;
        if (quietSteps * QUIET_STEP_MS >= quietMs) {
          return finish("more");
        }
        quiet = timers.set(addQuietStep, QUIET_STEP_MS);
      };
      const whole = timers.set(() => finish("more"), maxMs);
      let quiet: TimerId = timers.set(addQuietStep, QUIET_STEP_MS);
      const step = (
        { done, value }: ReadableStreamReadResult<Uint8Array>,
      ): void => {
        // A later call of `read()` has requested the same chunk.
        if (hasFinished) return;
        this.#next = undefined;
        if (done) return finish("end");
        this.#bytes += value.length;
        if (this.#bytes > maxBytes) return finish("more");
        quietSteps = 0;
        timers.clear(quiet);
        quiet = timers.set(addQuietStep, QUIET_STEP_MS);
        ask();
      };
      const ask = (): void => {
        this.#next ??= this.#reader.read();
        this.#next.then(step, () => finish("broken"));
      };
      ask();
    });
  }

  stop(): void {
    this.#reader.cancel().catch(() => {});
  }
}
