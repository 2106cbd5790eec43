/**
 * The replies that later requests can refer to: stores them sealed for the client's key, finds and
 * removes them.
 *
 * Several replies are written at once while the store is busy, as with the ledger. A reply counts
 * as stored once its write is committed, so that every process finds it; that it survives a crash
 * of the machine is not awaited.
 */
import {
  arrayOr,
  type JsonObject,
  objectOr,
  stringIn,
} from "../../translate/bytes/json.ts";
import { exactJson } from "../../translate/bytes/exact_json.ts";
import { jsonPieces } from "../../translate/bytes/json_pieces.ts";
import { largeObject } from "../../translate/bytes/large_json.ts";
import type {
  DialectState,
  StoredTurn,
} from "../../translate/model/stored_state.ts";
import type { Sql, Store } from "../accounts/store/store.ts";
import {
  bytesIn,
  insertReplies,
  readByItems,
  readChain,
  readOutput,
  removeReply,
  type ReplyRow,
  type SealedReply,
} from "./reply_rows.ts";
import type { Seal } from "../accounts/seal.ts";
import { inTurns } from "../in_turns.ts";
import { isInParts, partWriter, piecesOf, readParts } from "./stored_parts.ts";

interface StoredRepliesOptions {
  /** Where the replies are. The caller closes it. */
  readonly store: Store;
  /** How long a reply is kept, in milliseconds. */
  readonly maxAgeMs: number;
  /** Most sealed bytes of one account; its oldest replies go first. */
  readonly maxBytes: number;
  /** Unix time in milliseconds. */
  readonly now: () => number;
}

/** A conversation as far as it is stored. */
export interface Chain {
  /** Oldest first; empty if the reply itself is not stored. */
  readonly turns: readonly StoredTurn[];
  /** What is missing before the first of them. */
  readonly missing: "nothing" | "a reply" | "too much";
}

export interface NewReply {
  /** The account whose share of bytes it counts towards. */
  readonly accountId: string;
  /** The client's key; its replies end with it. */
  readonly keyId: string;
  /** Encrypts for the client's key. */
  readonly seal: Seal;
  /** The reply and its new input. */
  readonly turn: StoredTurn;
  /** About how many bytes of JSON the input is. */
  readonly inputBytes: number;
  readonly previousId?: string;
  /** Output items of the reply, by which later requests refer to them. */
  readonly itemIds: readonly string[];
}

/** Stores and finds replies. Every method rejects if the store does not answer. */
export interface StoredReplies {
  /** Resolves once every process finds the reply. */
  save(reply: NewReply): Promise<void>;
  /** A reply and those that it continues, as long as they have at most `maxBytes` together. */
  chain(seal: Seal, id: string, maxBytes: number): Promise<Chain>;
  /** The JSON of a reply, as UTF-8; undefined if it is not stored. */
  reply(seal: Seal, id: string): Promise<Uint8Array | undefined>;
  /**
   * Items by id; those that are not stored are absent. Undefined if there are too many, or if their
   * replies have more than `maxBytes` together.
   */
  items(
    seal: Seal,
    ids: readonly string[],
    maxBytes: number,
    state: DialectState,
  ): Promise<ReadonlyMap<string, JsonObject> | undefined>;
  /** Removes a reply. Resolves to whether it was stored. */
  remove(seal: Seal, id: string): Promise<boolean>;
  /** Waits for the writes under way. */
  close(): Promise<void>;
}

/** Most replies in one conversation. */
export const MAX_REPLIES = 1000;
/** Texts of a reply that are longer together are stored in parts. */
const LONG_BYTES = 1024 * 1024;
const DECODER = new TextDecoder();
/** Most replies that one write stores. */
const MAX_BATCH = 50;
/** Most items of a reply that later requests find, and that one request may refer to. */
export const MAX_ITEMS = 2000;

interface Waiting {
  readonly row: ReplyRow;
  readonly done: PromiseWithResolvers<void>;
}

export function storedReplies(options: StoredRepliesOptions): StoredReplies {
  const { store, maxAgeMs, maxBytes, now } = options;
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  const saves = new Set<Promise<void>>();
  const oldestMs = (): number => now() - maxAgeMs;

  const write = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = nextBatch(
        store.parallel === undefined ? waiting : ofFirstAccount(waiting),
        maxBytes,
      );
      const taken = new Set(batch);
      waiting = waiting.filter((one) => !taken.has(one));
      const rows = batch.map(({ row }) => row);
      try {
        const insert = (sql: Sql): Promise<void> =>
          insertReplies(sql, store.dialect, rows, maxBytes);
        await writeOf(rows[0]?.accountId ?? "", insert);
        for (const { done } of batch) done.resolve();
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    writing = undefined;
  };
  const openTurns = async (
    seal: Seal,
    rows: readonly SealedReply[],
  ): Promise<readonly StoredTurn[]> =>
    await Promise.all(
      rows.map(async ({ address, previous, input, reply }) => {
        const sealed = isInParts(input)
          ? await parseLong(
            await readParts(store, seal, address, inputAt(address), input),
          )
          : objectOr(exactJson(await seal.open(inputAt(address), input)));
        // The column is not sealed: who can write to the store must not join two conversations.
        if (stringIn(sealed["previous"]) !== previous) {
          throw new Error("a stored reply was changed");
        }
        return {
          id: stringIn(sealed["id"]) ?? "",
          input: arrayOr(sealed["input"]),
          reply: DECODER.decode(await openReply(seal, address, reply)),
        };
      }),
    );
  const openReply = (
    seal: Seal,
    address: string,
    reply: string,
  ): Promise<Uint8Array> =>
    isInParts(reply)
      ? readParts(store, seal, address, address, reply)
      : seal.openBytes(address, reply);
  const writeOf = (
    accountId: string,
    work: (sql: Sql) => Promise<void>,
  ): Promise<void> =>
    store.parallel === undefined
      ? store.commitUncached(work)
      : store.parallel.write(`replies ${accountId}`, work);
  /** The row of a reply whose texts may be long; those that are have been committed in parts. */
  const rowOf = async (
    { accountId, keyId, seal, turn, previousId, itemIds, inputBytes }: NewReply,
  ): Promise<ReplyRow> => {
    const { id, input, reply } = turn;
    const previous = previousId === undefined
      ? undefined
      : seal.addressOf("reply", previousId);
    const address = seal.addressOf("reply", id);
    const common = {
      address,
      ...(previous === undefined ? {} : { previous }),
      accountId,
      keyId,
      atMs: now(),
      items: itemIds.slice(0, MAX_ITEMS).map((item) =>
        seal.addressOf("item", item)
      ),
    };
    const sealed = { id, previous, input };
    if (inputBytes + reply.length <= LONG_BYTES) {
      return {
        ...common,
        input: await seal.close(inputAt(address), JSON.stringify(sealed)),
        reply: await seal.close(address, reply),
      };
    }
    const writer = partWriter({
      seal,
      dialect: store.dialect,
      address,
      now,
      write: (work) => writeOf(accountId, work),
    });
    const inputPlace = await writer.add(inputAt(address), jsonPieces(sealed));
    const inputChars = writer.chars;
    const replyPlace = await writer.add(address, piecesOf(reply));
    return {
      ...common,
      input: inputPlace,
      reply: replyPlace,
      inParts: {
        parts: writer.parts,
        chars: writer.chars,
        replyChars: writer.chars - inputChars,
      },
    };
  };
  const save = async (reply: NewReply): Promise<void> => {
    const { turn, inputBytes } = reply;
    // One reply that is too large must not make the write of others fail.
    const tooLarge = (bytes: number): void => {
      if (bytes <= maxBytes) return;
      throw new Error("the reply is larger than its account's share");
    };
    tooLarge(sealedBytes(inputBytes + turn.reply.length));
    const row = await rowOf(reply);
    tooLarge(bytesIn(row));
    const done = Promise.withResolvers<void>();
    waiting.push({ row, done });
    writing ??= write();
    await done.promise;
  };

  return {
    async save(reply) {
      const saving = save(reply);
      saves.add(saving);
      try {
        await saving;
      } finally {
        saves.delete(saving);
      }
    },
    async chain(seal, id, maxTextBytes) {
      const limits = {
        oldestMs: oldestMs(),
        maxReplies: MAX_REPLIES,
        maxBytes: sealedBytes(maxTextBytes),
      };
      const address = seal.addressOf("reply", id);
      const rows = await readChain(store, address, limits);
      const turns = await openTurns(seal, rows);
      if (rows[0]?.previous === undefined) return { turns, missing: "nothing" };
      const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
      const isCut = rows.length >= MAX_REPLIES || bytes > limits.maxBytes;
      return { turns, missing: isCut ? "too much" : "a reply" };
    },
    async reply(seal, id) {
      const address = seal.addressOf("reply", id);
      const sealed = await readOutput(store, address, oldestMs());
      return sealed === undefined
        ? undefined
        : await openReply(seal, address, sealed);
    },
    async items(seal, ids, maxTextBytes, state) {
      const found = new Map<string, JsonObject>();
      if (ids.length === 0) return found;
      const wanted = new Set(ids);
      if (wanted.size > MAX_ITEMS) return undefined;
      const addresses = [...wanted].map((id) => seal.addressOf("item", id));
      const rows = await readByItems(store, addresses, {
        oldestMs: oldestMs(),
        maxBytes: sealedBytes(maxTextBytes),
      });
      for (const { address, reply } of rows ?? []) {
        const text = DECODER.decode(await openReply(seal, address, reply));
        for (const [id, item] of state.outputItems(text, wanted)) {
          found.set(id, item);
        }
      }
      return rows && found;
    },
    async remove(seal, id) {
      const address = seal.addressOf("reply", id);
      return await store.write((sql) =>
        removeReply(sql, store.dialect, address, oldestMs())
      );
    },
    async close() {
      await Promise.allSettled(saves);
    },
  };
}

/**
 * The waiting replies of the account whose reply waits first: writes of other accounts need not
 * wait for this one.
 */
function ofFirstAccount(waiting: readonly Waiting[]): readonly Waiting[] {
  const accountId = waiting[0]?.row.accountId;
  return waiting.filter(({ row }) => row.accountId === accountId);
}

/** The first replies that wait, at most as many bytes together as one account may have. */
function nextBatch(
  waiting: readonly Waiting[],
  maxBytes: number,
): readonly Waiting[] {
  let bytes = 0;
  const end = waiting.findIndex(({ row }, at) => {
    bytes += bytesIn(row);
    return at === MAX_BATCH || bytes > maxBytes;
  });
  return end === -1 ? waiting : waiting.slice(0, Math.max(1, end));
}

/** A long object, parsed in turns of the event loop. */
async function parseLong(bytes: Uint8Array): Promise<JsonObject> {
  const { parse } = await inTurns(largeObject(bytes));
  return await inTurns(parse());
}

/** Where the input of a reply is sealed: a part cannot be put in the other's place. */
function inputAt(address: string): string {
  return `${address} input`;
}

/** About how many bytes a text has once it is sealed: base64, and the additions of the cipher. */
export function sealedBytes(textBytes: number): number {
  return Math.ceil(textBytes * 4 / 3);
}
