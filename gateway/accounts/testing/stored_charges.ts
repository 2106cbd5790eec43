/**
 * Writes charges into a store, with their roll-ups, as calls of the past left them.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { Usage } from "../../../translate/model/reply.ts";
import { chargeLines, costOfLines } from "../charges/charge_lines.ts";
import { costMicroUsd, type Tokens } from "../charges/money.ts";
import type { RateCard } from "../charges/rate_card.ts";
import { addLedgerDays } from "../rows/ledger_day_rows.ts";
import { insertEntries, type NewEntry } from "../rows/ledger_rows.ts";
import { addUsage } from "../rows/usage_rows.ts";
import type { Store } from "../store/store.ts";

/** A call that was settled; absent fields have usual values. */
export interface PastCharge {
  readonly requestId: string;
  readonly accountId?: string;
  readonly keyId?: string;
  readonly model: string;
  readonly user?: string;
  readonly tokens: Tokens;
  readonly price: RateCard;
  /** What the upstream reported beside the tokens; absent: nothing. */
  readonly usage?: Usage;
  readonly estimated?: boolean;
  readonly atMs: number;
}

/** Writes the charges, the oldest first. */
export async function storeCharges(
  store: Store,
  charges: readonly PastCharge[],
): Promise<void> {
  const entries = charges.map((charge): NewEntry => {
    const lines = chargeLines(charge.price, charge.tokens, charge.usage ?? {});
    return {
      type: "charge",
      balanceModel: "",
      atMs: charge.atMs,
      call: {
        requestId: charge.requestId,
        accountId: charge.accountId ?? "default",
        keyId: charge.keyId ?? "key_1",
        model: charge.model,
        ...compact({ user: charge.user }),
        inputTokens: charge.tokens.input,
        maxOutputTokens: charge.tokens.output,
        price: charge.price,
        reservedMicroUsd: 0,
        atMs: charge.atMs,
      },
      charge: {
        tokens: charge.tokens,
        reasoningTokens: 0,
        estimated: charge.estimated === true,
        ended: "complete",
        costMicroUsd: lines === undefined
          ? costMicroUsd(charge.price, charge.tokens)
          : costOfLines(lines),
        ...compact({ lines }),
      },
    };
  });
  const { dialect } = store;
  for (let from = 0; from < entries.length; from += 1000) {
    const some = entries.slice(from, from + 1000);
    await store.write(async (sql) => {
      await insertEntries(sql, dialect, some);
      await addLedgerDays(sql, dialect, some);
      await addUsage(sql, dialect, some);
    });
  }
}
