/**
 * How a generation call ended, for its charge.
 */
import type { Usage } from "../../translate/model/reply.ts";
import type { UsageBound } from "./charges/usage_bound.ts";

export interface CallOutcome {
  /** Token counts reported by the upstream; an absent count was not reported. */
  readonly usage: Usage;
  /** The most that the call can have used; absent: not known, and any count is charged. */
  readonly most?: UsageBound;
  /**
   * Characters generated until the client left, or the call ended: the basis of the estimate if
   * usage was not reported.
   */
  readonly generatedChars: number;
  /** What a client that left did not see; absent: it did not leave. */
  readonly unseen?: UnseenReply;
  /**
   * `caller_left`: the client disconnected before the end. `failed`: at the upstream or in
   * the gateway. `refused`: before anything was sent to an upstream.
   */
  readonly ended: "complete" | "caller_left" | "failed" | "refused";
  /** The vendor of the last attempt; absent: none was made. */
  readonly vendor?: string;
}

/** The part of a reply that its client did not receive, because it left. */
export interface UnseenReply {
  /** Whether an upstream has received the request, and has not refused it: its prompt is charged. */
  readonly wasSent: boolean;
  /** Whether the reply ended, so that the reported output is that of the whole reply. */
  readonly isWhole: boolean;
  /** Characters that were generated after the client had left; they are not charged. */
  readonly laterChars: number;
  /**
   * Tokens that were generated out of sight, estimated by their time; charged where the upstream
   * did not report its output.
   */
  readonly hiddenTokens: number;
}
