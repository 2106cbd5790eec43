/**
 * A place between a reply and its client: reads along, changes bytes or holds them back. A call
 * without taps costs nothing for them.
 */
import type { LogEntry } from "../observability/log.ts";
import type { ReadReply, StreamedReply } from "../upstream/operation.ts";

/** Sees one call's reply before its client does. */
export interface Tap {
  /** The stream for the client. Its errors count as the upstream's, except a `GatewayFault`. */
  stream(reply: StreamedReply): StreamedReply;
  /**
   * The whole reply as it goes on to the client. What it throws is sent in its place; the reply is
   * charged all the same.
   *
   * @param isStream whether its body is event stream text
   */
  whole(reply: ReadReply, isStream: boolean): Promise<ReadReply>;
  /** Its part of the call's log entry, at the call's end. */
  logged(): Pick<LogEntry, "stored">;
}
