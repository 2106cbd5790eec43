/**
 * How much of a prompt's tokens came from caches, and what that saved at today's prices.
 *
 * @module
 */
import type { ModelPrice } from "../../../gateway/accounts/ledger/money.ts";
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import type { UsageQuery } from "../../../gateway/accounts/repositories/usage_query.ts";
import type { UsageLine } from "../../../gateway/accounts/repositories/usage_report.ts";

/** Tokens of prompts, and what caches changed. */
export interface CacheUse {
  readonly promptTokens: number;
  readonly readTokens: number;
  /** Reads at the price of input minus their own, less what writes cost more; absent: a model has no price. */
  readonly savedMicroUsd?: number;
}

/** Adds up lines that have a model each. */
function cacheUse(
  lines: readonly UsageLine[],
  priceOf: (model: string) => ModelPrice | undefined,
): CacheUse {
  let [promptTokens, readTokens, saved] = [0, 0, 0];
  let isPriced = true;
  for (const line of lines) {
    const { inputTokens, cacheReadTokens, cacheWriteTokens } = line;
    promptTokens += inputTokens + cacheReadTokens + cacheWriteTokens;
    readTokens += cacheReadTokens;
    if (cacheReadTokens + cacheWriteTokens === 0) continue;
    const price = priceOf(line.model ?? "");
    if (price === undefined) isPriced = false;
    else {
      saved += cacheReadTokens * (price.input - price.cacheRead) -
        cacheWriteTokens * (price.cacheWrite - price.input);
    }
  }
  return {
    promptTokens,
    readTokens,
    ...(isPriced ? { savedMicroUsd: Math.round(saved / 1e6) } : {}),
  };
}

/** The use of caches by model or key, by its name or id. */
export async function cacheUses(
  admin: Pick<Admin, "usage">,
  query: UsageQuery,
  by: "model" | "key",
  priceOf: (model: string) => ModelPrice | undefined,
): Promise<ReadonlyMap<string, CacheUse>> {
  const { data } = await admin.usage({
    ...query,
    by: by === "model" ? ["model"] : ["key", "model"],
    limit: 1000,
  });
  const groups = new Map<string, UsageLine[]>();
  for (const line of data) {
    const name = (by === "model" ? line.model : line.keyId) ?? "";
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [line]);
    else group.push(line);
  }
  return new Map(
    [...groups].map(([name, lines]) => [name, cacheUse(lines, priceOf)]),
  );
}
