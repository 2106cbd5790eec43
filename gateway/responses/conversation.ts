/**
 * The stored part of a request's conversation: puts it into the request before that is decoded,
 * and stores the reply behind its end. A dialect without stored replies passes by.
 *
 * @module
 */
import type { JsonObject } from "../../translate/bytes/json.ts";
import {
  spliceFields,
  type TopLevel,
  topLevelOf,
} from "../../translate/bytes/json_splice.ts";
import { ApiError } from "../../translate/model/error.ts";
import type {
  DialectState,
  ReplyEnd,
  StateRequest,
  StoredState,
} from "../../translate/model/stored_state.ts";
import type { Caller } from "../accounts/accounts.ts";
import type { Gateway } from "../gateway.ts";
import { presentedKeys } from "../http/presented_keys.ts";
import type { GenerationCall } from "../pipeline/generation_call.ts";
import { assertActive } from "../pipeline/model_access.ts";
import type { TimerId } from "../timers.ts";
import { deriveSeal, type Seal } from "./seal.ts";
import {
  type Chain,
  sealedBytes,
  type StoredReplies,
} from "./stored_replies.ts";

/** A request with the stored part of its conversation. */
export interface Conversation {
  /** The request with every reference replaced. */
  readonly body: JsonObject;
  /** The bytes of `body`. */
  readonly bytes: Uint8Array;
  /** Positions in `bytes`. */
  readonly top: TopLevel;
  /** An error of this request in terms of the client's own. */
  ownError(error: unknown): unknown;
  /** For the encoder of the reply. */
  readonly stored: StoredState;
  /** Absent where the reply is not to be stored. */
  readonly keeper?: ReplyKeeper;
}

/** Stores the reply of one call. */
export interface ReplyKeeper {
  /** See {@linkcode DialectState.replyEnd}. */
  endOf(bytes: Uint8Array, isStream: boolean): ReplyEnd | undefined;
  /** Stores the reply. Resolves to whether that succeeded in time; never rejects. */
  keep(end: ReplyEnd): Promise<boolean>;
}

/**
 * Longest wait for the store before a reply's last bytes go out. A later success does no harm: the
 * reply states that it is not stored.
 */
const KEEP_MS = 2_000;

/** Seals derived in this process, as long as their callers are cached. */
const seals = new WeakMap<Caller, Seal>();

/** The seal of the key that a request presents. */
export function sealOf(caller: Caller, headers: Headers): Seal {
  const known = seals.get(caller);
  if (known !== undefined) return known;
  const key = presentedKeys(headers).find(caller.isKey);
  if (key === undefined) throw new Error("the caller presented another key");
  const seal = deriveSeal(key);
  seals.set(caller, seal);
  return seal;
}

/**
 * Resolves what a request refers to. Undefined where it neither refers to stored replies nor has
 * its reply stored.
 *
 * @throws {ApiError} `invalid_request` for a reply or item that is not stored for this key;
 * `too_large` for a conversation beyond the limit of a request's body; `unavailable` if the store
 * does not answer
 */
export async function openConversation(
  gateway: Gateway,
  call: GenerationCall,
): Promise<Conversation | undefined> {
  const { replies, config } = gateway;
  const { state } = call.dialect;
  if (state === undefined || replies === undefined) return undefined;
  const asked = state.asked(call.body);
  const store = asked.store &&
    sealedBytes(call.bytes.length) < config.responsesBytes;
  const refers = asked.previousId !== undefined || asked.references.length > 0;
  if (!store && !refers) return undefined;
  assertActive(call.caller);
  const seal = sealOf(call.caller, call.headers);
  const request = refers
    ? await resolved(replies, seal, state, asked, call, config.maxBodyBytes)
    : asSent(call);
  return {
    ...request,
    stored: {
      store,
      ...(asked.previousId === undefined
        ? {}
        : { previousId: asked.previousId }),
    },
    ...(store
      ? { keeper: keeperOf(gateway, replies, call, seal, state, asked) }
      : {}),
  };
}

type Resolved = Pick<Conversation, "body" | "bytes" | "top" | "ownError">;

function asSent({ body, bytes, top }: GenerationCall): Resolved {
  return { body, bytes, top, ownError: (error) => error };
}

async function resolved(
  replies: StoredReplies,
  seal: Seal,
  state: DialectState,
  asked: StateRequest,
  call: GenerationCall,
  maxBytes: number,
): Promise<Resolved> {
  const { previousId, references } = asked;
  const { errors } = state;
  const { turns, missing }: Chain = previousId === undefined
    ? { turns: [], missing: "nothing" }
    : await orUnavailable(replies.chain(seal, previousId, maxBytes));
  if (missing === "too much") throw errors.tooLong(asked, maxBytes);
  if (missing === "a reply" || (previousId && turns.length === 0)) {
    throw errors.notContinued();
  }
  const inherited = state.references(turns);
  const ids = [...inherited, ...references].map(({ id }) => id);
  const items = await orUnavailable(
    replies.items(seal, ids, maxBytes, state),
  );
  if (items === undefined) throw errors.tooLong(asked, maxBytes);
  const lost = references.find(({ id }) => !items.has(id));
  if (lost !== undefined) throw errors.noItem(lost);
  if (inherited.some(({ id }) => !items.has(id))) throw errors.notContinued();
  const history = state.history(turns, items);
  const fields = state.resolved(call.body, history, items);
  const bytes = spliceFields(call.bytes, fields, call.top);
  if (bytes.length > maxBytes) throw errors.tooLong(asked, maxBytes);
  return {
    body: { ...call.body, ...fields },
    bytes,
    top: topLevelOf(bytes),
    ownError: (error) =>
      error instanceof ApiError ? errors.own(error, history.length) : error,
  };
}

/**
 * Awaits an answer of the store.
 *
 * @throws {ApiError} `unavailable` if there is none
 */
export async function orUnavailable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    const error = new ApiError(
      "unavailable",
      "the stored replies cannot be read at the moment: try again later",
      { retryAfterSeconds: 1 },
    );
    error.cause = cause;
    throw error;
  }
}

function keeperOf(
  gateway: Gateway,
  replies: StoredReplies,
  call: GenerationCall,
  seal: Seal,
  state: DialectState,
  { previousId }: StateRequest,
): ReplyKeeper {
  const { accountId, keyId } = call.caller;
  const input = state.inputItems(call.body);
  return {
    endOf: state.replyEnd,
    async keep({ id, reply, itemIds }) {
      const saved = replies.save({
        accountId,
        keyId,
        seal,
        turn: { id, input, reply },
        ...(previousId === undefined ? {} : { previousId }),
        itemIds,
      }).then(() => true, () => false);
      return await within(gateway, saved);
    },
  };
}

async function within(
  { timers }: Gateway,
  saved: Promise<boolean>,
): Promise<boolean> {
  let timer: TimerId | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = timers.set(() => resolve(false), KEEP_MS);
  });
  try {
    return await Promise.race([saved, late]);
  } finally {
    if (timer !== undefined) timers.clear(timer);
  }
}
