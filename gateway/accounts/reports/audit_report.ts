/**
 * The results of audits, newest first.
 */
import {
  BOOLEAN,
  field,
  fields,
  INT,
  LIST,
  oneOf,
  type RecordOf,
  TEXT,
  TIME,
} from "../field.ts";
import { insertRow, recordFrom, rowOf } from "../rows/record_rows.ts";
import type { Sql } from "../store/store.ts";
import { type ListPage, type PageRequest } from "../repositories/list_page.ts";
import {
  listById,
  readRows,
  type RepositoryContext,
} from "../repositories/repository.ts";

export const AUDIT = fields({
  id: field(TEXT),
  kind: field(oneOf<"daily" | "full">("daily", "full"), {
    describe:
      "daily: in the background, without a lock; full: by the command line",
  }),
  startedAtMs: field(TIME),
  endedAtMs: field(TIME),
  accounts: field(INT, { describe: "accounts that were audited" }),
  entries: field(INT, {
    describe: "entries of the ledger that were added up; 0 in a full audit",
  }),
  findings: field(LIST, {
    describe: "differences; empty if all sums agree to the micro-dollar",
  }),
});

export interface AuditRecord extends RecordOf<typeof AUDIT> {}

export const ACCOUNT_AUDIT = fields({
  accountId: field(TEXT),
  atMs: field(TIME, { json: "time" }),
  entries: field(INT),
  days: field(BOOLEAN),
  findings: field(LIST),
});

/** The newest daily audit of one account. */
export interface AccountAudit extends RecordOf<typeof ACCOUNT_AUDIT> {}

const MAX_AUDITS = 400;

/** Stores an audit, and removes the oldest. */
export async function insertAudit(
  sql: Sql,
  record: AuditRecord,
): Promise<void> {
  await insertRow(sql, "audits", rowOf(AUDIT, record));
  await sql.all(
    "DELETE FROM audits WHERE id <= (SELECT id FROM audits ORDER BY id DESC LIMIT 1 OFFSET $1)",
    [MAX_AUDITS],
  );
}

export interface AuditReport {
  /** One page, newest first. The cursor is the last audit's id. */
  list(page?: PageRequest): Promise<ListPage<AuditRecord>>;
  /** The newest daily audit of an account; undefined before the first. */
  ofAccount(accountId: string): Promise<AccountAudit | undefined>;
}

export function auditReport(context: RepositoryContext): AuditReport {
  return {
    list: (page = {}) =>
      listById(
        context,
        "audits",
        { ...page, newestFirst: true },
        (row) => recordFrom(AUDIT, row),
      ),
    async ofAccount(accountId) {
      const [row] = await readRows(
        context,
        "SELECT * FROM account_audits WHERE account_id = $1",
        [accountId],
      );
      return row === undefined ? undefined : recordFrom(ACCOUNT_AUDIT, row);
    },
  };
}
