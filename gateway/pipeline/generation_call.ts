/**
 * A generation call as the routes pass it to the pipeline.
 *
 * @module
 */
import type { Dialect } from "../../translate/dialect.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { TopLevel } from "../../translate/bytes/json_splice.ts";
import type { Caller } from "../accounts/accounts.ts";
import type { CallFacts } from "../observability/call_facts.ts";
import type { ConcurrencySlot } from "./concurrency.ts";

/** A generation call as the route passes it to the pipeline. */
export interface GenerationCall {
  /** Format of the request and of the reply. */
  readonly dialect: Dialect;
  /** Pays for the call; its plan decides which models are accessible. */
  readonly caller: Caller;
  /** Unique id of the call in headers, log and ledger. */
  readonly requestId: string;
  /** The body after decompression; forwarded to an upstream of the same dialect. */
  readonly bytes: Uint8Array;
  /** The parsed body, not validated yet. */
  readonly body: JsonObject;
  /** Positions of the top-level fields in the bytes. */
  readonly top: TopLevel;
  /** As sent; `x-gateway-strict`, version and beta headers are read from them. */
  readonly headers: Headers;
  /** Aborted when the client disconnects before the reply begins. */
  readonly signal: AbortSignal;
  /** Unix time in milliseconds; basis of the logged duration and of the reply's `created`. */
  readonly arrivedMs: number;
  /** The request's path, for the log. A generation route has no path parameters. */
  readonly path: string;
  /** Completed by the pipeline, for the record of the call. */
  readonly facts: CallFacts;
  /** The call's concurrency slot; released at the settlement. */
  readonly slot: ConcurrencySlot;
}
