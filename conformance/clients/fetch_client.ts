/** The client for normal traffic: `fetch`, recorded piece by piece. */
import type { Header } from "../evidence/exchange.ts";
import { Patience } from "./patience.ts";
import { readBody } from "./read_body.ts";
import { type Received, Transfer } from "./transfer.ts";

/** A request for `fetch`. */
export interface FetchRequest {
  /** The whole address. */
  readonly url: string;
  /** The method. */
  readonly method: string;
  /** The headers to set. */
  readonly headers: readonly Header[];
  /** Bytes of the body; undefined sends none. */
  readonly body: Uint8Array | undefined;
  /** A reply may stand still so long; one that moves may last four times as long. */
  readonly timeoutMs: number;
}

/** A request that is on its way. */
export interface Ongoing {
  /** What has arrived so far can be waited for here. */
  readonly transfer: Transfer;
  /** The end of it; never rejects. */
  readonly received: Promise<Received>;
  /** Closes the connection from this side. */
  hangUp(): void;
}

/** Sends a request and records what comes back. */
export function sendFetch(request: FetchRequest): Ongoing {
  const transfer = new Transfer();
  const abort = new AbortController();
  let why: "timeout" | "hung-up" | undefined;
  const patience = new Patience(request.timeoutMs, () => {
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
      patience.moved();
      transfer.noteHead(response.status, [...response.headers]);
      if (response.body !== null) {
        for await (const piece of readBody(response.body, abort.signal)) {
          patience.moved();
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
      patience.end();
    }
  };
  return {
    transfer,
    received: receive(),
    hangUp: () => {
      why ??= "hung-up";
      abort.abort();
    },
  };
}
