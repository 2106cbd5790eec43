/**
 * Charges with the columns of FOCUS (FinOps Open Cost and Usage Specification, focus.finops.org): a
 * line per call and kind of token. The costs of a call's lines add up to its charge.
 */
import { explainCharge } from "../accounts/charges/explanation.ts";
import { isPerUse, isUnit, meterWords } from "../accounts/charges/meters.ts";
import { reasonText } from "../accounts/charges/reason_text.ts";
import type { LedgerEntry } from "../accounts/records.ts";
import { csvCell } from "../accounts/reports/csv_cell.ts";

function meterName(of: string): string {
  return isPerUse(of) || isUnit(of)
    ? meterWords(of)
    : `${meterWords(of)} tokens`;
}

/** What a meter counts. */
function unitOf(of: string): string {
  return isUnit(of) ? meterWords(of) : isPerUse(of) ? "Uses" : "Tokens";
}

/** Columns of a line, in the order of the file. */
const COLUMNS = [
  "BilledCost",
  "BillingAccountId",
  "BillingCurrency",
  "BillingPeriodStart",
  "BillingPeriodEnd",
  "ChargeCategory",
  "ChargeDescription",
  "ChargeFrequency",
  "ChargePeriodStart",
  "ChargePeriodEnd",
  "ConsumedQuantity",
  "ConsumedUnit",
  "ContractedCost",
  "EffectiveCost",
  "ListCost",
  "ListUnitPrice",
  "PricingCategory",
  "PricingQuantity",
  "PricingUnit",
  "ProviderName",
  "PublisherName",
  "InvoiceIssuerName",
  "ResourceId",
  "ResourceType",
  "ServiceCategory",
  "ServiceName",
  "ServiceSubcategory",
  "SkuId",
  "SkuMeter",
  "SkuPriceId",
  "SubAccountId",
  "x_Model",
  "x_TokenType",
  "x_User",
  "x_Estimated",
  "x_RateReasons",
  "x_Unpriced",
  "x_Bounded",
  "x_ServedBy",
  "x_PriceVersion",
] as const;

const DAY_MS = 24 * 60 * 60 * 1000;
const SELLER = "Model Gateway";

export const FOCUS_HEAD: string = `${COLUMNS.join(",")}\r\n`;

/**
 * The lines of an entry as CSV; none of a top-up, which is a payment and not a cost. Without the
 * vendor that served the call, the provider is the gateway.
 */
export function focusLines(
  entry: LedgerEntry,
  vendor: string = SELLER,
): string {
  return rowsOf(entry, vendor).map((row) =>
    `${COLUMNS.map((column) => csvCell(row[column])).join(",")}\r\n`
  ).join("");
}

type Row = Readonly<Record<typeof COLUMNS[number], string | number | boolean>>;

function rowsOf(entry: LedgerEntry, vendor: string): readonly Row[] {
  const explained = explainCharge(entry);
  if (explained === undefined) return [];
  const parts = explained.parts.filter(({ tokens }) => tokens !== 0);
  // A charge is rounded up to a micro-dollar; its last line has the difference.
  const rounding = BigInt(0 - entry.microUsd) * 1_000_000n - explained.picoUsd;
  const atMs = entry.atMs;
  const day = new Date(atMs - atMs % DAY_MS);
  const month = (offset: number): string =>
    new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + offset))
      .toISOString();
  const model = entry.model ?? "";
  return parts.map((part, at): Row => {
    const { of, tokens, price, picoUsd } = part;
    const reasons = reasonText(part);
    const cost = dollars(
      picoUsd + (at === parts.length - 1 ? rounding : 0n),
    );
    return {
      BilledCost: cost,
      BillingAccountId: entry.accountId,
      BillingCurrency: "USD",
      BillingPeriodStart: month(0),
      BillingPeriodEnd: month(1),
      ChargeCategory: "Usage",
      ChargeDescription: `${meterName(of)} of ${model}${
        entry.corrects === undefined ? "" : " (correction)"
      }`,
      ChargeFrequency: "Usage-Based",
      ChargePeriodStart: day.toISOString(),
      ChargePeriodEnd: new Date(day.getTime() + DAY_MS).toISOString(),
      ConsumedQuantity: tokens,
      ConsumedUnit: unitOf(of),
      ContractedCost: cost,
      EffectiveCost: cost,
      ListCost: cost,
      ListUnitPrice: dollars(BigInt(price) * 1_000_000n),
      PricingCategory: "Standard",
      PricingQuantity: isPerUse(of)
        ? tokens
        : dollars(BigInt(tokens) * 1_000_000n),
      PricingUnit: isPerUse(of) ? unitOf(of) : `1M ${unitOf(of)}`,
      ProviderName: vendor,
      PublisherName: vendor,
      InvoiceIssuerName: SELLER,
      ResourceId: entry.corrects ?? entry.requestId,
      ResourceType: "Model call",
      ServiceCategory: "AI and Machine Learning",
      ServiceName: SELLER,
      ServiceSubcategory: "Generative AI",
      SkuId: model,
      SkuMeter: meterName(of),
      SkuPriceId: [model, of, ...(reasons === "" ? [] : [reasons])].join("/"),
      SubAccountId: entry.keyId ?? "",
      x_Model: model,
      x_TokenType: of,
      x_User: entry.user ?? "",
      x_Estimated: entry.estimated,
      x_RateReasons: reasons,
      x_Unpriced: part.unpriced === true,
      x_Bounded: part.bounded === true,
      x_ServedBy: part.model ?? "",
      x_PriceVersion: explained.version ?? "",
    };
  });
}

/** A whole number of 10⁻¹² as a decimal, without zeros at the end. */
function dollars(pico: bigint): string {
  const sign = pico < 0n ? "-" : "";
  const text = String(pico).replace("-", "").padStart(13, "0");
  return `${sign}${text.slice(0, -12)}.${text.slice(-12)}`.replace(
    /\.?0+$/,
    "",
  );
}
