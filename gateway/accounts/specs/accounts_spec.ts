/**
 * Tests of the account service that every store must pass; the tests are in the `*_spec.ts` files
 * that it registers.
 */
import assert from "node:assert/strict";
import { administrationSpec } from "./administration_spec.ts";
import { audit } from "../audits/audit.ts";
import { auditsSpec } from "./audits_spec.ts";
import { callsSpec } from "./calls_spec.ts";
import { changesSpec } from "./changes_spec.ts";
import { consoleSpec } from "./console_spec.ts";
import { countsSpec } from "./counts_spec.ts";
import { keysSpec } from "./keys_spec.ts";
import { keyLimitsSpec } from "./key_limits_spec.ts";
import { limitsSpec } from "./limits_spec.ts";
import {
  openTestAccounts,
  type TestClock,
  testClock,
} from "../testing/open_test_accounts.ts";
import { webhooksSpec } from "./webhooks_spec.ts";
import { rateCardsSpec } from "./rate_cards_spec.ts";
import type { OpenedAccounts } from "../service.ts";
import type { Store } from "../store/store.ts";
import type { TestStore } from "../testing/stores.ts";

export interface TestAccounts extends OpenedAccounts {
  readonly store: Store;
  readonly clock: TestClock;
}

/** Registers a test on newly opened accounts. Afterwards the ledger must balance. */
export type AccountsTest = (
  name: string,
  run: (accounts: TestAccounts) => Promise<void>,
) => void;

export function accountsSpec(kind: TestStore): void {
  const test: AccountsTest = (name, run) => {
    Deno.test(`${kind.name}: ${name}`, async () => {
      await using database = await kind.createDatabase();
      const store = await database.open();
      const clock = testClock();
      await using opened = await openTestAccounts(store, clock);
      await run({ ...opened, store, clock });
      await opened.flush();
      assert.deepEqual(await audit(store), []);
    });
  };
  keysSpec(test, kind);
  callsSpec(test);
  rateCardsSpec(test, kind);
  limitsSpec(test);
  countsSpec(test, kind);
  keyLimitsSpec(test);
  webhooksSpec(test);
  administrationSpec(test);
  consoleSpec(test);
  changesSpec(test);
  auditsSpec(test);
}
