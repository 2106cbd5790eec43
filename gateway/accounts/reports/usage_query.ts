/**
 * What a usage report is asked for.
 */
import type { USAGE_SUMS } from "../records.ts";
import type { PageRequest } from "../repositories/list_page.ts";

export type UsageGroup = "day" | "hour" | "account" | "key" | "model" | "user";

/** A filter on usage, and its grouping; absent filters match everything. */
export interface UsageQuery extends PageRequest {
  readonly accountId?: string;
  /** Usage of this key. */
  readonly keyId?: string;
  readonly model?: string;
  /** Usage of this end user, by the client's own id. */
  readonly user?: string;
  /** First day in UTC, such as `2026-11-21`; or first hour, such as `2026-11-21T13:00`. */
  readonly fromDay?: string;
  /** Last day in UTC; or the hour at which it ends. */
  readonly toDay?: string;
  /** Fields to group by; absent: by day. */
  readonly by?: readonly UsageGroup[];
  /** Order of the groups; absent: by their names. A report in another order has one page. */
  readonly order?: UsageOrder;
}

/** An order of groups; equal ones are ordered by name. */
export interface UsageOrder {
  /** A sum; absent: the names. */
  readonly by?: keyof typeof USAGE_SUMS;
  readonly isDescending: boolean;
}
