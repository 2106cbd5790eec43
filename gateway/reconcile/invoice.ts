/**
 * Reads a vendor's export: what it bills by day and model. Memory grows with the number of
 * different lines, which is limited, not with the file.
 */
import { createHash } from "node:crypto";
import { compact } from "../../translate/bytes/compact.ts";
import { invalidField } from "../../translate/model/error.ts";
import type { Tokens } from "../accounts/charges/money.ts";
import { nextTurn } from "../accounts/next_turn.ts";
import { dayNumber } from "../accounts/reports/days.ts";
import { DIMENSION_NAMES, valueOf } from "../accounts/charges/meters.ts";
import type { BilledAs } from "./billed_as.ts";
import { awsModel, lineItemModel } from "./billing_names.ts";
import { type FileRecord, fileRecords } from "./file_records.ts";
import {
  type Column,
  type InvoiceColumns,
  invoiceColumns,
} from "./invoice_columns.ts";
import {
  amountOf,
  type BilledAmount,
  dayIn,
  NO_TOKENS,
  plus,
  tokenCount,
  tokenKind,
} from "./invoice_values.ts";

/** A line of the file, and how often it occurs. */
export interface InvoiceLine {
  /** Number of the line in the file, of the first one. */
  readonly line: number;
  /** As the file names it. */
  readonly model: string;
  /** Lines that are the same in every cell. */
  count: number;
  /** Absent: the line has no tokens. */
  readonly tokens?: Tokens;
  /** Absent: the line has no amount. */
  readonly amount?: BilledAmount;
  /** By what it bills beside the tokens. */
  readonly billed: BilledAs;
}

/** What the file bills for a model on a day. */
interface InvoiceGroup {
  /** UTC, such as `2026-11-21`. */
  readonly day: string;
  /** As the file names it. */
  readonly model: string;
  readonly lines: readonly InvoiceLine[];
}

/** A vendor's export. */
export interface Invoice {
  readonly groups: readonly InvoiceGroup[];
  readonly lines: number;
  /** The columns that were read, by what they hold. */
  readonly columns: Readonly<Record<string, string>>;
}

/** Most lines of a file. */
const MAX_LINES = 100_000;
/** Lines between two turns of the event loop. */
const TURN_LINES = 100;

/**
 * Reads a file.
 *
 * @throws {ApiError} `invalid_request` naming the line and the column; what `pieces` throws
 */
export async function readInvoice(
  pieces: AsyncIterable<string>,
  maxLines: number = MAX_LINES,
): Promise<Invoice> {
  let columns: InvoiceColumns | undefined;
  const groups = new Map<string, Map<string, InvoiceLine>>();
  let lines = 0;
  for await (const record of fileRecords(pieces)) {
    if (columns === undefined) {
      columns = invoiceColumns(record.cells);
      continue;
    }
    const read = lineOf(columns, record);
    if (read === undefined) continue;
    if (++lines > maxLines) {
      throw invalidField(
        "file",
        `has more than ${maxLines} lines with figures: reconcile a shorter period, or an export by day and model`,
      );
    }
    const place = `${read.day}\0${read.model}`;
    const group = groups.get(place) ?? new Map<string, InvoiceLine>();
    groups.set(place, group);
    const identity = createHash("sha256").update(JSON.stringify(record.cells))
      .digest("base64url").slice(0, 22);
    const same = group.get(identity);
    if (same === undefined) group.set(identity, read.line);
    else same.count++;
    if (lines % TURN_LINES === 0) await nextTurn();
  }
  if (columns === undefined) throw invalidField("file", "is empty");
  return {
    lines,
    columns: columnNames(columns),
    groups: [...groups].map(([place, group]) => {
      const [day = "", model = ""] = place.split("\0");
      return { day, model, lines: [...group.values()] };
    }),
  };
}

interface ReadLine {
  readonly day: string;
  readonly model: string;
  readonly line: InvoiceLine;
}

/**
 * A line; undefined if it has no figures, as vendors write days without usage, or is not for the
 * use of a model.
 */
function lineOf(
  columns: InvoiceColumns,
  { place, number: line, cells: record }: FileRecord,
): ReadLine | undefined {
  const cell = (column: Column | undefined): string =>
    column === undefined ? "" : record[column.at] ?? "";
  const read = <T>(
    column: Column | undefined,
    expected: string,
    parse: (text: string) => T | undefined,
  ): T | undefined => {
    const text = cell(column);
    if (text === "") return undefined;
    const value = parse(text);
    if (value !== undefined) return value;
    throw invalidField(
      "file",
      `${place}, column ${column?.name}: expected ${expected}, not ${
        JSON.stringify(text.toWellFormed().slice(0, 60))
      }`,
    );
  };
  const count = (column: Column | undefined): number | undefined =>
    read(column, "a whole number", tokenCount);
  const category = cell(columns.category);
  if (category !== "" && !/usage/i.test(category)) return undefined;
  const model = modelOf(columns, cell);
  if (model === undefined) return undefined;
  const [column, unit, digits] = columns.microUsd !== undefined
    ? [columns.microUsd, "micro-dollars such as 1250000", 6] as const
    : columns.cents !== undefined
    ? [columns.cents, "cents such as 125.5", 10] as const
    : [columns.usd, "dollars such as 1.25", 12] as const;
  const amount = read(
    column,
    `an amount in ${unit}`,
    (text) => amountOf(text, digits),
  );
  const tokens = tokensOf(columns, count, cell);
  if (amount === undefined && tokens === undefined) return undefined;
  read(
    columns.currency,
    "USD: amounts are compared in dollars",
    (text) => text.toUpperCase() === "USD" ? text : undefined,
  );
  const day = read(columns.day, "a day such as 2026-11-21", dayIn);
  if (day === undefined) {
    throw invalidField(
      "file",
      `${place}, column ${columns.day?.name}: the line has figures but no day`,
    );
  }
  dayNumber("file", day);
  if (model === "") {
    throw invalidField(
      "file",
      `${place} has figures but no model: export by model (costs of OpenAI: group_by line_item; of Anthropic: group_by[] description)`,
    );
  }
  return {
    day,
    model,
    line: {
      line,
      model,
      count: 1,
      ...compact({ tokens, amount }),
      billed: billedAs(columns, count, cell, tokens),
    },
  };
}

/** The line's model as the vendor names it; undefined if the line is for something else. */
function modelOf(
  columns: InvoiceColumns,
  cell: (column: Column | undefined) => string,
): string | undefined {
  const named = cell(columns.model);
  const isAws = columns.model?.name === columns.usageType?.name ||
    columns.model?.name === "SkuId" &&
      /^(?:AWS|Amazon)\b/i.test(cell(columns.provider));
  if (isAws) return awsModel(cell(columns.usageType), cell(columns.service));
  const model = columns.model?.name === columns.tokenKind?.name
    ? lineItemModel(named)
    : named;
  return (model || cell(columns.description)).slice(0, 200);
}

function billedAs(
  columns: InvoiceColumns,
  count: (column: Column | undefined) => number | undefined,
  cell: (column: Column | undefined) => string,
  tokens: Tokens | undefined,
): BilledAs {
  const said = DIMENSION_NAMES.filter((name) => cell(columns[name]) !== "");
  const kind = cell(columns.tokenKind);
  const quantity = Number(cell(columns.quantity));
  const isUses = /^uses$/i.test(cell(columns.unit));
  const cacheWrite1h = count(columns.cacheWrite1h) ??
    (/\b1 ?h/i.test(kind) ? tokens?.cacheWrite : undefined);
  const webSearches = count(columns.webSearches) ??
    (isUses && /search/i.test(kind) && quantity >= 0 ? quantity : undefined);
  return {
    ...compact({ cacheWrite1h, webSearches }),
    ...Object.fromEntries(
      said.map((name) => [name, valueOf(name, cell(columns[name])) ?? ""]),
    ),
  };
}

function tokensOf(
  columns: InvoiceColumns,
  count: (column: Column | undefined) => number | undefined,
  cell: (column: Column | undefined) => string,
): Tokens | undefined {
  const unit = /^(?:(\d+)?([KM]?) ?)tokens?$/i.exec(cell(columns.unit));
  if (unit !== null) {
    const quantity = Number(cell(columns.quantity));
    const kind = tokenKind(cell(columns.tokenKind));
    if (kind === undefined || !(quantity >= 0)) return undefined;
    const each = Number(unit[1] ?? 1) *
      ({ K: 1000, M: 1_000_000 }[unit[2]?.toUpperCase() ?? ""] ?? 1);
    return { ...NO_TOKENS, [kind]: Math.round(quantity * each) };
  }
  const cacheRead = count(columns.cacheRead);
  const output = count(columns.output);
  const all = count(columns.inputWithCached);
  const input = all === undefined
    ? count(columns.input)
    : Math.max(0, all - (cacheRead ?? 0));
  const writes = columns.cacheWrites.map(count);
  if ([input, cacheRead, output, ...writes].every((one) => one === undefined)) {
    return undefined;
  }
  return {
    input: input ?? 0,
    cacheRead: cacheRead ?? 0,
    cacheWrite: writes.reduce<number>((sum, one) => sum + (one ?? 0), 0),
    output: output ?? 0,
  };
}

function columnNames(
  { cacheWrites, ...columns }: InvoiceColumns,
): Readonly<Record<string, string>> {
  return Object.fromEntries([
    ...Object.entries(columns).map(([use, { name }]) => [use, name]),
    ...(cacheWrites.length === 0
      ? []
      : [["cacheWrite", cacheWrites.map(({ name }) => name).join(" + ")]]),
  ]);
}

/** Sums of a group; absent: no line has them. */
export function sumsOf(
  lines: readonly InvoiceLine[],
): { readonly tokens?: Tokens; readonly amount?: BilledAmount } {
  let tokens: Tokens | undefined;
  let amount: BilledAmount | undefined;
  for (const line of lines) {
    if (line.tokens !== undefined) {
      tokens = plus(tokens ?? NO_TOKENS, line.tokens, line.count);
    }
    if (line.amount !== undefined) {
      const times = BigInt(line.count);
      amount = {
        picoUsd: (amount?.picoUsd ?? 0n) + line.amount.picoUsd * times,
        roundedBy: (amount?.roundedBy ?? 0n) + line.amount.roundedBy * times,
      };
    }
  }
  return {
    ...compact({ tokens, amount }),
  };
}
