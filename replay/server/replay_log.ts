/**
 * The requests that arrived at the replay server, in order, and how each exchange ended.
 * Tests await its entries and their endings instead of sleeping.
 */
import type { Marker } from "../marker.ts";
import type { ReplayRequest } from "../script.ts";

export type Ending =
  /** The whole script was sent and the body ended properly. */
  | "complete"
  /** The script closed the connection without the final chunk, or before the declared length. */
  | "cut"
  /** The script reset the connection. */
  | "reset"
  /** The client closed its connection before the script ended. */
  | "caller-hung-up"
  /** The replay server was closed before the script ended. */
  | "server-closed";

/** One request and its reply. `ending` and the counters are updated while the exchange lasts. */
export interface ReplayLogEntry {
  /** Number of the exchange, counted from 1. */
  readonly id: number;
  readonly request: ReplayRequest;
  /** The body as JSON; undefined when it is not JSON. */
  readonly json: unknown;
  /** The marker of the last turn; undefined when there is none. */
  readonly marker: Marker | undefined;
  /** Number of the connection, counted from 1. */
  readonly connection: number;
  readonly status: number;
  /** Body writes handed to the network so far. */
  readonly segmentsSent: number;
  /** True once the status line is sent. */
  readonly headSent: boolean;
  /** Undefined while the exchange lasts. */
  readonly ending: Ending | undefined;
  /** Resolves with `ending`; never rejects. */
  readonly ended: Promise<Ending>;
}

/** An entry of an exchange that has not ended, for the connection to update. */
export interface OpenLogEntry {
  readonly entry: ReplayLogEntry;
  noteHead(): void;
  noteSegment(): void;
  /** Ends the exchange; only the first call counts. */
  end(ending: Ending): void;
}

interface Waiter {
  readonly matches: (entry: ReplayLogEntry) => boolean;
  readonly resolve: (entry: ReplayLogEntry) => void;
  readonly reject: (reason: Error) => void;
}

/** Most characters in the bodies of all kept entries; the oldest entries are dropped first. */
const MAX_KEPT_CHARACTERS = 64 * 1024 * 1024;

export class ReplayLog {
  readonly #keep: number;
  #entries: ReplayLogEntry[] = [];
  readonly #byNonce = new Map<string, Set<ReplayLogEntry>>();
  #characters = 0;
  #lastId = 0;
  #lastTaken = 0;
  #waiters = new Set<Waiter>();
  #closed = false;

  /** Keeps the last `keep` entries. */
  constructor(keep: number) {
    this.#keep = keep;
  }

  /** The kept entries, oldest first. */
  get entries(): readonly ReplayLogEntry[] {
    return this.#entries;
  }

  /**
   * The kept entries, oldest first, whose marker has one of these nonces; of a request whose last
   * turn has no marker, the markers in other turns count.
   */
  withNonces(nonces: Iterable<string>): readonly ReplayLogEntry[] {
    const found = new Set<ReplayLogEntry>();
    for (const nonce of nonces) {
      for (const entry of this.#byNonce.get(nonce) ?? []) found.add(entry);
    }
    return [...found].sort((a, b) => a.id - b.id);
  }

  /** The oldest entry that `next()` has not returned yet; waits until there is one. */
  async next(): Promise<ReplayLogEntry> {
    const entry = await this.waitFor((candidate) =>
      candidate.id > this.#lastTaken
    );
    if (entry.id <= this.#lastTaken) return this.next();
    this.#lastTaken = entry.id;
    return entry;
  }

  /**
   * The first entry, kept or future, for which `matches` returns true.
   * @throws {Error} when the server is closed first
   */
  waitFor(wants: (entry: ReplayLogEntry) => boolean): Promise<ReplayLogEntry> {
    const found = this.#entries.find(wants);
    if (found !== undefined) return Promise.resolve(found);
    if (this.#closed) {
      return Promise.reject(
        new Error("Cannot wait: the replay server is closed"),
      );
    }
    return new Promise((resolve, reject) =>
      this.#waiters.add({ matches: wants, resolve, reject })
    );
  }

  /** The first entry whose marker has this nonce. */
  waitForNonce(nonce: string): Promise<ReplayLogEntry> {
    return this.waitFor((entry) => entry.marker?.nonce === nonce);
  }

  /**
   * Waits until the client hangs up on exchange `id`.
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

  /** Removes all entries; ids continue to count up. */
  clear(): void {
    this.#entries = [];
    this.#byNonce.clear();
    this.#characters = 0;
  }

  /** Adds an exchange that starts now. */
  begin(
    fields: Pick<
      ReplayLogEntry,
      "request" | "json" | "marker" | "connection" | "status"
    >,
  ): OpenLogEntry {
    const { promise: ended, resolve } = Promise.withResolvers<Ending>();
    const state: { -readonly [K in keyof ReplayLogEntry]: ReplayLogEntry[K] } =
      {
        id: ++this.#lastId,
        ...fields,
        segmentsSent: 0,
        headSent: false,
        ending: undefined,
        ended,
      };
    this.#entries.push(state);
    for (const nonce of noncesOf(state)) {
      const same = this.#byNonce.get(nonce);
      if (same === undefined) this.#byNonce.set(nonce, new Set([state]));
      else same.add(state);
    }
    this.#characters += state.request.body.length;
    while (
      this.#entries.length > this.#keep ||
      this.#characters > MAX_KEPT_CHARACTERS
    ) {
      const oldest = this.#entries.shift();
      if (oldest === undefined) break;
      this.#characters -= oldest.request.body.length;
      for (const nonce of noncesOf(oldest)) {
        const same = this.#byNonce.get(nonce);
        same?.delete(oldest);
        if (same?.size === 0) this.#byNonce.delete(nonce);
      }
    }
    for (const waiter of this.#waiters) {
      if (!waiter.matches(state)) continue;
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

  close(): void {
    this.#closed = true;
    for (const { reject } of this.#waiters) {
      reject(new Error("Cannot go on waiting: the replay server was closed"));
    }
    this.#waiters.clear();
  }
}

function noncesOf({ marker, request }: ReplayLogEntry): readonly string[] {
  return marker?.nonce === undefined
    ? [...request.body.matchAll(/#([^#\]]+)\]\]/g)].map(([, nonce = ""]) =>
      nonce
    )
    : [marker.nonce];
}
