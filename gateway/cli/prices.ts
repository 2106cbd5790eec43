/**
 * `prices import FILE` and `prices diff FILE`: a public price table against the cards of the
 * configuration. Nothing is fetched.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { invalidField } from "../../translate/model/error.ts";
import { check } from "../../translate/model/schema.ts";
import { usdText } from "../accounts/charges/money.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import type { AmountUnit, CardChange } from "../prices/card_changes.ts";
import type { CardOrigin } from "../prices/card_json.ts";
import { checkCards } from "../prices/check_cards.ts";
import type { ConfiguredModels } from "../prices/match_models.ts";
import {
  planImport,
  type PricedModel,
  type PriceImport,
  withCards,
} from "../prices/price_import.ts";
import { readPriceTable, TABLE_KINDS } from "../prices/price_table.ts";
import { parseCatalogueFile } from "../upstream/catalogue/catalogue_file.ts";
import { textTable } from "./text_table.ts";

/** The configuration, and how its files are read and written. */
export interface PriceFiles {
  readonly configured: ConfiguredModels;
  /** What `GATEWAY_CONFIG` names; absent: there is none. */
  readonly configFile?: string;
  /** A file's text, and the day of its last change as YYYY-MM-DD. */
  readonly read: (path: string) => Promise<{
    readonly text: string;
    readonly day?: string;
  }>;
  /** Replaces a file at once. */
  readonly replace: (path: string, text: string) => Promise<void>;
}

/** The result of reading a table, and what became of it. */
interface PriceOutcome extends PriceImport {
  readonly origin: CardOrigin;
  /** The file with the new cards; absent: nothing was written. */
  readonly written?: string;
}

const day = z.iso.date("must be a day, such as 2026-11-23");

const importFlags = z.strictObject({
  table: z.enum(TABLE_KINDS).optional(),
  from: day.optional(),
  models: z.array(z.string()).nullable().optional(),
  output: z.string().optional(),
  apply: z.literal(true).optional(),
});

/**
 * Compares a table with the configuration, and writes the configuration with the table's prices
 * with `apply`.
 *
 * @throws {ApiError} `invalid_request` naming the flag; `unavailable`
 * @throws {FlagError} for a file that cannot be read or written
 */
export async function importPrices(
  path: string,
  flags: JsonObject,
  files: PriceFiles,
  nowMs: number,
  openAdmin: () => Promise<Admin>,
): Promise<PriceOutcome> {
  const { table: kind, from, models, output, apply } = check(
    importFlags,
    flags,
  );
  const file = await files.read(path);
  const table = readPriceTable(file.text, kind);
  const hash = sha256(file.text).slice(0, 12);
  const today = new Date(nowMs).toISOString().slice(0, 10);
  const origin: CardOrigin = {
    from: from ?? today,
    version: `${from ?? today}-${hash.slice(0, 8)}`,
    source: [
      `${table.kind} table`,
      ...(file.day === undefined ? [] : [`of ${file.day}`]),
      `sha256 ${hash}`,
    ].join(", "),
  };
  const outcome: PriceOutcome = {
    ...planImport(
      files.configured,
      table,
      Date.parse(origin.from),
      new Map((models ?? []).map(idAndName)),
    ),
    origin,
  };
  if (apply === undefined) return outcome;
  const target = output ?? files.configFile;
  if (target === undefined) {
    throw invalidField(
      "output",
      "is required without a file in GATEWAY_CONFIG",
    );
  }
  // First, so that nothing is written that could not be recorded.
  const admin = await openAdmin();
  const text = files.configFile === undefined
    ? "{}\n"
    : (await files.read(files.configFile)).text;
  const { priced } = outcome;
  const written = withCards(text, priced, origin, today);
  const parsed = parseCatalogueFile(written);
  if (!parsed.ok) {
    throw new Error(`could not write the cards: ${parsed.problems.join("\n")}`);
  }
  await files.replace(target, written);
  await admin.changes.pricesImported(
    sha256(written).slice(0, 12),
    origin,
    amountsOf(priced, "now"),
    amountsOf(priced, "then"),
  );
  return { ...outcome, written: target };
}

/** `ID`, or `ID=NAME` with the name of its row. */
function idAndName(text: string): [string, string | undefined] {
  const at = text.indexOf("=");
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The amounts that differ, for each changed model: `input 5000000, call 3`. */
function amountsOf(
  priced: readonly PricedModel[],
  side: "now" | "then",
): JsonObject {
  return Object.fromEntries(
    priced.filter(({ changes }) => changes.length > 0).map((
      { model, changes },
    ) => [
      `model ${model.id}`,
      changes.map((change) => `${change.meter} ${change[side] ?? "none"}`)
        .join(", "),
    ]),
  );
}

/** Whether the table has other prices than the configuration. */
export function hasDifferences({ priced }: PriceImport): boolean {
  return priced.some(({ changes }) => changes.length > 0);
}

export function outcomeJson(
  { origin, priced, unclear, written }: PriceOutcome,
): JsonObject {
  return {
    object: "price_differences",
    ...origin,
    data: priced.flatMap(({ model, changes }) =>
      changes.map((change) => ({
        model: model.id,
        meter: change.meter,
        unit: change.unit,
        now: change.now ?? null,
        then: change.then ?? null,
        change_percent: percentOf(change) ?? null,
      }))
    ),
    models: priced.map(({ model, row, changes, kept, notes }) => ({
      model: model.id,
      row,
      is_changed: changes.length > 0,
      kept,
      notes,
    })),
    unclear: unclear.map(({ id, ...rest }) => ({ model: id, ...rest })),
    written: written ?? null,
  };
}

function percentOf({ now, then }: CardChange): number | undefined {
  return now === undefined || then === undefined || now === 0
    ? undefined
    : Math.round((then - now) / now * 1000) / 10;
}

export function outcomeText(outcome: PriceOutcome): string {
  const { origin, priced, unclear, written } = outcome;
  const changes = priced.flatMap(({ model, changes }) =>
    changes.map((change) => ({
      model: model.id,
      meter: change.meter,
      now: amountText(change.unit, change.now),
      then: amountText(change.unit, change.then),
      change: changeText(change),
    }))
  );
  const notes = priced.flatMap(({ model, row, kept, notes }) =>
    [
      ...notes,
      ...(kept.length === 0
        ? []
        : [`kept, because the table does not have it: ${kept.join(", ")}`]),
    ].map((note) => ({ model: model.id, row, note }))
  );
  const absent = unclear.map(({ id, reason, names }) => ({
    not_found: id,
    reason,
    rows_that_may_be_meant: names,
  }));
  return [
    `${origin.source}: ${priced.length} models found, ${unclear.length} not`,
    changes.length === 0
      ? "The prices that were found are those of the configuration."
      : textTable({ data: changes }),
    ...[notes, absent].filter((data) => data.length > 0).map((data) =>
      textTable({ data })
    ),
    written !== undefined
      ? `${written} has the cards of ${priced.length} models, from ${origin.from} on.`
      : priced.length === 0
      ? "There is nothing to write."
      : `Nothing was written. prices import with --apply writes these ${priced.length} cards, from ${origin.from} on.`,
  ].join("\n\n");
}

function changeText(change: CardChange): string {
  const percent = percentOf(change);
  if (percent !== undefined) return `${percent > 0 ? "+" : ""}${percent} %`;
  return change.now === undefined
    ? "new"
    : change.then === undefined
    ? "gone"
    : "";
}

const UNITS: Readonly<Record<AmountUnit, string>> = {
  per_million_tokens: " / M tokens",
  per_use: " each",
  factor: "",
};

function amountText(unit: AmountUnit, amount: number | undefined): string {
  if (amount === undefined) return "";
  return unit === "factor" ? `× ${amount}` : `${usdText(amount)}${UNITS[unit]}`;
}

const checkFlags = z.strictObject({
  older_than_seconds: z.int().positive().optional(),
});

/**
 * What is to be done about the cards of the configuration, a row each; empty for nothing.
 *
 * @throws {ApiError} `invalid_request` naming the flag
 */
export function checkedPrices(
  flags: JsonObject,
  { catalogue, overrides }: ConfiguredModels,
  nowMs: number,
): readonly JsonObject[] {
  const { older_than_seconds } = check(checkFlags, flags);
  return checkCards(
    catalogue,
    ({ id }) => overrides.models?.[id]?.alias !== undefined,
    nowMs,
    older_than_seconds === undefined ? undefined : older_than_seconds * 1000,
  ).map(({ id, finding, detail }) => ({ model: id, finding, detail }));
}
