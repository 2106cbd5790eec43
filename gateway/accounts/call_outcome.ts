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
  /** Characters generated and relayed: the basis of the estimate if usage was not reported. */
  readonly generatedChars: number;
  /**
   * `caller_left`: the client disconnected before the end. `failed`: at the upstream or in
   * the gateway. `refused`: before anything was sent to an upstream.
   */
  readonly ended: "complete" | "caller_left" | "failed" | "refused";
}
