/**
 * What a page of usage shows: the groups, the days and the filters that its address names.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import { rangeMs } from "../../../gateway/accounts/reports/days.ts";
import type { UsageQuery } from "../../../gateway/accounts/reports/usage_query.ts";
import type { AccountScope } from "../../../gateway/admin/account_scope.ts";
import { invalidField } from "../../../translate/model/error.ts";
import type { RouteContext } from "../../route.ts";
import type { FigureFilters } from "./figure_links.ts";
import type { UsageBy } from "./usage_table.tsx";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Groups of one report, the most that there can be: each report walks over all rows. */
export const MAX_GROUPS = 1000;

interface Chosen {
  readonly by: UsageBy;
  /** Days, and what the figures add up. */
  readonly filters: FigureFilters;
}

/** The day (UTC) of a time, as in `2026-11-21`. */
function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The last thirty days. */
export function daysOf(
  nowMs: number,
): { readonly from: string; readonly to: string } {
  return { from: day(nowMs - 29 * DAY_MS), to: day(nowMs) };
}

export function choicesOf(
  { accountId, keyId }: Partial<AccountScope>,
): readonly UsageBy[] {
  return accountId === undefined
    ? ["day", "account", "model", "key", "user"]
    : keyId === undefined
    ? ["day", "model", "key", "user"]
    : ["day", "model", "user"];
}

export function chosenOf(
  { query, gateway }: RouteContext,
  scope: Partial<AccountScope>,
): Chosen {
  const choices = choicesOf(scope);
  const by = choices.find((one) => one === (query.get("by") || "day"));
  if (by === undefined) {
    throw invalidField("by", `must be one of ${choices.join(", ")}`);
  }
  const text = (name: string): Readonly<Record<string, string>> => {
    const value = query.get(name)?.trim() ?? "";
    return value === "" ? {} : { [name]: value };
  };
  const last = daysOf(gateway.now());
  const from = query.get("from") || last.from;
  const to = query.get("to") || last.to;
  const { fromMs, untilMs } = rangeMs(from, to);
  if (fromMs >= untilMs) {
    throw invalidField("to", "must not be before from");
  }
  return {
    by,
    filters: {
      from,
      to,
      ...text("account"),
      ...text("key"),
      ...text("model"),
      ...text("user"),
    },
  };
}

export function usageQueryOf(
  { from, to, account, key, model, user }: FigureFilters,
  scope: Partial<AccountScope>,
): UsageQuery & { readonly fromDay: string; readonly toDay: string } {
  return {
    fromDay: from,
    toDay: to,
    ...compact({ accountId: account, keyId: key, model, user }),
    // A key sees its own usage, whatever the address asks for.
    ...scope,
  };
}

/** The days of a range of hours: usage of end users is kept by day. */
export function inDays(filters: FigureFilters): FigureFilters {
  const { fromMs, untilMs } = rangeMs(filters.from, filters.to);
  return { ...filters, from: day(fromMs), to: day(untilMs - 1) };
}

/** The ranges that one press chooses: name, first day or hour, and the last day or the end. */
export function rangesOf(
  nowMs: number,
  hasHours: boolean,
): readonly (readonly [name: string, from: string, to: string])[] {
  const hour = (ms: number): string =>
    `${new Date(ms).toISOString().slice(0, "2026-11-21T13".length)}:00`;
  const now = new Date(nowMs);
  const month = (months: number, date: number): string =>
    day(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, date));
  return [
    ...(hasHours
      ? [
        ["24 h", hour(nowMs - 23 * HOUR_MS), hour(nowMs + HOUR_MS)] as const,
      ]
      : []),
    ["Today", day(nowMs), day(nowMs)],
    ["3 d", day(nowMs - 2 * DAY_MS), day(nowMs)],
    ["7 d", day(nowMs - 6 * DAY_MS), day(nowMs)],
    ["30 d", day(nowMs - 29 * DAY_MS), day(nowMs)],
    ["This month", month(0, 1), day(nowMs)],
    ["Last month", month(-1, 1), month(0, 0)],
  ];
}

/** The end users of all accounts may be as many as the calls. */
export function requireOneAccount(by: UsageBy, query: UsageQuery): void {
  if (by !== "user" || query.accountId !== undefined) return;
  throw invalidField("account", "choose one: end users belong to an account");
}
