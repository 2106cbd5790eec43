/**
 * `ledger reconcile FILE`: a vendor's export against the books.
 */
import { compact } from "../../translate/bytes/compact.ts";
import {
  isObject,
  type JsonObject,
  objectOr,
} from "../../translate/bytes/json.ts";
import { check } from "../../translate/model/schema.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import { reconcile } from "../reconcile/reconcile.ts";
import {
  reconcileQuery,
  reconciliationJson,
} from "../reconcile/reconciliation_json.ts";
import type { PricedModel } from "../reconcile/vendor_models.ts";
import { textTable } from "./text_table.ts";

/** The models of the configuration, and how a file is read. */
export interface InvoiceFiles {
  readonly models: readonly PricedModel[];
  /** The text of a file, in pieces. */
  readonly read: (path: string) => AsyncIterable<string>;
}

/**
 * Compares a file with the books.
 *
 * @throws {ApiError} `invalid_request` naming the flag, or the line and column of the file;
 * `unavailable`
 */
export async function reconcileFile(
  path: string,
  flags: Readonly<Record<string, unknown>>,
  admin: Admin,
  { models, read }: InvoiceFiles,
): Promise<JsonObject> {
  const { vendor, from, to } = check(reconcileQuery, flags);
  return reconciliationJson(
    await reconcile(admin, models, read(path), {
      ...compact({ vendor, fromDay: from, toDay: to }),
    }),
  );
}

/** Whether file and books agree, but for rounding. */
export function isReconciled({ data }: JsonObject): boolean {
  return Array.isArray(data) && data.length === 0;
}

/** The differences as tables. */
export function reconciliationText(result: JsonObject): string {
  const sums = textTable({
    from: result["from"],
    to: result["to"],
    lines_compared: result["lines"],
    days_and_models_that_agree: result["agreeing"],
    ...flat(objectOr(result["totals"])),
  });
  if (isReconciled(result)) return `${sums}\n\nThe file and the books agree.`;
  const { data, findings } = result;
  return [
    sums,
    textTable({ data: rows(data) }),
    ...(rows(findings).length === 0
      ? []
      : [textTable({ data: rows(findings) })]),
  ].join("\n\n");
}

function rows(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject).map(flat) : [];
}

/** A line of the result with one column per figure; parts that are zero are left out. */
function flat(record: JsonObject): JsonObject {
  const { causes, ours, theirs, tokens: _tokens, models: _models, ...rest } =
    record;
  return {
    ...rest,
    ...(ours !== undefined && { ours_micro_usd: objectOr(ours)["micro_usd"] }),
    ...(theirs === undefined
      ? {}
      : { theirs_micro_usd: objectOr(theirs)["micro_usd"] }),
    ...Object.fromEntries(
      Object.entries(objectOr(causes)).filter(([, amount]) => amount !== 0)
        .map(([name, amount]) => [`${name}_micro_usd`, amount]),
    ),
  };
}
