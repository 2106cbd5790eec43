/**
 * A transfer in progress: reports for scenarios while a reply arrives, and its record in the end.
 */
import { joinBytes } from "@model-gateway/replay/join_bytes";
import { compact } from "@model-gateway/replay/compact";
import type {
  Arrival,
  Ending,
  Header,
  ResponseHead,
} from "../evidence/exchange.ts";

export interface Received {
  /** Absent when no status line came. */
  readonly head?: ResponseHead;
  /** The body, transfer framing removed. */
  readonly body: Uint8Array;
  /** When its pieces arrived. */
  readonly arrivals: readonly Arrival[];
  readonly ending: Ending;
  /** Milliseconds from the request to the end. */
  readonly endedMs: number;
  /** Description of the failure; absent after a complete reply. */
  readonly problem?: string;
}

/** Collects a reply as it arrives; a scenario can wait for parts of it. */
export class Transfer {
  readonly #startMs = performance.now();
  #head: ResponseHead | undefined;
  #pieces: Uint8Array[] = [];
  #arrivals: Arrival[] = [];
  #size = 0;
  #text = "";
  readonly #decoder = new TextDecoder();
  #done = false;
  readonly #watchers = new Set<() => void>();

  noteHead(
    status: number,
    headers: readonly Header[],
    isOld: boolean = false,
  ): void {
    this.#head = {
      status,
      headers,
      atMs: this.#now(),
      ...(isOld ? { isOld } : {}),
    };
    this.#notify();
  }

  notePiece(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#size += piece.length;
    this.#text += this.#decoder.decode(piece, { stream: true });
    this.#arrivals.push({ atMs: this.#now(), upTo: this.#size });
    this.#notify();
  }

  finish(ending: Ending, problem?: string): Received {
    this.#done = true;
    this.#notify();
    const body = joinBytes(this.#pieces);
    return {
      ...compact({ head: this.#head }),
      body,
      arrivals: this.#arrivals,
      ending: this.#head === undefined && ending === "broken"
        ? "no-reply"
        : ending,
      endedMs: this.#now(),
      ...compact({ problem }),
    };
  }

  /** Resolves to true when the status line arrives, to false when it does not arrive in time. */
  headArrives(withinMs: number): Promise<boolean> {
    return this.#until(() => this.#head !== undefined, withinMs);
  }

  /**
   * Resolves to true when the body contains the text, to false when the body ends or the time
   * passes first.
   */
  bodyContains(text: string, withinMs: number): Promise<boolean> {
    return this.#until(() => this.#text.includes(text), withinMs);
  }

  #until(test: () => boolean, withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (): void => {
        const holds = test();
        if (!holds && !this.#done) return;
        this.#watchers.delete(settle);
        clearTimeout(timer);
        resolve(holds);
      };
      const timer = setTimeout(() => {
        this.#watchers.delete(settle);
        resolve(test());
      }, withinMs);
      this.#watchers.add(settle);
      settle();
    });
  }

  #notify(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  #now(): number {
    return Math.round((performance.now() - this.#startMs) * 10) / 10;
  }
}
