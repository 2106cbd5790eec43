/**
 * Audits the books once a day, at 02:00 UTC, in one of the processes, and reports differences.
 */
import { DAY_MS } from "../limits/calendar_window.ts";
import { auditAccounts, type AuditedAccount } from "./account_audit.ts";
import {
  ACCOUNT_AUDIT,
  AUDIT,
  type AuditRecord,
  insertAudit,
} from "../reports/audit_report.ts";
import { newId } from "../repositories/repository.ts";
import {
  insertRows,
  insertStatement,
  type Sql,
  type Store,
} from "../store/store.ts";
import { columnsOf, recordFrom, rowOf } from "../rows/record_rows.ts";
import { startRounds } from "../rounds.ts";
import type { Timer } from "../timer.ts";

interface DailyAuditOptions {
  readonly store: Store;
  /** Current Unix time in milliseconds. */
  readonly now: () => number;
  readonly timer: Timer;
  /** Lease id of this process. */
  readonly leaseId: string;
  /** Called with an audit that found differences. */
  readonly onFindings: (findings: readonly string[]) => void;
  /** Called when an audit could not be made. It is tried again. */
  readonly onFailed: (error: unknown) => void;
}

/** The running schedule. */
interface DailyAudit {
  /** Makes the audit that is due, if no process has made or claimed it. */
  run(): Promise<void>;
  /** The newest daily audit of any process that this one has seen; undefined before the first. */
  last(): AuditRecord | undefined;
  /** Stops it, after the read under way. */
  stop(): Promise<void>;
}

const HOUR_MS = 60 * 60 * 1000;
/** After midnight, when the day before is complete. */
const AT_MS = 2 * HOUR_MS;
const LOOK_MS = 60_000;
/** A process that ends in its audit leaves it to another after this time. */
const CLAIM_MS = 120_000;
const ACCOUNTS_A_WRITE = 100;
const MAX_FINDINGS = 100;

const INTO_ACCOUNT_AUDITS = insertStatement(
  "account_audits",
  columnsOf(ACCOUNT_AUDIT),
  "ON CONFLICT (account_id) DO UPDATE SET at_ms = excluded.at_ms, entries = excluded.entries, " +
    "days = excluded.days, findings = excluded.findings",
);

class Stopped extends Error {}

/** Starts the schedule. The first look is a minute after the start. */
export function startDailyAudit(options: DailyAuditOptions): DailyAudit {
  const { store, now, timer } = options;
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;
  let last: AuditRecord | undefined;

  const goOn = (): void => {
    if (isStopped) throw new Stopped();
  };

  const look = async (): Promise<void> => {
    const dueMs = Math.floor((now() - AT_MS) / DAY_MS) * DAY_MS + AT_MS;
    if (await claim(options, dueMs)) {
      const record = await makeAudit(options, goOn, dueMs);
      if (record.findings.length > 0) options.onFindings(record.findings);
    }
    last = await newest(store) ?? last;
  };
  const run = (): Promise<void> =>
    running = running.then(look).catch((error) => {
      if (!(error instanceof Stopped)) options.onFailed(error);
    });
  const rounds = startRounds(timer, LOOK_MS, async () => {
    await run();
    return LOOK_MS;
  });
  return {
    run,
    last: () => last,
    async stop() {
      isStopped = true;
      await rounds.stop();
      await running;
    },
  };
}

/** Claims the audit that is due, so that one process makes it. */
async function claim(
  { store, now, leaseId }: DailyAuditOptions,
  dueMs: number,
): Promise<boolean> {
  const [turn] = await store.read(
    "SELECT id FROM audit_turn WHERE done_ms < $1 AND claimed_until_ms < $2",
    [dueMs, now()],
  );
  if (turn === undefined) return false;
  const rows = await store.write((sql) =>
    sql.all(
      "UPDATE audit_turn SET claimed_until_ms = $3, claimed_by = $4 WHERE done_ms < $1 AND claimed_until_ms < $2 RETURNING id",
      [dueMs, now(), now() + CLAIM_MS, leaseId],
    )
  );
  return rows.length > 0;
}

async function makeAudit(
  options: DailyAuditOptions,
  goOn: () => void,
  dueMs: number,
): Promise<AuditRecord> {
  const { store, now, leaseId } = options;
  const startedAtMs = now();
  let renewedMs = startedAtMs;
  const findings: string[] = [];
  let accounts = 0;
  let entries = 0;
  let batch: AuditedAccount[] = [];
  const storeBatch = async (): Promise<void> => {
    const written = batch;
    batch = [];
    await store.write((sql) => insertResults(sql, store, written, now()));
  };
  const audit = auditAccounts({
    store,
    async onRead() {
      goOn();
      if (now() - renewedMs < CLAIM_MS / 4) return;
      renewedMs = now();
      await store.write((sql) =>
        sql.all(
          "UPDATE audit_turn SET claimed_until_ms = $1 WHERE claimed_by = $2",
          [renewedMs + CLAIM_MS, leaseId],
        )
      );
    },
  });
  for await (const account of audit) {
    accounts++;
    entries += account.entries;
    findings.push(
      ...account.findings.map((one) => `${account.accountId}: ${one}`),
    );
    batch.push(account);
    if (batch.length >= ACCOUNTS_A_WRITE) await storeBatch();
  }
  const record: AuditRecord = {
    id: newId("audit", startedAtMs),
    kind: "daily",
    startedAtMs,
    endedAtMs: now(),
    accounts,
    entries,
    findings: findings.slice(0, MAX_FINDINGS),
  };
  await store.write(async (sql) => {
    await insertResults(sql, store, batch, now());
    await insertAudit(sql, record);
    await sql.all(
      "UPDATE audit_turn SET done_ms = $1, claimed_until_ms = 0 WHERE done_ms < $1",
      [dueMs],
    );
  });
  return record;
}

async function insertResults(
  sql: Sql,
  { dialect }: Store,
  accounts: readonly AuditedAccount[],
  atMs: number,
): Promise<void> {
  await insertRows(
    sql,
    dialect,
    INTO_ACCOUNT_AUDITS,
    accounts.map((account) => rowOf(ACCOUNT_AUDIT, { ...account, atMs })),
  );
}

async function newest(store: Store): Promise<AuditRecord | undefined> {
  const [row] = await store.read(
    "SELECT * FROM audits WHERE kind = 'daily' ORDER BY id DESC LIMIT 1",
  );
  return row === undefined ? undefined : recordFrom(AUDIT, row);
}
