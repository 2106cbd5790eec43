/**
 * Reads a file with a public price table, whichever of the known ones it is.
 */
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import { invalidField } from "../../translate/model/error.ts";
import type { ListedModel } from "./listed_card.ts";
import { isLitellmTable, litellmTable } from "./litellm_table.ts";
import { isModelsDevTable, modelsDevTable } from "./models_dev_table.ts";
import { isOpenRouterTable, openRouterTable } from "./open_router_table.ts";

/** The tables that are known. */
export const TABLE_KINDS = ["litellm", "models.dev", "openrouter"] as const;

/** One of {@linkcode TABLE_KINDS}. */
export type TableKind = typeof TABLE_KINDS[number];

/** A table's content. */
export interface PriceTable {
  readonly kind: TableKind;
  /** In the table's order. */
  readonly models: readonly ListedModel[];
}

const READERS: Readonly<
  Record<TableKind, {
    readonly isOne: (table: JsonObject) => boolean;
    readonly read: (table: JsonObject) => readonly ListedModel[];
  }>
> = {
  openrouter: { isOne: isOpenRouterTable, read: openRouterTable },
  "models.dev": { isOne: isModelsDevTable, read: modelsDevTable },
  litellm: { isOne: isLitellmTable, read: litellmTable },
};

/**
 * Reads a table's text.
 *
 * @param kind absent: the table is recognised by its shape
 * @throws {ApiError} `invalid_request` for text that is none of the known tables
 */
export function readPriceTable(text: string, kind?: TableKind): PriceTable {
  const table = withNumbersAsText(text);
  if (table === undefined) throw invalidField("file", "is no JSON object");
  const found = TABLE_KINDS.find((one) => READERS[one].isOne(table));
  if (found === undefined || (kind !== undefined && kind !== found)) {
    throw invalidField(
      "file",
      `does not have the shape of ${
        kind ?? `a known table (${TABLE_KINDS.join(", ")})`
      }`,
    );
  }
  return { kind: found, models: READERS[found].read(table) };
}

/** The object in a text, with each number as its own text; undefined for anything else. */
function withNumbersAsText(text: string): JsonObject | undefined {
  const asText = (...[, value, context]: unknown[]): unknown =>
    typeof value === "number" && isObject(context) ? context["source"] : value;
  try {
    const table: unknown = JSON.parse(text, asText);
    return isObject(table) ? table : undefined;
  } catch {
    return undefined;
  }
}
