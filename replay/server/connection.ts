/**
 * One connection of the replay server: reads requests, plays their scripts, and detects when the
 * client disconnects. It uses `node:net` because only Node's sockets can send a TCP reset.
 */
import { joinBytes } from "../join_bytes.ts";
import type { Socket } from "node:net";
import type { Gates } from "./gates.ts";
import type { Ending, OpenLogEntry } from "./replay_log.ts";
import {
  BadRequest,
  type ReceivedRequest,
  RequestReader,
} from "./request_reader.ts";
import { encodeChunk, encodeHead, FINAL_CHUNK } from "./response_writer.ts";
import {
  type End,
  type ReplayRequest,
  type Script,
  wholeScript,
} from "../script.ts";

const MAX_PIPELINED_BYTES = 1024 * 1024;

/** What a connection needs from its server. */
export interface ConnectionHost {
  /** The gates that scripts wait for. */
  readonly gates: Gates;
  /** Larger request bodies are refused with 413. */
  readonly maxBodyBytes: number;
  /** Chooses the script for a request and adds the request to the log. */
  beginExchange(
    request: ReplayRequest,
  ): { readonly script: Script; readonly open: OpenLogEntry };
}

/** Thrown inside a script when the client disconnected or the server was closed. */
class Interrupted extends Error {}

export class Connection {
  readonly #socket: Socket;
  readonly #host: ConnectionHost;
  readonly #reader: RequestReader;
  #busy = false;
  #ending: Ending | undefined;
  #interrupt: (() => void) | undefined;
  #pipelined = 0;

  /** Takes over an accepted socket. */
  constructor(socket: Socket, host: ConnectionHost) {
    this.#socket = socket;
    this.#host = host;
    this.#reader = new RequestReader(host.maxBodyBytes);
    socket.setNoDelay(true);
    socket.on("data", (piece: Uint8Array) => this.#receive(piece));
    socket.on("end", () => this.#leave("caller-hung-up"));
    socket.on("error", () => this.#leave("caller-hung-up"));
    socket.on("close", () => this.#leave("caller-hung-up"));
  }

  /** Closes the connection and stops the script that is playing. */
  close(): void {
    this.#leave("server-closed");
    this.#socket.destroy();
  }

  #receive(piece: Uint8Array): void {
    if (this.#ending !== undefined) return;
    // A copy: the socket may reuse its buffer, and the reader keeps subarrays.
    this.#reader.push(new Uint8Array(piece));
    if (!this.#busy) return void this.#serve();
    this.#pipelined += piece.length;
    if (this.#pipelined > MAX_PIPELINED_BYTES) this.#leave("caller-hung-up");
  }

  #leave(ending: Ending): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    this.#interrupt?.();
    this.#socket.destroy();
  }

  async #serve(): Promise<void> {
    this.#busy = true;
    try {
      for (;;) {
        const received = this.#reader.next(() =>
          this.#socket.write("HTTP/1.1 100 Continue\r\n\r\n")
        );
        if (received === undefined) return;
        this.#pipelined = 0;
        await this.#exchange(received);
        if (this.#ending !== undefined) return;
      }
    } catch (error) {
      // The only catch: neither malformed bytes nor a script that throws may stop the server.
      if (error instanceof BadRequest) {
        await this.#refuse(error.status, error.message);
      } else await this.#refuse(500, `Cannot answer: ${error}`);
    } finally {
      this.#busy = false;
    }
  }

  async #refuse(status: number, why: string): Promise<void> {
    if (this.#ending !== undefined) return;
    const script = wholeScript(status, "text/plain", why + "\n");
    const head = encodeHead(script, false, false);
    const bodies = script.steps.flatMap((step) =>
      step.step === "bytes" ? [step.bytes] : []
    );
    this.#socket.write(joinBytes([head, ...bodies]));
    await this.#finish();
  }

  async #exchange(received: ReceivedRequest): Promise<void> {
    const { script, open } = this.#host.beginExchange(received.request);
    try {
      open.end(await this.#play(script, received, open));
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      open.end(this.#ending ?? "caller-hung-up");
    }
  }

  async #play(
    script: Script,
    received: ReceivedRequest,
    open: OpenLogEntry,
  ): Promise<Ending> {
    const how = script.steps.findLast((step) => step.step === "end")?.how ??
      "keep-alive";
    const framed = script.framing === "length" ||
      (script.framing === "chunked" && !received.http10);
    const keepAlive = received.keepAlive && framed && how !== "fin";
    const bodyless = received.request.method === "HEAD";
    const chunked = script.framing === "chunked" && !received.http10;
    let head: Uint8Array | undefined = encodeHead(
      script,
      keepAlive,
      received.http10,
    );
    const flushHead = async (payload?: Uint8Array): Promise<void> => {
      const first = head;
      head = undefined;
      if (first === undefined && payload === undefined) return;
      const pieces = [first, payload].filter((piece) => piece !== undefined);
      await this.#write(joinBytes(pieces));
      open.noteHead();
    };
    for (const step of script.steps) {
      if (this.#ending !== undefined) throw new Interrupted();
      switch (step.step) {
        case "head":
          await flushHead();
          break;
        case "wait":
          await this.#sleep(step.ms);
          break;
        case "gate":
          await this.#passGate(step.name);
          break;
        case "bytes":
          if (bodyless) break;
          // The head of a stream is a write of its own; the head of a whole reply is sent with the
          // body.
          if (chunked) await flushHead();
          if (head !== undefined) await flushHead(step.bytes);
          else if (chunked) await this.#write(encodeChunk(step.bytes));
          else await this.#write(step.bytes);
          open.noteSegment();
          if (step.edge === true) await this.#sleep(0);
          break;
        case "end":
          if (step.how === "keep-alive" || step.how === "fin") {
            await flushHead();
          }
          return await this.#end(step.how, chunked && !bodyless, keepAlive);
      }
    }
    await flushHead();
    return await this.#end(how, chunked && !bodyless, keepAlive);
  }

  async #end(how: End, chunked: boolean, keepAlive: boolean): Promise<Ending> {
    switch (how) {
      case "rst":
        this.#ending = "reset";
        this.#socket.resetAndDestroy();
        return "reset";
      case "hold":
        await this.#untilDisconnect();
        throw new Interrupted();
      case "no-final-chunk":
        await this.#finish();
        return "cut";
      case "fin":
      case "keep-alive":
        if (chunked) await this.#write(FINAL_CHUNK);
        if (!keepAlive || how === "fin") await this.#finish();
        return "complete";
    }
  }

  /** Closes gracefully: pending writes are sent before the FIN. */
  #finish(): Promise<void> {
    return new Promise((resolve) => {
      this.#ending ??= "complete";
      this.#socket.end(() => {
        this.#socket.destroy();
        resolve();
      });
    });
  }

  #write(bytes: Uint8Array): Promise<void> {
    return this.#interruptible((done) => {
      this.#socket.write(bytes, (error) => {
        if (error) this.#leave("caller-hung-up");
        else done();
      });
      return () => {};
    });
  }

  /**
   * Even 0 ms yields to the event loop, so that the previous write is sent as a segment of its own.
   */
  #sleep(ms: number): Promise<void> {
    return this.#interruptible((done) => {
      const timer = setTimeout(done, ms);
      return () => clearTimeout(timer);
    });
  }

  #passGate(name: string): Promise<void> {
    return this.#interruptible((done) => this.#host.gates.wait(name, done));
  }

  #untilDisconnect(): Promise<void> {
    return this.#interruptible(() => () => {});
  }

  /**
   * Awaits an operation that may take long. `start` returns a function that cancels it; when the
   * client disconnects, the operation is cancelled and the promise rejects with `Interrupted`.
   */
  #interruptible(start: (done: () => void) => () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#ending !== undefined) return reject(new Interrupted());
      let giveUp = (): void => {};
      this.#interrupt = () => {
        this.#interrupt = undefined;
        giveUp();
        reject(new Interrupted());
      };
      giveUp = start(() => {
        this.#interrupt = undefined;
        resolve();
      });
    });
  }
}
