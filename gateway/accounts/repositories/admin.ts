/**
 * The administration of the accounts: repositories and reports behind one interface.
 * `gateway/admin/` maps it to operations.
 */
import {
  type AccountRepository,
  accountRepository,
} from "./account_repository.ts";
import {
  type AccountListQuery,
  listAccounts,
  type ListedAccount,
} from "../reports/account_list.ts";
import type { Actor } from "../changes/change.ts";
import {
  type CallHealth,
  callHealth,
  type CallHealthQuery,
  callHealths,
  callsCountedFrom,
} from "../reports/call_health.ts";
import { type CallReport, callReport } from "../reports/call_report.ts";
import {
  type ChangeRepository,
  changeRepository,
} from "./change_repository.ts";
import {
  type CredentialState,
  credentialState,
  keyStates,
} from "./credential_state.ts";
import {
  type FailedAttempts,
  failedAttempts,
} from "../reports/failed_attempts.ts";
import {
  findByPart,
  type FindScope,
  type Found,
} from "../reports/find_by_part.ts";
import {
  estimatedKeys,
  type EstimatedSpending,
} from "../reports/estimated_keys.ts";
import { fullestLimits, type HeldLimit } from "../reports/fullest_limits.ts";
import type { KeyState } from "../ledger/key_state.ts";
import type { Holder } from "../credential_kind.ts";
import { costOfKeys, type KeyCostQuery } from "../reports/cost_of_keys.ts";
import {
  type UsageSeries,
  usageSeries,
  type UsageSeriesQuery,
} from "../reports/usage_series.ts";
import { audit } from "../audits/audit.ts";
import {
  type AuditReport,
  auditReport,
  insertAudit,
} from "../reports/audit_report.ts";
import { seedDefaults } from "../seed_defaults.ts";
import { type KeyListQuery, listKeys } from "../reports/key_list.ts";
import { type KeyRepository, keyRepository } from "./key_repository.ts";
import {
  allEntries,
  listLedger,
  rankedLedger,
  readVendors,
} from "../reports/ledger_report.ts";
import type { LedgerQuery } from "../reports/ledger_walk.ts";
import type { RankedPage, RankedRange } from "../reports/ranked.ts";
import {
  type OperatorTokenRepository,
  operatorTokenRepository,
} from "./operator_token_repository.ts";
import { type PlanRepository, planRepository } from "./plan_repository.ts";
import {
  type SessionRepository,
  sessionRepository,
} from "./session_repository.ts";
import {
  type SignInCodeRepository,
  signInCodeRepository,
} from "./sign_in_code_repository.ts";
import { type TokenRepository, tokenRepository } from "./token_repository.ts";
import type { KeyRecord, LedgerEntry } from "../records.ts";
import { type ListPage } from "./list_page.ts";
import { newId, readReport, type RepositoryContext } from "./repository.ts";
import { intOf, type Store } from "../store/store.ts";
import { type CachedTokens, cachedTokens } from "../reports/cached_tokens.ts";
import type { UsageQuery } from "../reports/usage_query.ts";
import {
  hasUsage,
  reportUsage,
  type UsageReport,
} from "../reports/usage_report.ts";
import {
  type WebhookRepository,
  webhookRepository,
} from "./webhook_repository.ts";

export interface Admin {
  /**
   * The same administration; its changes are recorded as made by `actor` instead of the gateway.
   */
  as(actor: Actor): Admin;
  readonly changes: ChangeRepository;
  readonly plans: PlanRepository;
  readonly accounts: AccountRepository;
  readonly keys: KeyRepository;
  readonly webhooks: WebhookRepository;
  /** Administration of account tokens. */
  readonly tokens: TokenRepository;
  readonly operatorTokens: OperatorTokenRepository;
  readonly signInCodes: SignInCodeRepository;
  readonly sessions: SessionRepository;
  /** Reads the state on which a credential's calls are decided. */
  state(holder: Holder): Promise<CredentialState>;
  /** Reads the use of the limits of the keys that have limits, by key id. */
  keyStates(ids: readonly string[]): Promise<ReadonlyMap<string, KeyState>>;
  fullestLimits(count: number): Promise<readonly HeldLimit[]>;
  /** Today's keys whose estimates are more than a percentage of what they spent. */
  estimatedKeys(
    percent: number,
    count: number,
  ): Promise<readonly EstimatedSpending[]>;
  /** Sums up usage. */
  usage(query: UsageQuery): Promise<UsageReport>;
  /** Sums up the cost of each day for a plot. */
  usageSeries(query: UsageSeriesQuery): Promise<UsageSeries>;
  /** Whether a query without end users has any usage. */
  hasUsage(query: UsageQuery): Promise<boolean>;
  /** Sums up the tokens of caches by key and model. */
  cachedTokens(
    query: UsageQuery,
    keyIds: readonly string[],
  ): Promise<readonly CachedTokens[]>;
  /** Sums up the cost of some keys. */
  costOfKeys(query: KeyCostQuery): Promise<ReadonlyMap<string, number>>;
  ledger(query: LedgerQuery): Promise<ListPage<LedgerEntry>>;
  /** Reads a page of the newest entries of a query, by amount. */
  rankedLedger(
    query: LedgerQuery & { readonly scanLimit: number },
    range: Omit<RankedRange<string>, "by">,
  ): Promise<RankedPage<LedgerEntry>>;
  /** Reads all matching ledger entries, page by page; for exports. */
  allLedger(
    query: LedgerQuery,
  ): AsyncGenerator<readonly LedgerEntry[], void, void>;
  /** See {@linkcode readVendors}. */
  vendorsOf(
    requestIds: readonly string[],
  ): Promise<ReadonlyMap<string, string>>;
  /** Lists accounts with what they spent, in any order. */
  listAccounts(
    query: AccountListQuery,
  ): Promise<
    { readonly data: readonly ListedAccount[]; readonly hasMore: boolean }
  >;
  /** Lists keys in any order. */
  listKeys(
    query: KeyListQuery,
  ): Promise<
    { readonly data: readonly KeyRecord[]; readonly hasMore: boolean }
  >;
  /** Finds accounts, keys, end users and calls that contain a text. */
  find(text: string, scope?: FindScope): Promise<Found>;
  readonly calls: CallReport;
  /** How the calls of a span of time went, in Unix milliseconds of whole minutes. */
  callHealth(fromMs: number, toMs: number): Promise<CallHealth>;
  /** The same of an account, key or model, and of each step, model, key or account. */
  callHealths(
    query: CallHealthQuery,
  ): Promise<ReadonlyMap<string, CallHealth>>;
  /** From which hour or day on {@linkcode Admin.callHealths} has the calls. */
  callsCountedFrom(step: "hour" | "day"): Promise<number | undefined>;
  /** The attempts that failed at their upstreams. */
  readonly failedAttempts: FailedAttempts;
  readonly audits: AuditReport;
  /**
   * Recomputes every stored sum on one state of the store, and stores the result.
   * Returns the differences; empty if there are none.
   */
  audit(): Promise<readonly string[]>;
}

const LACKS_LOG =
  "the store: its file was copied while a process used it, and its -wal is not there: entries are missing at the end";

/**
 * Creates the administration on a store. `flushCalls` writes the records of calls that are in
 * memory.
 */
export function createAdmin(
  context: RepositoryContext,
  flushCalls?: () => Promise<void>,
): Admin {
  return {
    as: (actor) => createAdmin({ ...context, actor }, flushCalls),
    changes: changeRepository(context),
    calls: callReport(context, flushCalls),
    listAccounts: (query) => listAccounts(context, query),
    listKeys: (query) => listKeys(context, query),
    find: (text, scope) => findByPart(context, text, scope),
    callHealth: (fromMs, toMs) => callHealth(context, fromMs, toMs),
    callHealths: (query) => callHealths(context, query),
    callsCountedFrom: (step) => callsCountedFrom(context, step),
    failedAttempts: failedAttempts(context),
    plans: planRepository(context),
    accounts: accountRepository(context),
    keys: keyRepository(context),
    webhooks: webhookRepository(context),
    tokens: tokenRepository(context),
    operatorTokens: operatorTokenRepository(context),
    signInCodes: signInCodeRepository(context),
    sessions: sessionRepository(context),
    state: (holder) => credentialState(context, holder),
    keyStates: (ids) => keyStates(context, ids),
    fullestLimits: (count) => fullestLimits(context, count),
    estimatedKeys: (percent, count) =>
      estimatedKeys({ all: (...of) => readReport(context, ...of) }, {
        percent,
        count,
        nowMs: context.now(),
      }),
    usage: (query) => reportUsage(context, query),
    usageSeries: (query) => usageSeries(context, query),
    hasUsage: (query) => hasUsage(context, query),
    cachedTokens: (query, keyIds) => cachedTokens(context, query, keyIds),
    costOfKeys: (query) => costOfKeys(context, query),
    ledger: (query) => listLedger(context, query),
    rankedLedger: (query, range) => rankedLedger(context, query, range),
    allLedger: (query) => allEntries(context, query),
    vendorsOf: (requestIds) => readVendors(context, requestIds),
    audits: auditReport(context),
    async audit() {
      const startedAtMs = context.now();
      const findings = [
        ...(context.store.lacksLog === true ? [LACKS_LOG] : []),
        ...await audit(context.store),
      ];
      await context.store.write(async (sql) => {
        const [row] = await sql.all(
          "SELECT CAST(COUNT(*) AS BIGINT) AS accounts FROM accounts",
        );
        await insertAudit(sql, {
          id: newId("audit", startedAtMs),
          kind: "full",
          startedAtMs,
          endedAtMs: context.now(),
          accounts: row === undefined ? 0 : intOf(row, "accounts"),
          entries: 0,
          findings,
        });
      });
      return findings;
    },
  };
}

/**
 * Opens the administration without the account service, for the command line. Seeds an
 * empty store, except for the key. Running gateways see its changes like those of another
 * gateway.
 *
 * @throws {Error} if the store does not answer
 */
export async function openAdmin(
  store: Store,
  knowsModel: (model: string) => boolean,
  now: () => number = () => store.clock.now(),
): Promise<Admin> {
  await seedDefaults(store, now(), true);
  return createAdmin({ store, now, onChange: () => {}, knowsModel });
}
