/**
 * The times of one attempt at an upstream, for the log and the record of the call.
 */
import type { ApiError } from "../../translate/model/error.ts";
import type { Candidate } from "./catalogue/model_registry.ts";

/** When an attempt began, was answered and ended, in Unix milliseconds. */
export interface CallTimes {
  readonly candidate: Candidate;
  readonly startedMs: number;
  /** When the request went out, last; undefined before, and where it was refused. */
  sentMs: number | undefined;
  /** Undefined where no reply began. */
  firstByteMs: number | undefined;
  /** Undefined while it goes on, and where it lasted until the end of the call. */
  endedMs: number | undefined;
  /** Undefined where the attempt did not fail. */
  error: ApiError | undefined;
  /** Whether the upstream's own key was removed from its reply. */
  hadKey: () => boolean;
}
