/**
 * The columns of a vendor's export: which of them hold the day, the model, the tokens and the
 * amount. Names are compared without case and punctuation.
 */
import { invalidField } from "../../translate/model/error.ts";

type ColumnUse =
  | "day"
  | "model"
  | "input"
  | "inputWithCached"
  | "cacheRead"
  | "cacheWrite"
  | "output"
  | "usd"
  | "cents"
  | "microUsd"
  | "currency"
  | "quantity"
  | "unit"
  | "tokenKind"
  | "usageType"
  | "service"
  | "provider"
  | "category"
  | "description"
  | "cacheWrite1h"
  | "webSearches"
  | "tier"
  | "speed"
  | "region";

/** Names by use, the preferred one first. */
const NAMES: Readonly<Record<ColumnUse, readonly string[]>> = {
  day: [
    "day",
    "date",
    "usage_date_utc",
    "usage_date",
    "ChargePeriodStart",
    "start_time_iso",
    "start_time",
    "starting_at",
    "line_item_usage_start_date",
    "timestamp",
    "time",
    "created",
  ],
  model: [
    "model",
    "model_version",
    "model_id",
    "model_name",
    "x_Model",
    "line_item",
    "SkuId",
    "line_item_usage_type",
  ],
  input: [
    "input_tokens",
    "usage_input_tokens_no_cache",
    "input_tokens_no_cache",
    "uncached_input_tokens",
    "input_uncached_tokens",
    "prompt_tokens",
  ],
  inputWithCached: [],
  cacheRead: [
    "cache_read_tokens",
    "usage_input_tokens_cache_read",
    "input_tokens_cache_read",
    "cache_read_input_tokens",
    "input_cached_tokens",
    "cached_input_tokens",
    "cached_tokens",
  ],
  cacheWrite: [
    "cache_write_tokens",
    "usage_input_tokens_cache_write_5m",
    "usage_input_tokens_cache_write_1h",
    "input_tokens_cache_write_5m",
    "input_tokens_cache_write_1h",
    "ephemeral_5m_input_tokens",
    "ephemeral_1h_input_tokens",
    "cache_creation_ephemeral_5m_input_tokens",
    "cache_creation_ephemeral_1h_input_tokens",
    "cache_creation_input_tokens",
  ],
  output: ["output_tokens", "usage_output_tokens", "completion_tokens"],
  usd: [
    "amount_usd",
    "cost_usd",
    "BilledCost",
    "EffectiveCost",
    "amount_value",
    "line_item_unblended_cost",
    "cost",
    "amount",
  ],
  cents: [],
  microUsd: ["micro_usd", "amount_micro_usd"],
  currency: [
    "currency",
    "amount_currency",
    "BillingCurrency",
    "line_item_currency_code",
  ],
  quantity: ["ConsumedQuantity", "quantity", "line_item_usage_amount"],
  unit: ["ConsumedUnit", "quantity_unit", "pricing_unit"],
  tokenKind: [
    "x_TokenType",
    "token_type",
    "SkuMeter",
    "line_item",
    "line_item_usage_type",
  ],
  usageType: ["line_item_usage_type", "SkuMeter"],
  service: ["product_servicename", "product_product_name", "ServiceName"],
  provider: ["ProviderName", "ServiceProviderName"],
  category: ["line_item_line_item_type", "ChargeCategory"],
  description: ["description", "cost_type"],
  cacheWrite1h: [
    "usage_input_tokens_cache_write_1h",
    "input_tokens_cache_write_1h",
    "ephemeral_1h_input_tokens",
    "cache_creation_ephemeral_1h_input_tokens",
  ],
  webSearches: [
    "web_search_count",
    "usage_web_search_count",
    "web_search_requests",
    "server_tool_use_web_search_requests",
  ],
  tier: ["service_tier", "usage_service_tier"],
  speed: ["speed", "usage_speed"],
  region: ["inference_geo", "usage_inference_geo"],
};

/** Columns of cached tokens beside which the prompt's column counts them as well. */
const COUNTED_TWICE = [
  "inputcachedtokens",
  "cachedinputtokens",
  "cachedtokens",
];
const WITH_CACHED = ["inputtokens", "prompttokens"];

export interface Column {
  /** As the file names it. */
  readonly name: string;
  /** Its place in a record, from 0. */
  readonly at: number;
}

export type InvoiceColumns = Readonly<Partial<Record<ColumnUse, Column>>> & {
  /** Vendors split these by how long the cache keeps them. */
  readonly cacheWrites: readonly Column[];
};

const plain = (name: string): string =>
  name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

/**
 * Finds the columns by the file's first line.
 *
 * @throws {ApiError} `invalid_request` naming what is missing
 */
export function invoiceColumns(head: readonly string[]): InvoiceColumns {
  const places = new Map<string, Column>();
  for (const [at, name] of head.entries()) {
    if (!places.has(plain(name))) places.set(plain(name), { name, at });
  }
  const allOf = (use: ColumnUse): readonly Column[] =>
    NAMES[use].flatMap((name) => places.get(plain(name)) ?? []);
  const found: Partial<Record<ColumnUse, Column>> = {};
  for (const use of Object.keys(NAMES) as ColumnUse[]) {
    const [column] = allOf(use);
    if (column !== undefined) found[use] = column;
  }
  const { input, cacheRead } = found;
  if (
    input !== undefined && cacheRead !== undefined &&
    COUNTED_TWICE.includes(plain(cacheRead.name)) &&
    WITH_CACHED.includes(plain(input.name))
  ) {
    delete found.input;
    found.inputWithCached = input;
  }
  // Anthropic's report of costs: https://platform.claude.com/docs/en/api/admin/cost_report.
  if (
    found.usd !== undefined && plain(found.usd.name) === "amount" &&
    (places.has("startingat") || places.has("costtype"))
  ) {
    found.cents = found.usd;
    delete found.usd;
  }
  // Micro-dollars are exact: our own files have both.
  if (found.microUsd !== undefined) delete found.usd;
  require(head, "a day", found.day, "day");
  require(head, "a model", found.model, "model");
  if (
    found.usd === undefined && found.cents === undefined &&
    found.microUsd === undefined &&
    found.input === undefined && found.inputWithCached === undefined &&
    found.output === undefined && found.quantity === undefined
  ) {
    throw invalidField(
      "file",
      `line 1 names no column with tokens or an amount; known are ${
        [...NAMES.input, ...NAMES.output, ...NAMES.usd].join(", ")
      }. The file has: ${showHead(head)}`,
    );
  }
  return { ...found, cacheWrites: allOf("cacheWrite") };
}

function require(
  head: readonly string[],
  what: string,
  column: Column | undefined,
  use: ColumnUse,
): void {
  if (column !== undefined) return;
  throw invalidField(
    "file",
    `line 1 names no column with ${what}; known are ${
      NAMES[use].join(", ")
    }. The file has: ${showHead(head)}`,
  );
}

function showHead(head: readonly string[]): string {
  return head.map((name) => name.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 40))
    .slice(0, 30).join(", ");
}
