/**
 * The replies that open connections remember: a lane of a connection can continue its last reply
 * although that is stored nowhere. They are in this process's memory alone and end with their
 * connection. All of them together are bounded: the key that takes most loses its oldest first.
 */

/** A reply with the conversation before it. */
interface RecentReply {
  readonly id: string;
  /** The items of the conversation: the input of each request, and the output of each reply. */
  readonly items: readonly unknown[];
  /** About how many bytes of JSON the items are. */
  readonly bytes: number;
}

/** What a lane of a connection sees of its memory. */
export interface LaneMemory {
  /** The conversation up to the last reply of any lane of the connection; undefined: another id. */
  find(id: string): readonly unknown[] | undefined;
  /** Remembers a reply in place of the lane's last one. */
  put(reply: RecentReply): void;
  /** Forgets the lane's last reply if it has this id. */
  forget(id: string): void;
}

/** What one connection remembers; it ends with the connection. */
export interface ConnectionMemory {
  lane(name: string): LaneMemory;
  /** Forgets everything. */
  close(): void;
}

interface Entry extends RecentReply {
  readonly keyId: string;
  /** Takes it out of its connection. */
  drop(): void;
}

/** The memories of a process. */
export class RecentReplies {
  readonly #maxBytes: number;
  /** Oldest first. */
  readonly #entries = new Set<Entry>();
  readonly #bytesByKey = new Map<string, number>();
  #bytes = 0;

  /** Remembers at most so many bytes. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  connect(keyId: string): ConnectionMemory {
    const lanes = new Map<string, Entry>();
    // A reply may end after its connection.
    let isClosed = false;
    const remove = (name: string): void => {
      const entry = lanes.get(name);
      if (entry !== undefined) this.#remove(entry);
    };
    return {
      lane: (name) => ({
        find: (id) => lanes.values().find((entry) => entry.id === id)?.items,
        put: (reply) => {
          remove(name);
          if (isClosed) return;
          const entry = { ...reply, keyId, drop: () => lanes.delete(name) };
          lanes.set(name, entry);
          this.#add(entry);
        },
        forget(id) {
          if (lanes.get(name)?.id === id) remove(name);
        },
      }),
      close() {
        isClosed = true;
        for (const name of [...lanes.keys()]) remove(name);
      },
    };
  }

  #add(entry: Entry): void {
    this.#entries.add(entry);
    this.#count(entry, entry.bytes);
    while (this.#bytes > this.#maxBytes) this.#removeOne();
  }

  #remove(entry: Entry): void {
    if (!this.#entries.delete(entry)) return;
    this.#count(entry, -entry.bytes);
    entry.drop();
  }

  #count({ keyId }: Entry, bytes: number): void {
    this.#bytes += bytes;
    const ofKey = (this.#bytesByKey.get(keyId) ?? 0) + bytes;
    if (ofKey === 0) this.#bytesByKey.delete(keyId);
    else this.#bytesByKey.set(keyId, ofKey);
  }

  #removeOne(): void {
    let [most, largest] = ["", -1];
    for (const [keyId, bytes] of this.#bytesByKey) {
      if (bytes > largest) [most, largest] = [keyId, bytes];
    }
    const oldest = this.#entries.values().find(({ keyId }) => keyId === most);
    if (oldest !== undefined) this.#remove(oldest);
  }
}
