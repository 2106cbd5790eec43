/**
 * What the gateway does to its books in the background, a slice at a time: how much processor time
 * of the main thread each slice takes, which is how long it keeps the event loop on a machine
 * without other work. Runs on the books of `books.ts`.
 *
 * @module
 */
import { removeOldHours } from "../gateway/accounts/ledger/backfill.ts";
import { slicedAudit } from "../gateway/accounts/ledger/sliced_audit.ts";
import { removeOldCalls } from "../gateway/accounts/store/call_rows.ts";
import type { Store } from "../gateway/accounts/store/store.ts";
import { removeEnded } from "../gateway/responses/reply_rows.ts";
import type { Admin } from "../gateway/accounts/repositories/admin.ts";
import { exportLedger } from "../gateway/admin/ledger.ts";
import type { BenchContext } from "./bench.ts";
import { CAN_READ_PROCESSES } from "./cpu_time.ts";
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
  admin: Admin,
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
      } ms${p95Ms > MAX_BLOCK_MS ? "  OVER" : ""}`,
    );
  };
  const audits: number[] = [];
  let startMs = mainThreadMs();
  const audit = slicedAudit({
    store,
    now: () => lastMs,
    pause: () => {
      audits.push(mainThreadMs() - startMs);
      startMs = mainThreadMs();
      return Promise.resolve();
    },
  });
  for await (const { findings: _ } of audit) {
    // Only the times count.
  }
  report("audit", audits);
  for (const format of ["csv", "jsonl", "focus"]) {
    report(`export as ${format}`, await exported(admin, format));
  }
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

/** Processor times of the pages of an export in milliseconds, each with its text. */
async function exported(
  admin: Admin,
  format: string,
): Promise<readonly number[]> {
  const pages = exportLedger(admin, { format }).text[Symbol.asyncIterator]();
  return await repeated(async () => (await pages.next()).done !== true);
}

/** Processor time of this thread so far; where the system does not report it, the time. */
function mainThreadMs(): number {
  return CAN_READ_PROCESSES
    ? Number(Deno.readTextFileSync("/proc/self/schedstat").split(" ")[0]) / 1e6
    : performance.now();
}

/** Processor times of slices in milliseconds, until one finds nothing to do. */
async function repeated(
  slice: () => Promise<number | boolean>,
): Promise<readonly number[]> {
  const tookMs: number[] = [];
  while (tookMs.length < SLICES) {
    const startMs = mainThreadMs();
    const more = await slice();
    if (more === false || more === 0) break;
    tookMs.push(mainThreadMs() - startMs);
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
