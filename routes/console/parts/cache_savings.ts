/**
 * How much of a prompt's tokens came from caches, and what that saved at today's prices.
 */
import type { ModelPrice } from "../../../gateway/accounts/charges/money.ts";
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import type { CachedTokens } from "../../../gateway/accounts/reports/cached_tokens.ts";
import type { UsageQuery } from "../../../gateway/accounts/reports/usage_query.ts";
import type {
  UsageLine,
  UsageReport,
  UsageTotals,
} from "../../../gateway/accounts/reports/usage_report.ts";

/** Tokens of prompts, and what caches changed. */
export interface CacheUse {
  readonly promptTokens: number;
  readonly readTokens: number;
  /** Input's price minus the reads' own, less the surcharge of writes; absent: no price. */
  readonly savedMicroUsd?: number;
}

/** The use of caches of each line of a report, and of all of them. */
export interface CacheUses {
  readonly all: CacheUse;
  of(line: UsageLine): CacheUse;
}

type PriceOf = (model: string) => ModelPrice | undefined;

function cacheUse(
  { inputTokens, cacheReadTokens, cacheWriteTokens }: UsageTotals,
  cached: readonly Omit<CachedTokens, "keyId">[],
  priceOf: PriceOf,
): CacheUse {
  let [saved, isPriced] = [0, true];
  for (const { model, cacheReadTokens, cacheWriteTokens } of cached) {
    if (cacheReadTokens + cacheWriteTokens === 0) continue;
    const price = priceOf(model);
    if (price === undefined) isPriced = false;
    else {
      saved += cacheReadTokens * (price.input - price.cacheRead) -
        cacheWriteTokens * (price.cacheWrite - price.input);
    }
  }
  return {
    promptTokens: inputTokens + cacheReadTokens + cacheWriteTokens,
    readTokens: cacheReadTokens,
    ...(isPriced ? { savedMicroUsd: Math.round(saved / 1e6) } : {}),
  };
}

/** The use of caches of the lines of a report by model or key. */
export async function cacheUses(
  admin: Pick<Admin, "cachedTokens">,
  query: UsageQuery,
  { by, report, shown, priceOf }: {
    readonly by: "model" | "key";
    readonly report: UsageReport;
    readonly shown: readonly UsageLine[];
    readonly priceOf: PriceOf;
  },
): Promise<CacheUses> {
  const { data, next, totals } = report;
  // Lines of models have all that is needed.
  const cached: readonly CachedTokens[] = by === "model" && next === undefined
    ? data.map(({ model = "", ...line }) => ({ ...line, model }))
    : await admin.cachedTokens(query, shown.map(({ keyId = "" }) => keyId));
  const byKey = Map.groupBy(cached, ({ keyId }) => keyId);
  return {
    all: cacheUse(totals, cached, priceOf),
    of: ({ keyId, model = "", ...line }) =>
      cacheUse(
        line,
        by === "model" ? [{ ...line, model }] : byKey.get(keyId) ?? [],
        priceOf,
      ),
  };
}
