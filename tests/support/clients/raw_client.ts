/**
 * A client on plain TCP for tests: it sends requests byte by byte and parses responses strictly,
 * one after another on one connection.
 */
import assert from "node:assert/strict";
import { joinBytes } from "../../../replay/join_bytes.ts";
import { bytesOf, type Closing, RawSocket } from "./raw_socket.ts";
import { withTimeout } from "../with_timeout.ts";
import { TEST_KEY, type TestGateway } from "../test_gateway.ts";

export interface RawResponse {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** Body without its chunked framing. */
  readonly body: string;
}

const LATIN1 = new TextDecoder("latin1");
const DECODER = new TextDecoder();

export class RawClient {
  readonly #socket: RawSocket;
  #bytes = new Uint8Array(0);

  private constructor(socket: RawSocket) {
    this.#socket = socket;
  }

  static async connect({ url }: Pick<TestGateway, "url">): Promise<RawClient> {
    return new RawClient(await RawSocket.connect(Number(new URL(url).port)));
  }

  get socket(): RawSocket {
    return this.#socket;
  }

  send(data: string | Uint8Array): Promise<void> {
    return this.#socket.send(data);
  }

  /** Sends a POST with the test key. `headers` replace the default ones; undefined removes one. */
  async post(
    path: string,
    body: string | Uint8Array | object,
    headers: Readonly<Record<string, string | undefined>> = {},
  ): Promise<void> {
    const bytes = bytesOf(
      typeof body === "string" || body instanceof Uint8Array
        ? body
        : JSON.stringify(body),
    );
    const all: Record<string, string | undefined> = {
      host: "gateway",
      "x-api-key": TEST_KEY,
      "content-type": "application/json",
      "content-length": String(bytes.length),
      ...headers,
    };
    const lines = Object.entries(all).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}: ${value}\r\n`]
    );
    await this.send(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
    await this.send(bytes);
  }

  /** Reads until the text matches; returns everything read so far. */
  async until(wanted: RegExp): Promise<string> {
    for (;;) {
      const text = DECODER.decode(this.#bytes);
      if (wanted.test(text)) return text;
      const closing = await this.#more();
      assert.equal(
        closing,
        undefined,
        `the connection ended without ${wanted}:\n${text}`,
      );
    }
  }

  /** The next response; undefined if the connection ended instead. */
  async answer(): Promise<RawResponse | undefined> {
    let end: number;
    while ((end = this.#find("\r\n\r\n")) === -1) {
      if (await this.#more() !== undefined) {
        assert.equal(this.#bytes.length, 0, "half an answer's head");
        return undefined;
      }
    }
    const [first = "", ...lines] = LATIN1.decode(this.#take(end + 4)).trimEnd()
      .split("\r\n");
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1]);
    assert.ok(status >= 100, `no status line: ${first}`);
    const headers = new Map<string, string>();
    for (const line of lines) {
      const [, name = "", value = ""] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? [];
      assert.notEqual(name, "", `no header: ${line}`);
      headers.set(name.toLowerCase(), value);
    }
    if (status < 200) return await this.answer();
    return { status, headers, body: DECODER.decode(await this.#body(headers)) };
  }

  /** Reads to the end of the connection and returns what is left. */
  async rest(): Promise<string> {
    while (await this.#more() === undefined);
    return DECODER.decode(this.#take(this.#bytes.length));
  }

  close(): void {
    this.#socket.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #body(headers: ReadonlyMap<string, string>): Promise<Uint8Array> {
    if (headers.get("transfer-encoding") !== "chunked") {
      const length = Number(headers.get("content-length") ?? "0");
      await this.#fill(length);
      return this.#take(length);
    }
    const pieces: Uint8Array[] = [];
    for (;;) {
      let end: number;
      while ((end = this.#find("\r\n")) === -1) {
        assert.equal(await this.#more(), undefined, "the body is cut");
      }
      const size = parseInt(LATIN1.decode(this.#take(end + 2)), 16);
      await this.#fill(size + 2);
      pieces.push(this.#take(size));
      this.#take(2);
      if (size === 0) return joinBytes(pieces);
    }
  }

  async #fill(length: number): Promise<void> {
    while (this.#bytes.length < length) {
      assert.equal(await this.#more(), undefined, "the body is cut");
    }
  }

  #find(text: string): number {
    return LATIN1.decode(this.#bytes).indexOf(text);
  }

  #take(length: number): Uint8Array {
    const taken = this.#bytes.slice(0, length);
    this.#bytes = this.#bytes.slice(length);
    return taken;
  }

  async #more(): Promise<Closing | undefined> {
    const piece = await withTimeout(
      this.#socket.read(),
      "the gateway's answer",
    );
    if (typeof piece === "string") return piece;
    this.#bytes = joinBytes([this.#bytes, piece]);
    return undefined;
  }
}
