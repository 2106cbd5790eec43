/**
 * What operators do with the accounts: the registers and reports, put together. How an operator says it is `gateway/admin/`.
 *
 * @module
 */
import { type AccountRegister, accountRegister } from "./account_register.ts";
import { audit } from "./audit.ts";
import { furnish } from "./first_start.ts";
import { type KeyRegister, keyRegister } from "./key_register.ts";
import { allEntries, type LedgerQuery, listLedger } from "./ledger_report.ts";
import { type PlanRegister, planRegister } from "./plan_register.ts";
import type { LedgerEntry } from "./records.ts";
import type { Page, RegisterContext } from "./register.ts";
import type { Store } from "./store.ts";
import {
  reportUsage,
  type UsageLine,
  type UsageQuery,
} from "./usage_report.ts";

/** What operators do. */
export interface Admin {
  /** What accounts may do. */
  readonly plans: PlanRegister;
  /** Who pays. */
  readonly accounts: AccountRegister;
  /** Who may call. */
  readonly keys: KeyRegister;
  /** Adds usage up. */
  usage(query: UsageQuery): Promise<Page<UsageLine>>;
  /** A page of the ledger. */
  ledger(query: LedgerQuery): Promise<Page<LedgerEntry>>;
  /** The whole of what a query finds, for exports. */
  allLedger(
    query: LedgerQuery,
  ): AsyncGenerator<readonly LedgerEntry[], void, void>;
  /** What does not add up in the books; empty where all is well. */
  audit(): Promise<readonly string[]>;
}

/** Puts the registers together. */
export function adminOf(context: RegisterContext): Admin {
  return {
    plans: planRegister(context),
    accounts: accountRegister(context),
    keys: keyRegister(context),
    usage: (query) => reportUsage(context, query),
    ledger: (query) => listLedger(context, query),
    allLedger: (query) => allEntries(context, query),
    audit: () => audit(context.store),
  };
}

/**
 * The registers alone, for a program beside the gateway: it makes what a first start makes, but no key, and serves no calls.
 * Gateways that run see its changes as they would another gateway's.
 *
 * @throws {Error} when the store does not answer
 */
export async function openAdmin(
  store: Store,
  knowsModel: (model: string) => boolean,
  now: () => number = Date.now,
): Promise<Admin> {
  await furnish(store, now(), true);
  return adminOf({ store, now, changed: () => {}, knowsModel });
}
