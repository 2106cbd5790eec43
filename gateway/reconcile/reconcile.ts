/**
 * Compares a vendor's export with the books, by day and model.
 */
import { compact } from "../../translate/bytes/compact.ts";
import { invalidField } from "../../translate/model/error.ts";
import { chargeLines, picoUsdOf } from "../accounts/charges/charge_lines.ts";
import type { ModelPrice, Tokens } from "../accounts/charges/money.ts";
import { parsePrice } from "../accounts/charges/money.ts";
import type { RateCard } from "../accounts/charges/rate_card.ts";
import { withCorrections } from "../accounts/ledger/correction.ts";
import { nextTurn } from "../accounts/next_turn.ts";
import type { LedgerEntry } from "../accounts/records.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import { dayNumber } from "../accounts/reports/days.ts";
import type {
  UsageLine,
  UsageReport,
} from "../accounts/reports/usage_report.ts";
import type { BilledAs } from "./billed_as.ts";
import {
  type Causes,
  differenceOf,
  NO_CAUSES,
  type OwnSums,
  PICO_PER_MICRO,
  plusCauses,
  splitDifference,
  tolerance,
} from "./causes.ts";
import {
  type Invoice,
  type InvoiceLine,
  readInvoice,
  sumsOf,
} from "./invoice.ts";
import {
  type BilledAmount,
  NO_TOKENS,
  plus,
  tokensText,
  worths,
} from "./invoice_values.ts";
import {
  allowedOf,
  type Finding,
  matchCalls,
  type WorthOf,
} from "./match_calls.ts";
import { otherwiseOf, type SumsOtherwise } from "./sums_otherwise.ts";
import {
  type PricedModel,
  type VendorModels,
  vendorModels,
} from "./vendor_models.ts";

export interface ReconcileQuery {
  /** First day, in UTC; absent: that of the file. */
  readonly fromDay?: string;
  /** Last day, in UTC; absent: that of the file. */
  readonly toDay?: string;
  /**
   * All models of this vendor are compared, so that one without a line is found; absent: those that
   * the file names.
   */
  readonly vendor?: string;
}

/** A day and a model. */
export interface ReconciledGroup {
  readonly day: string;
  /** Ids of the gateway's models; none: the gateway has no such model. */
  readonly models: readonly string[];
  /** As shown: the ids, or the vendor's name. */
  readonly name: string;
  readonly ours: OwnSums & { readonly estimatedCalls: number };
  readonly theirs: {
    readonly lines: number;
    readonly tokens?: Tokens;
    readonly amount?: BilledAmount;
  };
  readonly causes: Causes;
  /** Whether there is a difference beyond rounding. */
  readonly differs: boolean;
}

export interface Reconciliation {
  readonly fromDay: string;
  readonly toDay: string;
  readonly columns: Readonly<Record<string, string>>;
  /** Lines of the file that were compared. */
  readonly lines: number;
  /** Lines of other days. */
  readonly linesOutside: number;
  /** By day and model. */
  readonly groups: readonly ReconciledGroup[];
  /**
   * Calls and lines behind the differences, the largest first; at most {@linkcode MAX_FINDINGS}.
   */
  readonly findings: readonly (Finding & {
    readonly day: string;
    readonly name: string;
  })[];
  readonly findingsLeftOff: number;
  /** The books have sums from this day on only; absent: of all days. */
  readonly figuresFromDay?: string;
}

/** Most days of a comparison. */
const MAX_DAYS = 366;
/** Most findings that are kept. */
const MAX_FINDINGS = 200;
/** Most charges that are paired with lines. */
const MAX_CHARGES = 200_000;

/**
 * Reads a vendor's export and compares it.
 *
 * @throws {ApiError} `invalid_request` naming the field, or the line and column of the file;
 * `unavailable`; what `pieces` throws
 */
export async function reconcile(
  admin: Admin,
  models: readonly PricedModel[],
  pieces: AsyncIterable<string>,
  query: ReconcileQuery,
): Promise<Reconciliation> {
  const { vendor } = query;
  const names = vendorModels(models, vendor);
  if (vendor !== undefined && names.all.length === 0) {
    throw invalidField("vendor", "serves no model of this gateway");
  }
  const invoice = await readInvoice(pieces);
  const { fromDay, toDay } = period(invoice, query);
  const wanted = vendor === undefined
    ? new Set(invoice.groups.map(({ model }) => names.of(model).name))
    : new Set([
      ...names.all.map(({ name }) => name),
      ...invoice.groups.map(({ model }) => names.of(model).name),
    ]);
  const places = new Map<string, Place>();
  const placeOf = (day: string, { name, ids }: Group): Place => {
    const key = `${day}\0${name}`;
    const place = places.get(key) ?? { day, name, ids, own: [], lines: [] };
    places.set(key, place);
    return place;
  };
  let linesOutside = 0;
  for (const { day, model, lines } of invoice.groups) {
    if (day < fromDay || day > toDay) {
      linesOutside += countOf(lines);
      continue;
    }
    // Not by spreading: a group may have more lines than a call may have arguments.
    const place = placeOf(day, names.of(model));
    for (const line of lines) place.lines.push(line);
  }
  const figuresFromDay = await addOwn(
    admin,
    { fromDay, toDay },
    (line) => {
      const group = names.ofOwn(line.model ?? "");
      if (wanted.has(group.name)) placeOf(line.day ?? "", group).own.push(line);
    },
  );
  const compare = comparison(admin, models);
  const groups: ReconciledGroup[] = [];
  const findings:
    (Finding & { readonly day: string; readonly name: string })[] = [];
  let findingsLeftOff = 0;
  /** Keeps the largest ones. */
  const cutFindings = (): void => {
    findings.sort((a, b) => {
      const more = size(b.picoUsd) - size(a.picoUsd);
      return more > 0n ? 1 : more < 0n ? -1 : 0;
    });
    findingsLeftOff += findings.splice(MAX_FINDINGS).length;
  };
  const ordered = [...places.values()].toSorted((a, b) =>
    a.day === b.day ? (a.name < b.name ? -1 : 1) : a.day < b.day ? -1 : 1
  );
  for (const place of ordered) {
    const { group, found } = await compare(place);
    groups.push(group);
    for (const finding of found) {
      findings.push({ ...finding, day: place.day, name: place.name });
      if (findings.length >= 4 * MAX_FINDINGS) cutFindings();
    }
    await nextTurn();
  }
  cutFindings();
  return {
    fromDay,
    toDay,
    columns: invoice.columns,
    lines: invoice.lines - linesOutside,
    linesOutside,
    groups,
    findings,
    findingsLeftOff,
    ...compact({ figuresFromDay }),
  };
}

type Group = ReturnType<VendorModels["of"]>;

/** A day and a group of models, before it is compared. */
interface Place {
  readonly day: string;
  readonly name: string;
  readonly ids: readonly string[];
  readonly own: UsageLine[];
  readonly lines: InvoiceLine[];
}

function countOf(lines: readonly InvoiceLine[]): number {
  return lines.reduce((sum, { count }) => sum + count, 0);
}

function period(
  { groups }: Invoice,
  { fromDay, toDay }: ReconcileQuery,
): { readonly fromDay: string; readonly toDay: string } {
  const days = groups.map(({ day }) => day);
  const min = days.reduce<string | undefined>(
    (a, b) => a === undefined || b < a ? b : a,
    undefined,
  );
  const max = days.reduce<string | undefined>(
    (a, b) => a === undefined || b > a ? b : a,
    undefined,
  );
  const first = fromDay ?? min;
  const last = toDay ?? max;
  if (first === undefined || last === undefined) {
    throw invalidField("file", "has no line with figures");
  }
  if (dayNumber("to", last) - dayNumber("from", first) >= MAX_DAYS) {
    throw invalidField(
      "file",
      `covers more than ${MAX_DAYS} days, ${first} to ${last}: give from and to, or a shorter export`,
    );
  }
  return { fromDay: first, toDay: last };
}

/** Reads the sums of the books. Returns the day that they begin with, if that is later. */
async function addOwn(
  admin: Admin,
  days: { readonly fromDay: string; readonly toDay: string },
  add: (line: UsageLine) => void,
): Promise<string | undefined> {
  let after: string | undefined;
  for (;;) {
    const report: UsageReport = await admin.usage({
      ...days,
      by: ["day", "model"],
      limit: 1000,
      ...compact({ after }),
    });
    for (const line of report.data) add(line);
    if (report.next === undefined) return report.figuresFromDay;
    after = report.next;
  }
}

interface Compared {
  readonly group: ReconciledGroup;
  readonly found: readonly Finding[];
}

/** Compares places; the charges that it may read are limited in all. */
function comparison(
  admin: Admin,
  models: readonly PricedModel[],
): (place: Place) => Promise<Compared> {
  let chargesLeft = MAX_CHARGES;
  /** The charges of a place; undefined if they are too many. */
  const readCharges = async (
    place: Place,
    ours: OwnSums,
  ): Promise<readonly LedgerEntry[] | undefined> => {
    if (ours.calls > chargesLeft) return undefined;
    chargesLeft -= ours.calls;
    return await chargesOf(admin, place);
  };
  return async (place) => {
    const { day, name, ids, lines } = place;
    const ours = ownSums(place.own);
    const theirs = { lines: countOf(lines), ...sumsOf(lines) };
    const of = {
      day,
      name,
      models: ids.length === 0 ? modelsIn(place) : ids,
      ours,
      theirs,
    };
    const total = theirs.amount?.picoUsd;
    const isSameSize = total !== undefined &&
      size(total - ours.picoUsd) <= tolerance(ours, lines);
    const hasSameTokens = theirs.tokens === undefined ||
      tokensText(theirs.tokens) === tokensText(ours.tokens);
    const price = await priceOf(admin, models, place);
    const card = cardOf(models, place, price);
    const worthOf: WorthOf = (tokens, billed) => worthAt(card, tokens, billed);
    const hasLineForEachCall = countOf(lines) * 2 >= ours.calls &&
      lines.every(({ tokens }) => tokens !== undefined);
    // What rounding allows a day's calls together could be one call at another price.
    const isEachAsPriced = !hasLineForEachCall ||
      lines.every((line) =>
        line.tokens === undefined || line.amount === undefined ||
        size(line.amount.picoUsd - worthOf(line.tokens, line.billed)) <=
          allowedOf(line)
      );
    if (isSameSize && hasSameTokens && isEachAsPriced) {
      const causes = { ...NO_CAUSES, rounding: total - ours.picoUsd };
      return { group: { ...of, causes, differs: false }, found: [] };
    }
    const tellsMore = lines.some(({ billed }) =>
      Object.keys(billed).length > 0
    );
    const charges = ours.calls > 0 && lines.length > 0 &&
        (hasLineForEachCall || tellsMore)
      ? await readCharges(place, ours)
      : undefined;
    const byCalls = charges !== undefined && hasLineForEachCall
      ? matchCalls(charges, lines, worthOf)
      : undefined;
    const { causes, found } = byCalls === undefined
      ? bySums(ours, lines, price, otherwiseOf(charges ?? [], lines, worthOf))
      : { causes: byCalls.causes, found: byCalls.findings };
    const differs = !hasSameTokens ||
      size(differenceOf(causes) - causes.rounding) > 0n ||
      found.some(({ otherwise }) => otherwise !== undefined);
    return { group: { ...of, causes, differs }, found };
  };
}

function bySums(
  ours: OwnSums,
  lines: readonly InvoiceLine[],
  price: Tokens,
  { picoUsd, otherwise }: SumsOtherwise,
): { readonly causes: Causes; readonly found: readonly Finding[] } {
  const { causes, doubled } = splitDifference(ours, lines, price, picoUsd);
  return {
    causes,
    found: [
      ...doubled.map(({ line: { line, tokens }, picoUsd }): Finding => ({
        cause: "doubled",
        line,
        ...compact({ tokens }),
        picoUsd,
      })),
      ...(otherwise.length === 0 ? [] : [{
        cause: "billedOtherwise" as const,
        otherwise,
        picoUsd: causes.billedOtherwise,
      }]),
    ],
  };
}

function ownSums(
  own: readonly UsageLine[],
): OwnSums & { readonly estimatedCalls: number } {
  let tokens = NO_TOKENS;
  for (const line of own) {
    tokens = plus(tokens, {
      input: line.inputTokens,
      cacheRead: line.cacheReadTokens,
      cacheWrite: line.cacheWriteTokens,
      output: line.outputTokens,
    });
  }
  const sum = (of: (line: UsageLine) => number): number =>
    own.reduce((total, line) => total + of(line), 0);
  return {
    tokens,
    calls: sum((line) => line.requests),
    picoUsd: BigInt(sum((line) => line.microUsd)) * PICO_PER_MICRO,
    estimatedCalls: sum((line) => line.estimatedRequests),
    estimatedPicoUsd: BigInt(sum((line) => line.estimatedMicroUsd ?? 0)) *
      PICO_PER_MICRO,
  };
}

function dayBounds(
  day: string,
): { readonly fromMs: number; readonly toMs: number } {
  const fromMs = Date.parse(`${day}T00:00:00Z`);
  return { fromMs, toMs: fromMs + 24 * 60 * 60 * 1000 };
}

/** The price of the day's first charge; without one, that of today. */
async function priceOf(
  admin: Admin,
  models: readonly PricedModel[],
  place: Place,
): Promise<ModelPrice> {
  const { day, ids } = place;
  for (const model of modelsIn(place)) {
    const { data: [charge] } = await admin.ledger({
      model,
      kind: "charge",
      ...dayBounds(day),
      limit: 1,
    });
    if (charge?.price !== undefined) return parsePrice(charge.price);
  }
  return models.find(({ id }) => ids.includes(id))?.price ?? NO_TOKENS;
}

/** The model's card with the base rates of the day. */
function cardOf(
  models: readonly PricedModel[],
  { ids }: Place,
  price: ModelPrice,
): RateCard {
  return { ...models.find(({ id }) => ids.includes(id))?.price, ...price };
}

function worthAt(card: RateCard, tokens: Tokens, billed: BilledAs): bigint {
  const { cacheWrite1h, webSearches, tier, speed, region } = billed;
  const lines = chargeLines(card, tokens, {
    ...compact({ cacheWrite1h }),
    ...(webSearches === undefined || webSearches === 0
      ? {}
      : { uses: { web_search: webSearches } }),
    ...compact({ tier, speed, region }),
  });
  return (lines?.map(picoUsdOf) ?? worths(tokens, card))
    .reduce((sum, one) => sum + one, 0n);
}

async function chargesOf(
  admin: Admin,
  place: Place,
): Promise<readonly LedgerEntry[]> {
  const charges: LedgerEntry[] = [];
  for (const model of modelsIn(place)) {
    for await (
      const page of admin.allLedger({
        model,
        kind: "charge",
        ...dayBounds(place.day),
      })
    ) charges.push(...page);
  }
  return withCorrections(charges);
}

/** Models of the place that the books have charges of. */
function modelsIn({ own }: Place): readonly string[] {
  return [...new Set(own.flatMap(({ model }) => model ?? []))];
}

function size(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Sum of all parts. */
export function sumOfCauses(groups: readonly ReconciledGroup[]): Causes {
  return groups.reduce((sum, { causes }) => plusCauses(sum, causes), NO_CAUSES);
}
