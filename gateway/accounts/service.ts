/**
 * The account service: puts together authentication, admission, the ledger and the
 * background tasks.
 */
import { compact } from "../../translate/bytes/compact.ts";
import { ApiError } from "../../translate/model/error.ts";
import { type Accounts, type Caller, RefusedCall } from "./accounts.ts";
import { type Admin, createAdmin } from "./repositories/admin.ts";
import { notInPlan } from "./ledger/admission.ts";
import {
  type CallBook,
  type CallBookOptions,
  openCallBook,
} from "./calls/call_book.ts";
import { applyEvents } from "./ledger/transaction.ts";
import { EstimateLimit } from "./limits/estimate_limit.ts";
import { Foresight } from "./ledger/foresight.ts";
import { WriteCache } from "./ledger/write_cache.ts";
import { createAuthenticator } from "./authenticator.ts";
import { wholeTokens } from "./charges/charge.ts";
import { startBackfill } from "./ledger/backfill.ts";
import { startDailyAudit } from "./audits/daily_audit.ts";
import { seedDefaults } from "./seed_defaults.ts";
import { writeBatcher, type WrittenBatch } from "./ledger/write_batcher.ts";
import { writeAccounts } from "./ledger/account_writes.ts";
import { accountOf, type LedgerEvent } from "./ledger/events.ts";
import { startHeartbeat } from "./ledger/lease.ts";
import type { RateCard } from "./charges/rate_card.ts";
import { askedPrice, worstCostMicroUsd } from "./charges/worst_cost.ts";
import type { ReservedCall } from "./records.ts";
import { CountRights } from "./count_rights.ts";
import { openReservation } from "./reservation.ts";
import {
  type ProcessReports,
  processReports,
} from "./reports/process_reports.ts";
import type { AuditRecord } from "./reports/audit_report.ts";
import { newId } from "./repositories/repository.ts";
import type { ParallelWrites, Replica, Store } from "./store/store.ts";
import { type StoreSchema, watchSchema } from "./store/schema_watch.ts";
import { MAX_CLOCK_DIFFERENCE_MS } from "./store/store_clock.ts";
import { startTimer, type Timer } from "./timer.ts";
import { startDeliveries } from "./webhooks/deliveries.ts";
import { postWebhook } from "./webhooks/post_webhook.ts";
import type { Way } from "../upstream/http/way.ts";

export interface AccountsOptions {
  /** From {@linkcode openStore}. Closed together with the accounts. */
  readonly store: Store;
  /**
   * The card of a model that counts at a time, Unix milliseconds; undefined for an unknown model.
   */
  readonly price: (model: string, nowMs: number) => RateCard | undefined;
  /** Whether there is such a model, with a price or without; absent: those with a price. */
  readonly knowsModel?: (model: string) => boolean;
  /** A key that always works for the default account; asked at each call. */
  readonly configuredKey?: () => string | undefined;
  /** Current Unix time in milliseconds; absent: the store's. */
  readonly now?: () => number;
  /** Absent: the platform's timer. */
  readonly timer?: Timer;
  /**
   * Shows the first key to the operator. Runs before the key is stored: if it throws, no
   * key is stored.
   */
  readonly showKey?: (key: string) => void;
  /** Interval between heartbeats, in milliseconds. Each also looks for expired leases. */
  readonly heartbeatMs?: number;
  /** How many records of calls are kept, and how long; absent: none. */
  readonly calls?: Pick<CallBookOptions, "maxAgeMs" | "maxRows">;
  /** Called with events that an operator should know of. */
  readonly onEvent?: (event: AccountsEvent) => void;
  /** How the receivers of webhooks are reached; absent: directly. */
  readonly webhookWay?: () => Way;
}

/**
 * An event for operators: the store went down or came back; calls of a dead process were
 * settled, or could not be; calls of this process had been settled by another one, and their
 * charges are corrected; a newer program changed the store; the clock of this process is wrong, or right again; other users can reach
 * the store's files; a webhook was not accepted at any attempt; an audit found differences, or
 * could not be made.
 */
export type AccountsEvent =
  | { readonly type: "store_down"; readonly error: unknown }
  | { readonly type: "store_up" }
  /** Reports cannot be read from the replica of the store; or they can again. */
  | { readonly type: "read_replica_down"; readonly error: unknown }
  | { readonly type: "read_replica_up" }
  | { readonly type: "recovered"; readonly calls: number }
  | { readonly type: "corrected"; readonly calls: number }
  | { readonly type: "recovery_failed"; readonly error: unknown }
  | {
    readonly type: "webhook_given_up";
    readonly account: string;
    readonly attempts: number;
    /** Without the address. */
    readonly reason: string;
  }
  | {
    /** The books do not balance. */
    readonly type: "audit_differences";
    readonly count: number;
    /** The first of the findings. */
    readonly findings: readonly string[];
  }
  | { readonly type: "audit_failed"; readonly error: unknown }
  /** The clock of this process differs from the store's, which is the one that counts. */
  | { readonly type: "clock_differs"; readonly ahead_ms: number }
  | { readonly type: "clock_agrees" }
  | ({
    /** A newer version of the program changed the store; this one goes on with what it knows. */
    readonly type: "store_newer";
  } & StoreSchema)
  | {
    /** The store is a copy without its newest entries: see {@linkcode Store.lacksLog}. */
    readonly type: "store_lacks_log";
  }
  | {
    /**
     * Webhooks whose secret was sealed with another key: warnings to them fail until they are set
     * again.
     */
    readonly type: "webhooks_need_setting";
    readonly accounts: readonly string[];
  }
  | {
    /** Other users of the machine can reach files of the store. */
    readonly type: "store_readable_by_others";
    readonly files: readonly string[];
  };

export interface OpenedAccounts {
  readonly accounts: Accounts;
  /** The administration's interface. */
  readonly admin: Admin;
  /**
   * Writes pending settlements now. Not required: they are written soon in any case, at the
   * latest by `close`.
   */
  readonly flush: () => Promise<void>;
  /** Sends the webhooks that are due now. Not required: they are sent within seconds. */
  readonly deliverWebhooks: () => Promise<void>;
  /** Makes the daily audit that is due now. Not required: it is made within a minute. */
  readonly runAudit: () => Promise<void>;
  /** The newest daily audit that this process has seen; undefined before the first. */
  readonly lastAudit: () => AuditRecord | undefined;
  /** The first key, if this start created it. It cannot be shown again. */
  readonly freshKey?: string;
  /** The records of calls; closed together with the accounts. Absent where none are kept. */
  readonly calls?: CallBook;
  /** What the processes on the store report of themselves. */
  readonly reports: ProcessReports;
  /** The store's time, and how far the clock of this process is ahead of it. */
  readonly storeClock: Store["clock"];
  /** Schema versions of the store and of this program. */
  readonly storeSchema: () => StoreSchema;
}

const HEARTBEAT_MS = 2500;
const CLOSE_MS = 5000;
const MAX_USER_CHARS = 512;
/** Differences in one line of the log. */
const MAX_FINDINGS = 10;

/**
 * Opens the accounts: seeds an empty store, settles calls that dead processes left open,
 * and starts the heartbeat.
 *
 * @example
 * ```ts ignore
 * import { openAccountService } from "./service.ts";
 * import { openStore } from "./store/open_store.ts";
 *
 * const { accounts, freshKey } = await openAccountService({
 *   store: await openStore("sqlite::memory:"),
 *   price: () => ({ input: 3_000_000, cacheRead: 300_000, cacheWrite: 3_750_000, output: 15_000_000 }),
 * });
 * const caller = await accounts.authenticate([freshKey ?? ""]);
 * const reservation = await accounts.reserve(caller, {
 *   requestId: "req_1",
 *   model: "vendora-sonnet-4-6",
 *   inputTokens: 10,
 *   maxOutputTokens: 100,
 * });
 * reservation.settle({ usage: { input: 9, output: 12 }, generatedChars: 50, ended: "complete" });
 * await accounts.close();
 * ```
 * @throws {Error} when the store does not answer
 */
export async function openAccountService(
  options: AccountsOptions,
): Promise<OpenedAccounts> {
  const { store, price, onEvent, webhookWay } = options;
  const now = options.now ?? (() => store.clock.now());
  const timer = options.timer ?? startTimer;
  const leaseId = newId("owner", now());

  const freshKey = await seedDefaults(
    store,
    now(),
    options.configuredKey?.() !== undefined,
    options.showKey,
  );
  const authenticator = createAuthenticator({
    store,
    now,
    ...compact({ configuredKey: options.configuredKey }),
  });
  const estimateLimit = new EstimateLimit(store, now);
  const cache = new WriteCache();
  const usedAtMs = new Map<string, number>();
  const foresight = new Foresight(now);
  const { parallel } = store;
  /** Events of writes that failed, although they may have been committed. */
  const doubtful = new WeakSet<LedgerEvent>();
  const batcher = writeBatcher({
    async apply(events) {
      try {
        const { results, durable } = parallel === undefined
          ? await applyAll(events)
          : await applyByAccount(parallel, events);
        const corrected = events.filter((event, at) => {
          const result = results[at];
          return result?.type === "corrected" ||
            result?.type === "duplicate" && result.isCorrected === true &&
              doubtful.has(event);
        }).length;
        if (corrected > 0) onEvent?.({ type: "corrected", calls: corrected });
        return { results, durable };
      } catch (error) {
        for (const event of events) doubtful.add(event);
        throw error;
      }
    },
    ...(parallel === undefined ? {} : {
      laneOf: accountOf,
      most: parallel.most,
      isOfLane: parallel.isOfAccount,
    }),
    now,
    timer,
    onState: (up, error) =>
      onEvent?.(up ? { type: "store_up" } : { type: "store_down", error }),
  });
  async function applyAll(
    events: readonly LedgerEvent[],
  ): Promise<WrittenBatch> {
    const { value, durable } = await store.commit((sql, cacheIsValid) => {
      if (!cacheIsValid) cache.clear();
      return applyEvents(sql, store.dialect, events, cache);
    }, cache);
    foresight.learn(events, cache);
    return { results: value, durable };
  }
  async function applyByAccount(
    writes: ParallelWrites,
    events: readonly LedgerEvent[],
  ): Promise<WrittenBatch> {
    const { results, cache } = await writeAccounts(
      writes,
      store.dialect,
      events,
      usedAtMs,
    );
    foresight.learn(events.filter((_, at) => results[at] !== undefined), cache);
    return { results, durable: Promise.resolve() };
  }
  const clockWatch = watchClock(store, onEvent);
  const schemaWatch = watchSchema(
    store,
    (schema) => onEvent?.({ type: "store_newer", ...schema }),
  );
  const replicaWatch = store.replica && watchReplica(store.replica, onEvent);
  const lease = await startHeartbeat({
    store,
    leaseId,
    now,
    timer,
    heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
    onRenewed() {
      clockWatch();
      void schemaWatch.look();
      replicaWatch?.();
    },
    onRecovered: (calls) => onEvent?.({ type: "recovered", calls }),
    onFailed: (error) => onEvent?.({ type: "recovery_failed", error }),
  });
  const backfill = startBackfill({ store, now, timer });
  const dailyAudit = startDailyAudit({
    store,
    now,
    timer,
    leaseId,
    onFindings: (findings) =>
      onEvent?.({
        type: "audit_differences",
        count: findings.length,
        findings: findings.slice(0, MAX_FINDINGS),
      }),
    onFailed: (error) => onEvent?.({ type: "audit_failed", error }),
  });
  const calls = options.calls === undefined ? undefined : openCallBook({
    ...options.calls,
    dialect: store.dialect,
    async write(work) {
      if (parallel !== undefined) return await parallel.write("calls", work);
      const { value } = await store.commit((sql, cacheIsValid) => {
        if (!cacheIsValid) cache.clear();
        return work(sql);
        // Records of calls are no part of the ledger's cache.
      }, cache);
      return value;
    },
    now,
    timer,
  });
  const deliveries = startDeliveries({
    store,
    now,
    timer,
    post: (message, target, signal) =>
      postWebhook(message, target, signal, compact({ way: webhookWay })),
    onGivenUp: ({ accountId, attempts }, reason) =>
      onEvent?.({
        type: "webhook_given_up",
        account: accountId,
        attempts,
        reason,
      }),
  });

  const countRights = new CountRights(batcher, leaseId, now);
  const cardOf = (model: string): RateCard => {
    const card = price(model, now());
    if (card !== undefined) return card;
    throw new ApiError("not_found", `the model ${model} does not exist`, {
      code: "model_not_found",
      param: "model",
      retryable: false,
    });
  };

  const accounts: Accounts = {
    authenticate: authenticator.authenticate,
    async reserve(caller, intended) {
      const identity = authenticator.identity(caller);
      assertPermitted(caller, intended.model);
      const { estimatedPercent } = identity.plan;
      // A call without this limit takes its place in the queue at once.
      if (estimatedPercent !== undefined) {
        await estimateLimit.assertBelow(caller.keyId, estimatedPercent);
      }
      const card = cardOf(intended.model);
      const user = intended.user === undefined
        ? undefined
        : storable(intended.user);
      const inputTokens = wholeTokens(intended.inputTokens);
      const maxOutputTokens = wholeTokens(intended.maxOutputTokens);
      const call: ReservedCall = {
        requestId: intended.requestId,
        accountId: caller.accountId,
        keyId: caller.keyId,
        model: intended.model,
        ...(user === undefined ? {} : { user }),
        inputTokens,
        maxOutputTokens,
        price: askedPrice(card, inputTokens, intended.asked),
        card,
        ...(intended.asked === undefined ? {} : { asked: intended.asked }),
        reservedMicroUsd: worstCostMicroUsd(
          card,
          inputTokens,
          maxOutputTokens,
          intended.asked,
        ),
        reservedTokens: inputTokens + maxOutputTokens,
        atMs: now(),
      };
      batcher.assertAvailable(
        parallel === undefined ? undefined : caller.accountId,
      );
      return await openReservation({
        batcher,
        foresight,
        now,
        call,
        leaseId,
        isUnconditional: identity.isUnconditional,
      });
    },
    async beginCount(caller, { requestId, model }) {
      const { isUnconditional, plan, key } = authenticator.identity(caller);
      assertPermitted(caller, model);
      const card = cardOf(model);
      if (isUnconditional) return () => {};
      batcher.assertAvailable(
        parallel === undefined ? undefined : caller.accountId,
      );
      const { accountId, keyId } = caller;
      return await countRights.begin(
        caller,
        { requestId, accountId, keyId, model, card, atMs: now() },
        key === undefined ? [plan] : [plan, key],
      );
    },
    async ready() {
      try {
        batcher.assertAvailable();
        await store.read("SELECT 1 AS one");
        return batcher.isUp() || await batcher.probe();
      } catch {
        return false;
      }
    },
    backlog: batcher.backlog,
    async close() {
      await backfill.stop();
      await dailyAudit.stop();
      await calls?.close();
      await deliveries.stop();
      await batcher.close(CLOSE_MS);
      await lease.release();
      await store.close();
    },
  };
  return {
    accounts,
    admin: createAdmin({
      store,
      now,
      onChange: authenticator.revisionChanged,
      knowsModel: options.knowsModel ??
        ((model) => price(model, now()) !== undefined),
    }, calls?.flush),
    ...(calls === undefined ? {} : { calls }),
    reports: processReports(store, now()),
    storeClock: store.clock,
    storeSchema: schemaWatch.schema,
    flush: batcher.flush,
    deliverWebhooks: deliveries.deliver,
    runAudit: dailyAudit.run,
    lastAudit: dailyAudit.last,
    ...(freshKey === undefined ? {} : { freshKey }),
  };
}

/**
 * Reports when the clock of this process begins to differ from the store's, and when it agrees
 * again.
 */
function watchClock(
  { clock }: Store,
  onEvent: AccountsOptions["onEvent"],
): () => void {
  let differs = false;
  return () => {
    const aheadMs = clock.aheadMs();
    if (differs === Math.abs(aheadMs) > MAX_CLOCK_DIFFERENCE_MS) return;
    differs = !differs;
    onEvent?.(
      differs
        ? { type: "clock_differs", ahead_ms: Math.round(aheadMs) }
        : { type: "clock_agrees" },
    );
  };
}

/**
 * Measures how far the replica is behind, and reports when it cannot be reached and when it can
 * again.
 */
function watchReplica(
  replica: Replica,
  onEvent: AccountsOptions["onEvent"],
): () => void {
  let isUp = true;
  const measure = async (): Promise<void> => {
    try {
      await replica.measure();
      if (!isUp) onEvent?.({ type: "read_replica_up" });
      isUp = true;
    } catch (error) {
      if (isUp) onEvent?.({ type: "read_replica_down", error });
      isUp = false;
    }
  };
  return () => void measure();
}

/** Refuses what the cached caller is enough to refuse, without reading the store. */
function assertPermitted(caller: Caller, model: string): void {
  const refuse = (code: string, message: string): RefusedCall =>
    new RefusedCall("permission", message, { code, retryable: false }, {});
  if (!caller.isActive) {
    throw refuse("account_disabled", "the account is disabled");
  }
  if (!caller.allows(model)) {
    throw refuse("model_not_in_plan", notInPlan(model));
  }
}

/**
 * A client's text in a form that every store accepts: Postgres takes neither NUL nor lone
 * surrogates.
 */
function storable(text: string): string {
  return text.replaceAll("\0", "").slice(0, MAX_USER_CHARS).toWellFormed();
}
