/**
 * How the calls behind a usage report went: all of them, and those of each line.
 */
import { ROLL_UP_SUMS } from "../../../gateway/accounts/records.ts";
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import {
  type CallHealth,
  type CallHealthQuery,
  NO_CALLS,
} from "../../../gateway/accounts/reports/call_health.ts";
import {
  isRangeHour,
  rangeMs,
} from "../../../gateway/accounts/reports/days.ts";
import type {
  UsageGroup,
  UsageQuery,
} from "../../../gateway/accounts/reports/usage_query.ts";
import type {
  UsageLine,
  UsageTotals,
} from "../../../gateway/accounts/reports/usage_report.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Counts of calls beside the lines of a usage report. */
export interface UsageHealth {
  readonly all: CallHealth;
  /** The counts of a line; absent for the keys of all accounts, which would be too many. */
  readonly of?: (line: UsageLine) => CallHealth;
  /** The days and models that have calls but no charges. */
  readonly others: readonly UsageLine[];
  /** Calls before this moment are not counted, although they were charged; absent: all are. */
  readonly lacksBeforeMs?: number;
}

/** The part of a usage query that counts of calls know. They know no end users. */
export function healthQuery(
  { accountId, keyId, model, fromDay, toDay }: RangeQuery,
  step: CallHealthQuery["step"],
): CallHealthQuery {
  const { fromMs, untilMs } = rangeMs(fromDay, toDay);
  return {
    step,
    fromMs,
    toMs: untilMs,
    ...(accountId === undefined ? {} : { accountId }),
    ...(keyId === undefined ? {} : { keyId }),
    ...(model === undefined ? {} : { model }),
  };
}

/**
 * Whether calls are counted for each line. Those of all keys of all accounts would be too many to
 * read.
 */
export function countsGroups(
  by: UsageGroup,
  { accountId, keyId, user }: UsageQuery,
): by is HealthGroup {
  return by !== "user" && user === undefined &&
    (by !== "key" || accountId !== undefined || keyId !== undefined);
}

/** Reads the counts of a query that has no end user. */
export async function usageHealth(
  admin: Pick<Admin, "callHealths" | "callsCountedFrom" | "hasUsage">,
  query: RangeQuery,
  { by, lines, shown, models, nowMs }: {
    readonly by: HealthGroup;
    readonly models: Models;
    /** All lines of the report, and those that are shown. */
    readonly lines: readonly UsageLine[];
    readonly shown: readonly UsageLine[];
    readonly nowMs: number;
  },
): Promise<UsageHealth> {
  const of = healthQuery(query, stepFor(query));
  const all = (await admin.callHealths(of)).get("") ?? NO_CALLS;
  const hasGroups = countsGroups(by, query);
  const groups = hasGroups
    ? await groupsOf(admin, query, by, shown)
    : new Map<string, CallHealth>();
  const sinceMs = await admin.callsCountedFrom(of.step) ?? nowMs;
  const dayBefore = new Date(sinceMs - DAY_MS).toISOString().slice(0, 10);
  const isLacking = of.fromMs < sinceMs && query.fromDay <= dayBefore &&
    await admin.hasUsage({ ...query, toDay: dayBefore });
  const named = new Set(lines.map((line) => nameOf(by, line)));
  return {
    all,
    ...(hasGroups
      ? { of: (line) => groups.get(nameOf(by, line)) ?? NO_CALLS }
      : {}),
    others: withoutCharges(by, groups, named, models),
    ...(isLacking ? { lacksBeforeMs: sinceMs } : {}),
  };
}

/**
 * Adds the counts of calls to each line of a report, and at the end the lines that have calls but
 * no charges.
 */
export async function* withHealth(
  admin: Pick<Admin, "callHealths">,
  query: RangeQuery,
  by: HealthGroup,
  slices: AsyncIterable<readonly UsageLine[]>,
  models: Models,
): AsyncGenerator<
  readonly { readonly line: UsageLine; readonly health: CallHealth }[],
  void,
  void
> {
  const named = new Set<string>();
  let groups = await groupsOf(admin, query, by, []);
  for await (const lines of slices) {
    if (by === "key" || by === "account") {
      groups = await groupsOf(admin, query, by, lines);
    }
    for (const line of lines) named.add(nameOf(by, line));
    yield lines.map((line) => ({
      line,
      health: groups.get(nameOf(by, line)) ?? NO_CALLS,
    }));
  }
  yield withoutCharges(by, groups, named, models).map((line) => ({
    line,
    health: groups.get(nameOf(by, line)) ?? NO_CALLS,
  }));
}

/** A usage query of a range. */
type RangeQuery = UsageQuery & {
  readonly fromDay: string;
  readonly toDay: string;
};

const FIELDS = {
  day: "day",
  model: "model",
  key: "keyId",
  account: "accountId",
} as const;

/** The models of the gateway: a name that only refused calls have may be invented. */
type Models = readonly { readonly id: string }[];

/** What calls are counted by. */
type HealthGroup = keyof typeof FIELDS;

function nameOf(by: HealthGroup, line: UsageLine): string {
  return line[FIELDS[by]] ?? "";
}

/** The steps that a range is a whole number of. */
export function stepFor(
  { fromDay, toDay }: RangeQuery,
): CallHealthQuery["step"] {
  return isRangeHour(fromDay) || isRangeHour(toDay) ? "hour" : "day";
}

/** The counts of each day or model, or of the keys or accounts of the lines. */
async function groupsOf(
  admin: Pick<Admin, "callHealths">,
  query: RangeQuery,
  by: HealthGroup,
  lines: readonly UsageLine[],
): Promise<ReadonlyMap<string, CallHealth>> {
  const groups = await admin.callHealths({
    ...healthQuery(query, stepFor(query)),
    by,
    ids: lines.map((line) => nameOf(by, line)),
  });
  return by !== "day" ? groups : new Map(
    [...groups].map(([day, health]) => [
      new Date(Number(day) * DAY_MS).toISOString().slice(0, 10),
      health,
    ]),
  );
}

// The object has a number for each sum.
const NO_USAGE = Object.fromEntries(
  Object.keys(ROLL_UP_SUMS).map((name) => [name, 0]),
) as unknown as UsageTotals;

function withoutCharges(
  by: HealthGroup,
  groups: ReadonlyMap<string, CallHealth>,
  named: ReadonlySet<string>,
  models: Models,
): readonly UsageLine[] {
  return by === "key" || by === "account" ? [] : [...groups.keys()]
    .filter((name) => name !== "" && !named.has(name))
    .filter((name) => by === "day" || models.some(({ id }) => id === name))
    .map((name) => ({ ...NO_USAGE, [FIELDS[by]]: name }));
}
