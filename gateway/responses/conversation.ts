/**
 * The stored part of a request's conversation: puts it into the request before that is decoded,
 * and stores the reply once it has ended. Only some dialects have it.
 *
 * @module
 */
import { spliceFields, topLevelOf } from "../../translate/bytes/json_splice.ts";
import { ApiError } from "../../translate/model/error.ts";
import type {
  DialectState,
  ReplyEnd,
  StateRequest,
  StoredState,
} from "../../translate/model/stored_state.ts";
import type { Gateway } from "../gateway.ts";
import type { GenerationCall, JsonCall } from "../pipeline/call_request.ts";
import { assertActive } from "../pipeline/model_access.ts";
import type { TimerId, Timers } from "../timers.ts";
import {
  type Chain,
  sealedBytes,
  type StoredReplies,
} from "./stored_replies.ts";

/** The body of a request, parsed and as bytes. */
type Body = Pick<JsonCall, "body" | "bytes" | "top">;

/** What of a call its conversation depends on. */
export type ConversationCall =
  & Pick<GenerationCall, "dialect" | "caller">
  & Body;

/** A request with the stored part of its conversation. */
export interface Conversation {
  /** The request with every reference replaced. */
  readonly request: Body;
  /** Rewrites paths in an error from those of `request` to those of the client's request. */
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
 * Longest wait for the store before a reply's last bytes go out. If the store answers later, the
 * reply is kept although its bytes state that it is not.
 */
const KEEP_MS = 2_000;

/** What the steps of one request share. */
interface Opening {
  readonly call: ConversationCall;
  readonly state: DialectState;
  readonly replies: StoredReplies;
  /** What the request asks of stored replies. */
  readonly request: StateRequest;
  /** The largest body of a request. */
  readonly maxBytes: number;
  readonly timers: Timers;
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
  { replies, config, timers }: Pick<Gateway, "replies" | "config" | "timers">,
  call: ConversationCall,
): Promise<Conversation | undefined> {
  const { state } = call.dialect;
  if (state === undefined || replies === undefined) return undefined;
  const request = state.asked(call.body);
  const { previousId, references } = request;
  const store = request.store &&
    sealedBytes(call.bytes.length) < config.responsesBytes;
  const refers = previousId !== undefined || references.length > 0;
  if (!store && !refers) return undefined;
  assertActive(call.caller);
  const opening = {
    call,
    state,
    replies,
    request,
    maxBytes: config.maxBodyBytes,
    timers,
  };
  return {
    ...(refers ? await resolve(opening) : asSent(call)),
    stored: { store, ...(previousId === undefined ? {} : { previousId }) },
    ...(store ? { keeper: keeperOf(opening) } : {}),
  };
}

type Resolved = Pick<Conversation, "request" | "ownError">;

function asSent({ body, bytes, top }: Body): Resolved {
  return { request: { body, bytes, top }, ownError: (error) => error };
}

async function resolve(
  { call, state, replies, request, maxBytes }: Opening,
): Promise<Resolved> {
  const { previousId, references } = request;
  const { errors } = state;
  const { seal } = call.caller;
  const { turns, missing }: Chain = previousId === undefined
    ? { turns: [], missing: "nothing" }
    : await orUnavailable(replies.chain(seal, previousId, maxBytes));
  if (missing === "too much") throw errors.tooLong(request, maxBytes);
  if (missing === "a reply" || (previousId && turns.length === 0)) {
    throw errors.notContinued();
  }
  const inherited = state.references(turns);
  const ids = [...inherited, ...references].map(({ id }) => id);
  const items = await orUnavailable(
    replies.items(seal, ids, maxBytes, state),
  );
  if (items === undefined) throw errors.tooLong(request, maxBytes);
  const lost = references.find(({ id }) => !items.has(id));
  if (lost !== undefined) throw errors.noItem(lost);
  if (inherited.some(({ id }) => !items.has(id))) throw errors.notContinued();
  const history = state.history(turns, items);
  const fields = state.resolved(call.body, history, items);
  const bytes = spliceFields(call.bytes, fields, call.top);
  if (bytes.length > maxBytes) throw errors.tooLong(request, maxBytes);
  return {
    request: {
      body: { ...call.body, ...fields },
      bytes,
      top: topLevelOf(bytes),
    },
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
  { call, state, replies, request, timers }: Opening,
): ReplyKeeper {
  const { accountId, keyId, seal } = call.caller;
  const { previousId } = request;
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
      return await within(timers, saved);
    },
  };
}

async function within(
  timers: Timers,
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
