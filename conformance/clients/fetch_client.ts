/** The client for normal traffic: `fetch`, recorded piece by piece. */
import type { Header } from "../evidence/exchange.ts";
import { IdleTimeout } from "./idle_timeout.ts";
import { readBody } from "./read_body.ts";
import { type Received, Transfer } from "./transfer.ts";

interface FetchRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly Header[];
  /** Bytes of the body; undefined sends none. */
  readonly body: Uint8Array | undefined;
  /**
   * Longest time without a new piece. A reply that still arrives may take four times as long in
   * all.
   */
  readonly timeoutMs: number;
}

/** A request in progress. */
export interface Ongoing {
  /** Waits for parts of the reply. */
  readonly transfer: Transfer;
  /** Settles when the reply has ended; never rejects. */
  readonly received: Promise<Received>;
  disconnect(): void;
}

/** Sends a request and records the reply. */
export function sendFetch(request: FetchRequest): Ongoing {
  const transfer = new Transfer();
  const abort = new AbortController();
  let why: "timeout" | "hung-up" | undefined;
  const patience = new IdleTimeout(request.timeoutMs, () => {
    why ??= "timeout";
    abort.abort();
  });
  const receive = async (): Promise<Received> => {
    try {
      const response = await fetch(request.url, {
        method: request.method,
        headers: request.headers.map(([name, value]) => [name, value]),
        ...(request.body === undefined
          ? {}
          : { body: new Uint8Array(request.body) }),
        redirect: "manual",
        signal: abort.signal,
      });
      patience.restart();
      transfer.noteHead(response.status, [...response.headers]);
      if (response.body !== null) {
        for await (const piece of readBody(response.body, abort.signal)) {
          patience.restart();
          transfer.notePiece(piece);
        }
      }
      return transfer.finish("complete");
    } catch (error) {
      if (why !== undefined) return transfer.finish(why);
      return transfer.finish(
        "broken",
        error instanceof Error ? error.message : String(error),
      );
    } finally {
      patience.stop();
    }
  };
  return {
    transfer,
    received: receive(),
    disconnect: () => {
      why ??= "hung-up";
      abort.abort();
    },
  };
}
