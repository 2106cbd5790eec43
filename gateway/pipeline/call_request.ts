/**
 * A call as the routes pass it to the pipeline.
 */
import type { Dialect } from "../../translate/dialect.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { TopLevel } from "../../translate/bytes/json_splice.ts";
import type { RequestTarget } from "../../translate/model/request.ts";
import type { Caller } from "../accounts/accounts.ts";
import type { CallFacts } from "../observability/call_facts.ts";
import type { LaneMemory } from "../responses/recent_replies.ts";
import type { ConcurrencySlot } from "./concurrency.ts";

/** A call of any kind that is paid for. */
export interface CallRequest {
  /** Format of errors and of the rate limit headers. */
  readonly dialect: Pick<Dialect, "name" | "streamForm" | "encodeError">;
  /** Pays for the call; its plan decides which models are accessible. */
  readonly caller: Caller;
  /** Unique id of the call in headers, log and ledger. */
  readonly requestId: string;
  /** As sent; `x-gateway-strict`, version and beta headers are read from them. */
  readonly headers: Headers;
  /** Aborted when the client disconnects before the reply begins. */
  readonly signal: AbortSignal;
  /** Unix time in milliseconds; basis of the logged duration and of the reply's `created`. */
  readonly arrivedMs: number;
  /** The request's path, for the log. */
  readonly path: string;
  /** The route's path, with variable parts as `:name`. */
  readonly endpoint: string;
  /** Completed by the pipeline, for the record of the call. */
  readonly facts: CallFacts;
  /** The call's concurrency slot; released at the settlement. */
  readonly slot: ConcurrencySlot;
}

export interface JsonCall extends CallRequest {
  /** The body after decompression; forwarded to an upstream of the same dialect. */
  readonly bytes: Uint8Array;
  /** The parsed body, not validated yet. */
  readonly body: JsonObject;
  /** Positions of the top-level fields in the bytes. */
  readonly top: TopLevel;
}

/** A call that asks a model for a reply. */
export interface GenerationCall extends JsonCall {
  /** Format of the request and of the reply. */
  readonly dialect: Dialect;
  /** Model and stream, for a dialect that states them in the path. */
  readonly target?: RequestTarget;
  /** Absent: the call came by itself, not through a connection that carries several. */
  readonly connection?: ConnectionCall;
}

/** The state of a connection that carries several calls, for one of them. */
export interface ConnectionCall {
  /** The replies that the connection remembers. */
  readonly memory: LaneMemory;
  /** False: the call only prepares a later one, which continues it. No upstream is called. */
  readonly generates: boolean;
}
