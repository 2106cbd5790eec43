/**
 * A reconciliation in its JSON form.
 */
import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { Tokens } from "../accounts/charges/money.ts";
import { type Causes, differenceOf, PICO_PER_MICRO } from "./causes.ts";
import type { Finding } from "./match_calls.ts";
import {
  type ReconciledGroup,
  type Reconciliation,
  sumOfCauses,
} from "./reconcile.ts";
import { COUNTS, countsJson } from "../accounts/charges/counts_json.ts";

const day = z.iso.date("expected a day such as 2026-12-31");

const QUERY = {
  vendor: z.string().max(64).optional().describe(
    "compares all models of this vendor, so that one without a line is found; absent: those that the file names",
  ),
  from: day.optional().describe("first day, in UTC; absent: that of the file"),
  to: day.optional().describe("last day, in UTC; absent: that of the file"),
};

/** What to compare, beside the file. */
export const reconcileQuery: z.ZodObject<typeof QUERY, z.core.$strict> = z
  .strictObject(QUERY);

const CAUSES = z.object({
  ours_estimated: z.int().describe(
    "tokens that differ, as far as calls whose charge is an estimate explain it",
  ),
  theirs_missing: z.int().describe(
    "in the books, not in the file; never positive",
  ),
  ours_missing: z.int().describe(
    "in the file, not in the books; never negative",
  ),
  doubled: z.int().describe("lines that the file has more than once"),
  billed_otherwise: z.int().describe(
    "the same tokens, billed for another cache life, tier, speed or region, or with other searches",
  ),
  price_changed: z.int().describe("the same tokens at another price"),
  unexplained: z.int().describe(
    "the amounts differ, and the file has no tokens",
  ),
  rounding: z.int().describe(
    "at most a micro-dollar a call, and half a unit of the last decimal a line",
  ),
}).describe("parts of the difference, in micro-dollars; they add up to it");

const SUMS = {
  ours_micro_usd: z.int(),
  theirs_micro_usd: z.int().nullable().describe(
    "null: the file has no amounts; its tokens are compared at the books' prices",
  ),
  difference_micro_usd: z.int().describe("theirs minus ours"),
  causes: CAUSES,
};

/** JSON form of a reconciliation. */
export const reconciliationReply: z.ZodType = z.object({
  object: z.literal("reconciliation"),
  from: z.string(),
  to: z.string().describe("last day, included"),
  columns: z.record(z.string(), z.string()).describe(
    "columns of the file that were read, by what they hold",
  ),
  lines: z.int(),
  lines_outside: z.int().describe("lines of other days"),
  agreeing: z.int().describe(
    "days and models without a difference beyond rounding",
  ),
  totals: z.object(SUMS),
  data: z.array(z.object({
    day: z.string(),
    models: z.array(z.string()).describe("none: the gateway has no such model"),
    name: z.string(),
    ours: z.object({
      calls: z.int(),
      estimated_calls: z.int(),
      tokens: COUNTS,
      micro_usd: z.int(),
    }),
    theirs: z.object({
      lines: z.int(),
      tokens: COUNTS.nullable(),
      micro_usd: z.int().nullable(),
    }),
    difference_micro_usd: z.int(),
    causes: CAUSES,
  })).describe("days and models that differ"),
  findings: z.array(z.object({
    day: z.string(),
    name: z.string(),
    cause: z.string(),
    line: z.int().nullable().describe("number of the line in the file"),
    request_id: z.string().nullable().describe("the call in the ledger"),
    tokens: COUNTS.nullable(),
    otherwise: z.array(z.string()).describe(
      "in what the file bills otherwise: speed: standard, fast in the file",
    ),
    micro_usd: z.int().describe("what it adds to the difference"),
  })).describe("lines and calls behind the differences"),
  findings_left_off: z.int(),
  figures_from: z.string().nullable().describe(
    "the books have sums from this day on only; null: of all days",
  ),
});

/** Whole micro-dollars, half of one away from zero. */
export function microOf(picoUsd: bigint): number {
  const half = PICO_PER_MICRO / 2n;
  return Number((picoUsd + (picoUsd < 0n ? -half : half)) / PICO_PER_MICRO);
}

function causesJson(causes: Causes): JsonObject {
  const named = {
    ours_estimated: microOf(causes.oursEstimated),
    theirs_missing: microOf(causes.theirsMissing),
    ours_missing: microOf(causes.oursMissing),
    doubled: microOf(causes.doubled),
    billed_otherwise: microOf(causes.billedOtherwise),
    price_changed: microOf(causes.priceChanged),
    unexplained: microOf(causes.unexplained),
  };
  const sum = Object.values(named).reduce((a, b) => a + b, 0);
  return { ...named, rounding: microOf(differenceOf(causes)) - sum };
}

function tokensJson(tokens: Tokens | undefined): JsonObject | null {
  return tokens === undefined ? null : countsJson(tokens);
}

const CAUSE_NAMES: Readonly<Record<keyof Causes, string>> = {
  oursEstimated: "ours_estimated",
  theirsMissing: "theirs_missing",
  oursMissing: "ours_missing",
  doubled: "doubled",
  billedOtherwise: "billed_otherwise",
  priceChanged: "price_changed",
  unexplained: "unexplained",
  rounding: "rounding",
};

function groupJson(group: ReconciledGroup): JsonObject {
  const { day, models, name, ours, theirs, causes } = group;
  return {
    day,
    models,
    name,
    ours: {
      calls: ours.calls,
      estimated_calls: ours.estimatedCalls,
      tokens: tokensJson(ours.tokens),
      micro_usd: microOf(ours.picoUsd),
    },
    theirs: {
      lines: theirs.lines,
      tokens: tokensJson(theirs.tokens),
      micro_usd: theirs.amount === undefined
        ? null
        : microOf(theirs.amount.picoUsd),
    },
    difference_micro_usd: microOf(differenceOf(causes)),
    causes: causesJson(causes),
  };
}

function findingJson(
  finding: Finding & { readonly day: string; readonly name: string },
): JsonObject {
  return {
    day: finding.day,
    name: finding.name,
    cause: CAUSE_NAMES[finding.cause],
    line: finding.line ?? null,
    request_id: finding.requestId ?? null,
    tokens: tokensJson(finding.tokens),
    otherwise: finding.otherwise ?? [],
    micro_usd: microOf(finding.picoUsd),
  };
}

/** The JSON form; days and models that agree are only counted. */
export function reconciliationJson(result: Reconciliation): JsonObject {
  const { groups } = result;
  const differing = groups.filter(({ differs }) => differs);
  const causes = sumOfCauses(groups);
  const ours = groups.reduce((sum, one) => sum + one.ours.picoUsd, 0n);
  const amounts = groups.flatMap(({ theirs: { amount } }) => amount ?? []);
  return {
    object: "reconciliation",
    from: result.fromDay,
    to: result.toDay,
    columns: result.columns,
    lines: result.lines,
    lines_outside: result.linesOutside,
    agreeing: groups.length - differing.length,
    totals: {
      ours_micro_usd: microOf(ours),
      theirs_micro_usd: amounts.length === 0
        ? null
        : microOf(amounts.reduce((sum, one) => sum + one.picoUsd, 0n)),
      difference_micro_usd: microOf(differenceOf(causes)),
      causes: causesJson(causes),
    },
    data: differing.map(groupJson),
    findings: result.findings.map(findingJson),
    findings_left_off: result.findingsLeftOff,
    figures_from: result.figuresFromDay ?? null,
  };
}
