/**
 * What a dialect must implement so that a gateway can store its replies and later requests can
 * refer to them. Storing belongs to the gateway; everything here is pure.
 */
import type { Steps } from "../steps.ts";
import type { ApiError } from "./error.ts";
import type { JsonObject } from "../bytes/json.ts";

/** An item of an earlier reply that a request refers to by its id. */
export interface ItemReference {
  /** Path of the reference in the client's request. */
  readonly path: string;
  /** Id of the item. */
  readonly id: string;
}

/** What a request asks of stored replies. */
export interface StateRequest {
  /** Whether the client lets its reply be stored. */
  readonly store: boolean;
  /** Id of the reply that the request continues; absent where it continues none. */
  readonly previousId?: string;
  /** The references in the input, in order. */
  readonly references: readonly ItemReference[];
}

/** A stored reply with the input that was new in its request. */
export interface StoredTurn {
  readonly id: string;
  /** The new input items as the client sent them; references are not replaced. */
  readonly input: readonly unknown[];
  /** The reply's JSON text, as the client received it. */
  readonly reply: string;
}

/** The end of a reply inside the bytes for a client. */
export interface ReplyEnd {
  readonly id: string;
  /** The reply's JSON text. */
  readonly reply: string;
  /** Ids of the reply's output items, each once. */
  readonly itemIds: readonly string[];
  /** The bytes for the client where the reply could not be stored: they state that. */
  unstored(): Uint8Array;
}

/** The reply as later requests report it. */
export interface StoredState {
  /** Whether the reply will be stored. */
  readonly store: boolean;
  /** Id of the reply that it continues. */
  readonly previousId?: string;
}

/** Errors of requests that refer to stored replies. */
export interface StateErrors {
  /** A reply of the continued conversation is not stored. */
  notContinued(): ApiError;
  /** An item is not stored. */
  noItem(reference: ItemReference): ApiError;
  /** The request refers to too much. */
  tooLong(asked: StateRequest, maxBytes: number): ApiError;
  /** An error of the resolved request in the client's terms, without the `earlier` items. */
  own(error: ApiError, earlier: number): ApiError;
}

/** Stored replies in the words of a dialect. */
export interface DialectState {
  /**
   * What a request asks of stored replies. Malformed fields are left to the decoder.
   *
   * @throws {ApiError} `invalid_request` naming a field that needs more than stored replies
   */
  asked(body: JsonObject): StateRequest;
  /** The items of a request's input. */
  inputItems(body: JsonObject): readonly unknown[];
  /** All references in the inputs of stored turns. */
  references(turns: readonly StoredTurn[]): readonly ItemReference[];
  /** The items of a conversation: for each turn its input, references replaced, and its output. */
  history(
    turns: readonly StoredTurn[],
    items: ReadonlyMap<string, JsonObject>,
  ): readonly unknown[];
  /** The top-level fields of a request that change where its input is resolved. */
  resolved(
    body: JsonObject,
    history: readonly unknown[],
    items: ReadonlyMap<string, JsonObject>,
  ): JsonObject;
  /** The output items of a reply's JSON text that have one of these ids, by id. */
  outputItems(
    reply: string,
    ids: ReadonlySet<string>,
  ): readonly (readonly [string, JsonObject])[];
  /**
   * The input items of the last of these turns, each with an id: everything that the model
   * received, in order.
   */
  listedItems(
    turns: readonly StoredTurn[],
    items: ReadonlyMap<string, JsonObject>,
  ): readonly JsonObject[];
  /**
   * The end of a whole reply that may be stored, in steps; undefined where the reply is not
   * complete enough to be continued.
   */
  wholeEnd(bytes: Uint8Array): Steps<ReplyEnd | undefined>;
  /**
   * The same of a stream.
   *
   * @param bytes the last frames for the client
   */
  streamEnd(bytes: Uint8Array): ReplyEnd | undefined;
  readonly errors: StateErrors;
}
