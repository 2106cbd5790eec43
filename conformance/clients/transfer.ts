/** A transfer in progress: what both clients report while a reply arrives, and what is left of it in the end. */
import type {
  Arrival,
  Ending,
  Header,
  ResponseHead,
} from "../evidence/exchange.ts";

/** What a client received. */
export interface Received {
  /** Absent when no status line came. */
  readonly head?: ResponseHead;
  /** The body, transfer framing removed. */
  readonly body: Uint8Array;
  /** When its pieces arrived. */
  readonly arrivals: readonly Arrival[];
  /** How it ended. */
  readonly ending: Ending;
  /** Milliseconds from the request to the end. */
  readonly endedMs: number;
  /** What went wrong, in words. */
  readonly problem?: string;
}

/** Collects a reply as it arrives, and lets a scenario wait for some of it. */
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

  /** Notes the status line and the headers. */
  noteHead(status: number, headers: readonly Header[]): void {
    this.#head = { status, headers, atMs: this.#now() };
    this.#tell();
  }

  /** Notes a piece of the body. */
  notePiece(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#size += piece.length;
    this.#text += this.#decoder.decode(piece, { stream: true });
    this.#arrivals.push({ atMs: this.#now(), upTo: this.#size });
    this.#tell();
  }

  /** Closes the record. */
  finish(ending: Ending, problem?: string): Received {
    this.#done = true;
    this.#tell();
    const body = new Uint8Array(this.#size);
    let at = 0;
    for (const piece of this.#pieces) {
      body.set(piece, at);
      at += piece.length;
    }
    return {
      ...(this.#head === undefined ? {} : { head: this.#head }),
      body,
      arrivals: this.#arrivals,
      ending: this.#head === undefined && ending === "broken"
        ? "no-reply"
        : ending,
      endedMs: this.#now(),
      ...(problem === undefined ? {} : { problem }),
    };
  }

  /** True as soon as the status line is there; false when it does not come in time. */
  answers(withinMs: number): Promise<boolean> {
    return this.#until(() => this.#head !== undefined, withinMs);
  }

  /** True as soon as the body holds the text; false when it ends or the time passes first. */
  shows(text: string, withinMs: number): Promise<boolean> {
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

  #tell(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  #now(): number {
    return Math.round((performance.now() - this.#startMs) * 10) / 10;
  }
}
