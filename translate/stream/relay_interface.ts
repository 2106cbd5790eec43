/**
 * The interface of a relay: the way of one stream from an upstream to a client.
 */
import type { ApiError } from "../model/error.ts";
import type { ReplyProgress } from "../model/reply_progress.ts";

/** Converts one stream. */
export interface Relay {
  /** The bytes to send to the client for a chunk of the upstream's body; possibly empty. */
  push(chunk: Uint8Array): Uint8Array;
  /**
   * The bytes to send when the upstream's body has ended: the end of the answer, or an error where
   * it was cut off.
   */
  end(): Uint8Array;
  /**
   * The bytes to send when the gateway itself aborts the stream. Empty where the answer has already
   * ended.
   */
  fail(error: ApiError): Uint8Array;
  /**
   * Whether an error cannot be written into the reply, so that the response is broken off after a
   * failure; absent: it can.
   */
  readonly breaksOff?: true;
  /** The bytes of a ping. */
  ping(): Uint8Array;
  /** True once everything has been sent: later bytes of the upstream are ignored. */
  done(): boolean;
  /** The progress so far; final once the stream has ended. */
  progress(): ReplyProgress;
}
