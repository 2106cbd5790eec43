/**
 * The daily audit of the books: tests that every store must pass.
 */
import assert from "node:assert/strict";
import type { AccountsTest, TestAccounts } from "./accounts_spec.ts";
import {
  callWhole,
  createTestCaller,
  openTestAccounts,
  staysOpen,
  type TestCaller,
} from "../testing/open_test_accounts.ts";
import { auditAccounts } from "../audits/account_audit.ts";
import type { AccountsEvent } from "../service.ts";
import { intOf, type Store } from "../store/store.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** An account with charges of two days, top-ups, and a model with a balance of its own. */
async function withEntries(opened: TestAccounts): Promise<TestCaller> {
  const caller = await createTestCaller(opened);
  await opened.admin.accounts.topUp(caller.accountId, {
    microUsd: 500,
    model: "large",
  });
  for (let at = 0; at < 4; at++) {
    for (const model of ["small", "large"]) {
      await callWhole(opened.accounts, caller.caller, [10, 5], { model });
    }
    await opened.flush();
    opened.clock.ms += DAY_MS;
  }
  return caller;
}

async function entriesIn(store: Store): Promise<number> {
  const [row] = await store.read(
    "SELECT CAST(COUNT(*) AS BIGINT) AS entries FROM ledger",
  );
  assert.ok(row !== undefined);
  return intOf(row, "entries");
}

async function findingsOf(
  { store }: TestAccounts,
  rows = 3,
  onRead: () => Promise<void> = () => Promise.resolve(),
): Promise<readonly string[]> {
  const accounts = await Array.fromAsync(
    auditAccounts({ store, onRead, rows }),
  );
  return accounts.flatMap(({ accountId, findings }) =>
    findings.map((one) => `${accountId}: ${one}`)
  );
}

export function auditsSpec(test: AccountsTest): void {
  test("an audit adds up every entry, and finds nothing in books that balance", async (opened) => {
    const { admin, store, clock } = opened;
    const { accountId } = await withEntries(opened);
    assert.equal(await admin.audits.ofAccount(accountId), undefined);
    await opened.runAudit();
    const { data: [audit] } = await admin.audits.list();
    assert.ok(audit !== undefined);
    assert.deepEqual(audit.findings, []);
    assert.equal(audit.entries, await entriesIn(store));
    assert.deepEqual(opened.lastAudit(), audit);
    assert.deepEqual(await admin.audits.ofAccount(accountId), {
      accountId,
      atMs: clock.ms,
      entries: audit.entries,
      days: true,
      findings: [],
    });
  });

  test("an audit finds a balance, an entry and a day that were changed", async (opened) => {
    const { store } = opened;
    const { accountId } = await withEntries(opened);
    const ofAccount = `account_id = '${accountId}'`;
    const newest =
      `seq = (SELECT MAX(seq) FROM ledger WHERE ${ofAccount} AND purse = '')`;
    for (
      const [table, column, where, ...expected] of [
        [
          "accounts",
          "balance_micro_usd",
          `id = '${accountId}'`,
          /: the balance differs from the sum of the ledger: \d+ stored/,
        ],
        [
          "ledger",
          "micro_usd",
          newest,
          /: the balance differs/,
          /: the usage by day differs/,
        ],
        [
          "usage_days",
          "micro_usd",
          `${ofAccount} AND model = 'small'`,
          /: the usage by day differs/,
        ],
        [
          "purses",
          "balance_micro_usd",
          `${ofAccount} AND model = 'large'`,
          /: the balance of large differs .*: 421 stored/,
        ],
      ] as const
    ) {
      const add = (amount: number): Promise<unknown> =>
        store.write((sql) =>
          sql.all(
            `UPDATE ${table} SET ${column} = ${column} + ${amount} WHERE ${where}`,
          )
        );
      await add(1);
      const findings = await findingsOf(opened);
      assert.equal(findings.length, expected.length, findings.join("\n"));
      for (const [at, pattern] of expected.entries()) {
        assert.match(findings[at] ?? "", pattern);
        assert.ok(findings[at]?.startsWith(`${accountId}: `));
      }
      await add(-1);
      assert.deepEqual(await findingsOf(opened), []);
    }
  });

  test("calls and top-ups during an audit make no difference", async (opened) => {
    const caller = await withEntries(opened);
    let reads = 0;
    const findings = await findingsOf(opened, 2, async () => {
      if (reads++ >= 12) return;
      await callWhole(opened.accounts, caller.caller, [10, 5]);
      await opened.admin.accounts.topUp(caller.accountId, { microUsd: 3 });
      await opened.flush();
    });
    // The audit read the ledger, and the accounts, in several slices.
    assert.ok(reads > 4);
    assert.deepEqual(findings, []);
  });

  test("of several processes one makes the audit of a day, and another that of a dead one", async (opened) => {
    const { admin, store, clock } = opened;
    await using other = await openTestAccounts(staysOpen(store), clock);
    const made = async (): Promise<number> =>
      (await admin.audits.list()).data.length;
    await Promise.all([opened.runAudit(), other.runAudit()]);
    await other.runAudit();
    assert.equal(await made(), 1);
    assert.deepEqual(other.lastAudit(), (await admin.audits.list()).data[0]);
    clock.ms += DAY_MS;
    await store.write((sql) =>
      sql.all(
        "UPDATE audit_turn SET claimed_until_ms = $1, claimed_by = 'dead'",
        [clock.ms + 1000],
      )
    );
    await opened.runAudit();
    assert.equal(await made(), 1);
    clock.ms += 1001;
    await opened.runAudit();
    assert.equal(await made(), 2);
  });

  test("an audit that finds differences raises an alarm", async ({ store, clock }) => {
    const events: AccountsEvent[] = [];
    await using opened = await openTestAccounts(staysOpen(store), clock, {
      onEvent: (event) => events.push(event),
    });
    const set = (microUsd: number): Promise<unknown> =>
      store.write((sql) =>
        sql.all("UPDATE accounts SET balance_micro_usd = $1", [microUsd])
      );
    await set(5);
    await opened.runAudit();
    // A store under load may report other events as well.
    assert.deepEqual(
      events.filter(({ type }) => type === "audit_differences"),
      [{
        type: "audit_differences",
        count: 1,
        findings: [
          "default: the balance differs from the sum of the ledger: 5 stored, 0 computed",
        ],
      }],
    );
    assert.equal(opened.lastAudit()?.findings.length, 1);
    assert.equal(
      (await opened.admin.audits.ofAccount("default"))?.findings.length,
      1,
    );
    await set(0);
  });

  test("an audit under way does not delay the end of the process", async ({ store, clock }) => {
    const reading = Promise.withResolvers<void>();
    const closing = Promise.withResolvers<void>();
    const opened = await openTestAccounts({
      ...staysOpen(store),
      async report(text, values) {
        reading.resolve();
        await closing.promise;
        return await store.report(text, values);
      },
    }, clock);
    const audit = opened.runAudit();
    await reading.promise;
    const closed = opened.accounts.close();
    closing.resolve();
    await closed;
    await audit;
    assert.deepEqual((await opened.admin.audits.list()).data, []);
  });

  test("the command line's audit is listed beside the daily ones", async ({ admin }) => {
    assert.deepEqual(await admin.audit(), []);
    const { data: [audit] } = await admin.audits.list();
    assert.equal(audit?.kind, "full");
    assert.equal(audit.accounts, 1);
    assert.deepEqual(audit.findings, []);
  });
}
