/**
 * What the gateway does to its books in the background, a slice at a time: how long each slice
 * keeps the event loop. Runs on the books of `books.ts`.
 *
 * @module
 */
import { removeOldHours } from "../gateway/accounts/ledger/backfill.ts";
import { slicedAudit } from "../gateway/accounts/ledger/sliced_audit.ts";
import { removeOldCalls } from "../gateway/accounts/store/call_rows.ts";
import type { Store } from "../gateway/accounts/store/store.ts";
import { removeEnded } from "../gateway/responses/reply_rows.ts";
import type { BenchContext } from "./bench.ts";
import { MAX_BLOCK_MS } from "./goals.ts";
import { quantile } from "./statistics.ts";

const DAY_MS = 86_400_000;
const SLICES = 200;
/** Stored replies, with two items each. */
const REPLIES = 20_000;
const REPLY_BYTES = 4_000;

/** Measures the slices; removes rows of the store. */
export async function measureSlices(
  store: Store,
  lastMs: number,
  { print, record }: BenchContext,
): Promise<void> {
  const report = (slice: string, tookMs: readonly number[]): void => {
    const medianMs = quantile(tookMs, 0.5);
    const p95Ms = quantile(tookMs, 0.95);
    record?.({ slice, slices: tookMs.length, medianMs, p95Ms });
    print(
      `${slice.padEnd(36)} ${
        String(tookMs.length).padStart(6)
      } slices, median ${medianMs.toFixed(1).padStart(5)} ms, 95 % ${
        p95Ms.toFixed(1).padStart(5)
      } ms${medianMs > MAX_BLOCK_MS ? "  OVER" : ""}`,
    );
  };
  const audits: number[] = [];
  const audit = slicedAudit({
    store,
    now: () => lastMs,
    pause: (tookMs) => {
      audits.push(tookMs);
      return Promise.resolve();
    },
  });
  for await (const { findings: _ } of audit) {
    // Only the durations count.
  }
  report("audit", audits);
  report(
    "removal of old calls",
    await repeated(() =>
      store.write((sql) =>
        removeOldCalls(sql, lastMs - DAY_MS, Number.MAX_SAFE_INTEGER)
      )
    ),
  );
  report(
    "removal of old hours",
    await repeated(() => removeOldHours(store, lastMs + 60 * DAY_MS)),
  );
  await fillReplies(store, lastMs);
  report(
    "removal of stored replies",
    await repeated(() =>
      store.write((sql) =>
        removeEnded(sql, store.dialect, { oldestMs: lastMs, nowMs: lastMs })
      )
    ),
  );
}

/** Durations of slices in milliseconds, until one finds nothing to do. */
async function repeated(
  slice: () => Promise<number | boolean>,
): Promise<readonly number[]> {
  const tookMs: number[] = [];
  while (tookMs.length < SLICES) {
    const startMs = performance.now();
    const more = await slice();
    if (more === false || more === 0) break;
    tookMs.push(performance.now() - startMs);
  }
  return tookMs;
}

async function fillReplies(store: Store, lastMs: number): Promise<void> {
  await store.write(async (sql) => {
    const numbers =
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${REPLIES})`;
    await sql.all(
      `${numbers}
       INSERT INTO stored_replies (address, account_id, key_id, at_ms, bytes, reply_bytes, input, reply)
       SELECT hex(randomblob(16)) || i, 'account_' || (i % 51), 'key_' || (i % 204), ${
        lastMs - DAY_MS
      } + i, ${REPLY_BYTES}, ${REPLY_BYTES / 2}, hex(randomblob(${
        REPLY_BYTES / 4
      })), hex(randomblob(${REPLY_BYTES / 4})) FROM n`,
    );
    await sql.all(
      "INSERT INTO stored_items (address, reply) " +
        "SELECT hex(randomblob(16)), address FROM stored_replies UNION ALL " +
        "SELECT hex(randomblob(16)), address FROM stored_replies",
    );
  });
}
