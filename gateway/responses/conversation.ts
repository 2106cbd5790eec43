/**
 * The stored part of a request's conversation: puts it into the request before that is decoded,
 * and stores the reply once it has ended, or lets its connection remember it. Only some dialects
 * have it.
 */
import { spliceLong } from "../../translate/bytes/json_splice.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
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
import { topOf } from "../http/request_body.ts";
import { inTurns } from "../in_turns.ts";
import type { TimerId, Timers } from "../timers.ts";
import type { LaneMemory } from "./recent_replies.ts";
import {
  type Chain,
  sealedBytes,
  type StoredReplies,
} from "./stored_replies.ts";

/** The body of a request, parsed and as bytes. */
type Body = Pick<JsonCall, "body" | "bytes" | "top">;

/** The parts of a call that its conversation depends on. */
type ConversationCall =
  & Pick<GenerationCall, "dialect" | "caller" | "connection">
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

export interface ReplyKeeper
  extends Pick<DialectState, "wholeEnd" | "streamEnd"> {
  /** False: only the connection remembers it. */
  readonly stores: boolean;
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
  readonly replies: Pick<StoredReplies, "chain" | "items">;
  /** What the request asks of stored replies. */
  readonly request: StateRequest;
  /** The largest body of a request. */
  readonly maxBytes: number;
  readonly timers: Timers;
}

/** Where nothing is stored. */
const NO_REPLIES: Opening["replies"] = {
  chain: () => Promise.resolve({ turns: [], missing: "nothing" }),
  items: () => Promise.resolve(new Map()),
};

/**
 * Resolves what a request refers to. Undefined where it neither refers to earlier replies nor has
 * its reply kept.
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
  const memory = call.connection?.memory;
  if (state === undefined || (replies === undefined && memory === undefined)) {
    return undefined;
  }
  const request = state.asked(call.body);
  const { previousId, references } = request;
  const store = request.store && replies !== undefined &&
    sealedBytes(call.bytes.length) < config.responsesBytes;
  const refers = previousId !== undefined || references.length > 0;
  if (!store && !refers && memory === undefined) return undefined;
  assertActive(call.caller);
  const opening = {
    call,
    state,
    replies: replies ?? NO_REPLIES,
    request,
    maxBytes: config.maxBodyBytes,
    timers,
  };
  const resolved = refers ? await resolve(opening) : asSent(call);
  return {
    request: resolved.request,
    ownError: resolved.ownError,
    stored: { store, ...(previousId === undefined ? {} : { previousId }) },
    ...(store
      ? { keeper: storing(replies, opening, resolved) }
      : memory === undefined
      ? {}
      : { keeper: remembering(memory, opening, resolved) }),
  };
}

interface Resolved extends Pick<Conversation, "request" | "ownError"> {
  /** The items before the client's own. */
  readonly history: readonly unknown[];
  /** Whether only the connection remembers them. */
  readonly isRemembered: boolean;
  /** The items to which the client's own refer. */
  readonly found: ReadonlyMap<string, JsonObject>;
}

function asSent({ body, bytes, top }: Body): Resolved {
  return {
    request: { body, bytes, top },
    ownError: (error) => error,
    history: [],
    isRemembered: false,
    found: new Map(),
  };
}

async function resolve(opening: Opening): Promise<Resolved> {
  const { call, state, replies, request, maxBytes } = opening;
  const { previousId, references } = request;
  const { errors } = state;
  const remembered = previousId === undefined
    ? undefined
    : call.connection?.memory.find(previousId);
  const turns = previousId === undefined || remembered !== undefined
    ? []
    : await storedTurns(opening, previousId);
  const inherited = state.references(turns);
  const ids = [...inherited, ...references].map(({ id }) => id);
  const found = await orUnavailable(
    replies.items(call.caller.seal, ids, maxBytes, state),
  );
  if (found === undefined) throw errors.tooLong(request, maxBytes);
  const lost = references.find(({ id }) => !found.has(id));
  if (lost !== undefined) throw errors.noItem(lost);
  if (inherited.some(({ id }) => !found.has(id))) throw errors.notContinued();
  const history = remembered ?? state.history(turns, found);
  const fields = state.resolved(call.body, history, found);
  const bytes = await inTurns(spliceLong(call.bytes, fields, call.top));
  if (bytes.length > maxBytes) throw errors.tooLong(request, maxBytes);
  return {
    request: {
      body: { ...call.body, ...fields },
      bytes,
      top: await topOf(bytes),
    },
    ownError: (error) =>
      error instanceof ApiError ? errors.own(error, history.length) : error,
    history,
    isRemembered: remembered !== undefined,
    found,
  };
}

async function storedTurns(
  { call, state: { errors }, replies, request, maxBytes }: Opening,
  previousId: string,
): Promise<Chain["turns"]> {
  const { turns, missing } = await orUnavailable(
    replies.chain(call.caller.seal, previousId, maxBytes),
  );
  if (missing === "too much") throw errors.tooLong(request, maxBytes);
  if (missing === "a reply" || turns.length === 0) throw errors.notContinued();
  return turns;
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

/** The keeper of a reply that is stored. */
function storing(
  replies: StoredReplies,
  { call, state, request, timers }: Opening,
  { history, isRemembered, request: { bytes } }: Resolved,
): ReplyKeeper {
  const { accountId, keyId, seal } = call.caller;
  const { previousId } = request;
  const own = state.inputItems(call.body);
  const inputBytes = (isRemembered ? bytes : call.bytes).length;
  // A stored reply must be continuable without the connection's memory.
  const input = isRemembered ? [...history, ...own] : own;
  return {
    stores: true,
    wholeEnd: state.wholeEnd,
    streamEnd: state.streamEnd,
    async keep({ id, reply, itemIds }) {
      const saved = replies.save({
        accountId,
        keyId,
        seal,
        turn: { id, input, reply },
        inputBytes,
        ...(previousId === undefined || isRemembered ? {} : { previousId }),
        itemIds,
      }).then(() => true, () => false);
      return await within(timers, saved);
    },
  };
}

/** The keeper of a reply that only its connection remembers. */
function remembering(
  memory: LaneMemory,
  { call, state }: Opening,
  { history, found, request: { bytes } }: Resolved,
): ReplyKeeper {
  const input = state.inputItems(call.body);
  const requestBytes = bytes.length;
  return {
    stores: false,
    wholeEnd: state.wholeEnd,
    streamEnd: state.streamEnd,
    keep({ id, reply }) {
      const turn = { id, input, reply };
      memory.put({
        id,
        items: [...history, ...state.history([turn], found)],
        bytes: requestBytes + reply.length,
      });
      return Promise.resolve(true);
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
