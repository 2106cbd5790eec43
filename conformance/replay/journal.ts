/**
 * What arrived at the replay server and how each exchange ended, in order of arrival.
 * Tests await its entries and endings instead of sleeping.
 */
import type { Marker } from "./marker.ts";
import type { ReplayRequest } from "./script.ts";

/** How an exchange ended. */
export type Ending =
  /** Everything of the script was sent and the body was ended properly. */
  | "complete"
  /** The script ended the connection without the final chunk, or lied about the length. */
  | "cut"
  /** The script reset the connection. */
  | "reset"
  /** The caller closed its connection before the script was through. */
  | "caller-hung-up"
  /** The replay server was closed meanwhile. */
  | "server-closed";

/** One exchange. The record is live: `ending` and the counts are filled in as it goes on. */
export interface JournalEntry {
  /** 1 for the first exchange of the server; grows by one with each. */
  readonly id: number;
  /** The request as it arrived. */
  readonly request: ReplayRequest;
  /** The body as JSON; undefined when it is not JSON. */
  readonly json: unknown;
  /** The fixture marker found in the last turn, if any. */
  readonly marker: Marker | undefined;
  /** The connection it came on, counted from 1. */
  readonly connection: number;
  /** Status of the script. */
  readonly status: number;
  /** Body writes handed to the network so far. */
  readonly segmentsSent: number;
  /** True once the status line was sent. */
  readonly headSent: boolean;
  /** Undefined while the exchange lasts. */
  readonly ending: Ending | undefined;
  /** Settles with `ending`; never rejects. */
  readonly ended: Promise<Ending>;
}

/** The side of an entry that the connection writes to. */
export interface OpenEntry {
  /** The entry that readers see. */
  readonly entry: JournalEntry;
  /** The status line went out. */
  noteHead(): void;
  /** A body segment went out. */
  noteSegment(): void;
  /** The exchange is over; only the first call counts. */
  end(ending: Ending): void;
}

interface Waiter {
  readonly wants: (entry: JournalEntry) => boolean;
  readonly resolve: (entry: JournalEntry) => void;
  readonly reject: (reason: Error) => void;
}

/** Bodies of kept entries may add up to this many characters; older entries go first. */
const MAX_KEPT_CHARACTERS = 64 * 1024 * 1024;

/** The entries of one replay server; only the last `keep` are kept. */
export class Journal {
  readonly #keep: number;
  #entries: JournalEntry[] = [];
  #characters = 0;
  #lastId = 0;
  #lastTaken = 0;
  #waiters = new Set<Waiter>();
  #closed = false;

  /** Keeps that many entries. */
  constructor(keep: number) {
    this.#keep = keep;
  }

  /** The kept entries, oldest first. */
  get entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  /** The oldest entry that `next()` has not handed out yet, as soon as there is one. */
  async next(): Promise<JournalEntry> {
    const entry = await this.waitFor((candidate) =>
      candidate.id > this.#lastTaken
    );
    if (entry.id <= this.#lastTaken) return this.next();
    this.#lastTaken = entry.id;
    return entry;
  }

  /** The first kept or coming entry that satisfies the test. */
  waitFor(wants: (entry: JournalEntry) => boolean): Promise<JournalEntry> {
    const found = this.#entries.find(wants);
    if (found !== undefined) return Promise.resolve(found);
    if (this.#closed) {
      return Promise.reject(
        new Error("Cannot wait: the replay server is closed"),
      );
    }
    return new Promise((resolve, reject) =>
      this.#waiters.add({ wants, resolve, reject })
    );
  }

  /** The first entry whose marker carries that nonce. */
  waitForNonce(nonce: string): Promise<JournalEntry> {
    return this.waitFor((entry) => entry.marker?.nonce === nonce);
  }

  /**
   * Waits until the caller hung up on exchange `id`.
   * @throws {Error} when the exchange ends any other way
   */
  async waitForHangUp(id: number): Promise<void> {
    const ending = await (await this.waitFor((entry) => entry.id === id)).ended;
    if (ending !== "caller-hung-up") {
      throw new Error(
        `Cannot see a hang-up on exchange ${id}: it ended as ${ending}`,
      );
    }
  }

  /** Forgets all entries; ids go on growing. */
  clear(): void {
    this.#entries = [];
    this.#characters = 0;
  }

  /** Adds an exchange that begins now. */
  begin(
    fields: Pick<
      JournalEntry,
      "request" | "json" | "marker" | "connection" | "status"
    >,
  ): OpenEntry {
    const { promise: ended, resolve } = Promise.withResolvers<Ending>();
    const state: { -readonly [K in keyof JournalEntry]: JournalEntry[K] } = {
      id: ++this.#lastId,
      ...fields,
      segmentsSent: 0,
      headSent: false,
      ending: undefined,
      ended,
    };
    this.#entries.push(state);
    this.#characters += state.request.body.length;
    while (
      this.#entries.length > this.#keep ||
      this.#characters > MAX_KEPT_CHARACTERS
    ) {
      const oldest = this.#entries.shift();
      if (oldest === undefined) break;
      this.#characters -= oldest.request.body.length;
    }
    for (const waiter of this.#waiters) {
      if (!waiter.wants(state)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(state);
    }
    return {
      entry: state,
      noteHead: () => {
        state.headSent = true;
      },
      noteSegment: () => {
        state.segmentsSent++;
      },
      end: (ending) => {
        state.ending ??= ending;
        resolve(state.ending);
      },
    };
  }

  /** Rejects whoever still waits. */
  close(): void {
    this.#closed = true;
    for (const { reject } of this.#waiters) {
      reject(new Error("Cannot go on waiting: the replay server was closed"));
    }
    this.#waiters.clear();
  }
}
