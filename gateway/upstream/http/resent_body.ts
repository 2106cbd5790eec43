/**
 * A request body that is sent while it arrives. It can be sent again while all that was sent of it
 * is kept: up to a bound.
 */

/** A body for the HTTP client that is no array of bytes. */
export interface IterableBody extends AsyncIterable<Uint8Array> {
  /** In bytes; undefined if it is not known before the end. */
  readonly length: number | undefined;
}

/** More than this is not kept. */
export const KEPT_BYTES: number = 4 * 1024 * 1024;

/** The body as one upstream receives it; several may be made of one source, one after another. */
export class ResentBody<Piece> {
  readonly #source: AsyncIterator<readonly Piece[], void>;
  readonly #bytesOf: (piece: Piece) => number;
  #kept: Piece[];
  #keptBytes: number;
  /** Pieces that are no longer kept. */
  #gone = 0;
  #isKept = true;
  #next: Promise<boolean> | undefined;
  #hasEnded = false;

  /** @param begun what was read of the source already */
  constructor(
    begun: readonly Piece[],
    source: AsyncIterator<readonly Piece[], void>,
    bytesOf: (piece: Piece) => number,
  ) {
    this.#source = source;
    this.#bytesOf = bytesOf;
    this.#kept = [...begun];
    this.#keptBytes = begun.reduce((sum, piece) => sum + bytesOf(piece), 0);
  }

  /** Whether it can be sent from its beginning. */
  get canRepeat(): boolean {
    return this.#gone === 0;
  }

  /** The body for one upstream. */
  as(
    write: (piece: Piece) => Uint8Array,
    length: number | undefined,
  ): IterableBody {
    return {
      length,
      [Symbol.asyncIterator]: () => this.#pieces(write),
    };
  }

  /** It will not be sent again: what was sent need not be kept. */
  release(): void {
    this.#isKept = false;
  }

  /** Ends the source. */
  async close(): Promise<void> {
    this.#hasEnded = true;
    await this.#source.return?.();
  }

  async *#pieces(
    write: (piece: Piece) => Uint8Array,
  ): AsyncGenerator<Uint8Array, void, void> {
    for (let at = 0;;) {
      if (at < this.#gone) throw new Error("the body cannot be sent again");
      const piece = this.#kept[at - this.#gone];
      if (piece !== undefined) {
        at++;
        if (!this.#isKept) this.#forgetBefore(at);
        yield write(piece);
      } else if (!await this.#read()) return;
    }
  }

  /** Reads more of the source, once for all that wait for it; false at its end. */
  #read(): Promise<boolean> {
    if (this.#hasEnded) return Promise.resolve(false);
    return this.#next ??= this.#source.next().then(({ done, value }) => {
      this.#next = undefined;
      if (done === true) {
        this.#hasEnded = true;
        return false;
      }
      for (const piece of value) {
        this.#kept.push(piece);
        this.#keptBytes += this.#bytesOf(piece);
      }
      if (this.#keptBytes > KEPT_BYTES) this.#isKept = false;
      return true;
    });
  }

  #forgetBefore(at: number): void {
    this.#kept.splice(0, at - this.#gone);
    this.#gone = at;
  }
}
