/**
 * The pace of an account's and a key's calls in the last minute, from the records of calls.
 */
import { compact } from "../../translate/bytes/compact.ts";
import type { LimitSettings } from "../accounts/records.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import type { CallQuery } from "../accounts/reports/call_report.ts";
import type { CredentialState } from "../accounts/repositories/credential_state.ts";
import type { RecentPaces } from "./account_summary.ts";
import type { RecentPace } from "./pace.ts";

const MINUTE_MS = 60_000;
/** Most calls that are read, the newest ones: these suffice to show the pace. */
const MAX_CALLS = 200;

/**
 * The pace where a limit a minute or at once is set; empty where none is, or no call is recorded.
 *
 * @throws {ApiError} `unavailable`
 */
export async function recentPaces(
  { calls }: Pick<Admin, "calls">,
  { atMs, account: { account, plan }, key }: CredentialState,
): Promise<RecentPaces> {
  const of = async (
    limits: LimitSettings,
    scope: CallQuery,
  ): Promise<RecentPace | undefined> =>
    limits.requestsPerMinute === undefined &&
      limits.tokensPerMinute === undefined &&
      limits.concurrentRequests === undefined
      ? undefined
      : await paceOf(calls, scope, atMs);
  const ofAccount = await of(plan, { accountId: account.id });
  const ofKey = key === undefined
    ? undefined
    : await of(key.limits, { accountId: account.id, keyId: key.id });
  return {
    ...compact({ account: ofAccount, key: ofKey }),
  };
}

async function paceOf(
  calls: Admin["calls"],
  scope: CallQuery,
  nowMs: number,
): Promise<RecentPace> {
  const { data, next } = await calls.list({
    ...scope,
    fromMs: nowMs - MINUTE_MS,
    limit: MAX_CALLS,
  });
  // A refused call takes nothing of a limit.
  const made = data.filter(({ record }) => record.ended !== "refused");
  const oldestMs = data.at(-1)?.atMs ?? nowMs;
  const spanMs = next === undefined ? MINUTE_MS : Math.max(1, nowMs - oldestMs);
  let tokens = 0;
  let durationMs = 0;
  for (const { record } of made) {
    tokens += (record.inputTokens ?? 0) + (record.cacheReadTokens ?? 0) +
      (record.cacheWriteTokens ?? 0) + (record.outputTokens ?? 0);
    durationMs += record.durationMs ?? 0;
  }
  return {
    requestsPerMinute: made.length / spanMs * MINUTE_MS,
    tokensPerMinute: tokens / spanMs * MINUTE_MS,
    meanMs: durationMs / Math.max(1, made.length),
  };
}
