/**
 * Finds the row of a price table for each model of the configuration: by the vendor and the
 * upstream model of its candidates. A name that could mean several prices is reported, never
 * guessed.
 */
import type { Catalogue, Model } from "../upstream/catalogue/catalogue.ts";
import type { CatalogueOverrides } from "../upstream/catalogue/catalogue_shape.ts";
import type { Vendor } from "../upstream/catalogue/vendors.ts";
import type { ListedCard, ListedModel } from "./listed_card.ts";
import type { PriceTable } from "./price_table.ts";
import { providerNames } from "./provider_names.ts";

/** A model's row in a table, or why there is none. */
export type ModelMatch =
  | {
    readonly type: "found";
    readonly row: ListedModel;
    readonly card: ListedCard;
  }
  | {
    /** The table has no price for it, or more than one. */
    readonly type: "unclear";
    readonly reason: string;
    /** Names in the table that may be meant. */
    readonly names: readonly string[];
  };

export interface ConfiguredModels {
  readonly catalogue: Catalogue;
  readonly overrides: CatalogueOverrides;
}

/**
 * The row for a model.
 *
 * @param name the row's name in the table, where the operator gave one
 */
export function matchModel(
  { catalogue, overrides }: ConfiguredModels,
  table: PriceTable,
  model: Model,
  name?: string,
): ModelMatch {
  if (name !== undefined) {
    const row = table.models.find((one) => one.name === name);
    return row === undefined
      ? unclear(`the table has no row ${name}`)
      : foundOr(row, []);
  }
  const rows = new Set<ListedModel>();
  const similar = new Set<string>();
  for (const { vendor: vendorName, upstreamModel } of model.candidates) {
    const vendor = catalogue.vendors.find((one) => one.name === vendorName);
    if (vendor === undefined) continue;
    const providers = providerNames(
      table.kind,
      vendor.kind,
      overrides.vendors?.[vendorName]?.preset,
    );
    const own = rowsOf(table, providers, vendor, upstreamModel);
    for (const row of own) rows.add(row);
    if (own.length === 0) {
      for (const one of similarNames(table, providers, upstreamModel)) {
        similar.add(one);
      }
    }
  }
  const [first, ...others] = rows;
  if (first === undefined) {
    return unclear("the table has no such model of its vendor", [...similar]);
  }
  if (similar.size > 0) {
    return unclear("the table has only some of its candidates", [
      ...[...rows].map((row) => row.name),
      ...similar,
    ]);
  }
  return foundOr(first, others);
}

function foundOr(
  row: ListedModel,
  others: readonly ListedModel[],
): ModelMatch {
  const price = priceKey(row);
  if (others.some((one) => priceKey(one) !== price)) {
    return unclear(
      "the table has several prices for it",
      [row, ...others].map(({ name }) => name),
    );
  }
  return row.card === undefined
    ? unclear(`${row.name}: ${row.problems.join("; ")}`)
    : { type: "found", row, card: row.card };
}

function unclear(
  reason: string,
  names: readonly string[] = [],
): ModelMatch {
  return { type: "unclear", reason, names };
}

/** Equal for rows with the same price, whatever the order of their fields. */
function priceKey({ card, problems }: ListedModel): string {
  if (card === undefined) return problems.join();
  const sort = (_key: string, value: unknown): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
        Object.entries(value).toSorted(([a], [b]) => a < b ? -1 : 1),
      )
      : value;
  return JSON.stringify(card, sort);
}

/** Rows of the vendor's region, or else those of none. */
function rowsOf(
  table: PriceTable,
  providers: readonly string[],
  vendor: Vendor,
  upstreamModel: string,
): readonly ListedModel[] {
  const wanted = plain(upstreamModel);
  const named = table.models.filter(({ names }) =>
    names.some(({ provider, model }) =>
      isOne(provider, providers) && plain(model) === wanted
    )
  );
  const region = vendor.values["region"] ?? vendor.values["location"];
  const own = named.filter((row) =>
    region !== undefined && row.region === region
  );
  return own.length > 0 ? own : named.filter((row) => row.region === undefined);
}

/** The provider's rows whose names differ from the model's in a date, version or region only. */
function similarNames(
  table: PriceTable,
  providers: readonly string[],
  upstreamModel: string,
): readonly string[] {
  const wanted = stem(upstreamModel);
  return table.models.filter(({ names }) =>
    names.some(({ provider, model }) =>
      isOne(provider, providers) && stem(model) === wanted
    )
  ).map(({ name }) => name);
}

function isOne(provider: string, providers: readonly string[]): boolean {
  return providers.some((name) =>
    name.endsWith("*")
      ? provider.startsWith(name.slice(0, -1))
      : provider === name
  );
}

/** Tables write the dots of versions as dashes, or not. */
function plain(model: string): string {
  return model.toLowerCase().replaceAll(".", "-");
}

const DATE = /[@-](?:20\d{6}|20\d\d-\d\d-\d\d|latest|default|preview)$/;

function stem(model: string): string {
  return plain(
    model.toLowerCase()
      .replace(/^(?:us|eu|apac|jp|au|ca|us-gov|global)\./, "")
      .replace(/(?:-v\d+)?(?::\d+)?$/, "")
      .replace(DATE, ""),
  );
}
