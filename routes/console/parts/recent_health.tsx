/**
 * How the calls of an account or a key went, of the last 24 hours and the last seven days.
 */
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import {
  type CallHealthQuery,
  NO_CALLS,
} from "../../../gateway/accounts/reports/call_health.ts";
import type { AccountScope } from "../../../gateway/admin/account_scope.ts";
import type { JSX } from "../jsx.d.ts";
import { HealthTable } from "./health_table.tsx";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** The card of both spans. `account` filters its links on pages of no account. */
export async function recentHealth(
  admin: Pick<Admin, "callHealths">,
  { scope, base, nowMs, account }: {
    readonly scope: AccountScope;
    readonly base: string;
    readonly nowMs: number;
    readonly account?: string;
  },
): Promise<JSX.Element> {
  const span = async (
    name: string,
    step: CallHealthQuery["step"],
    stepMs: number,
    steps: number,
  ) => {
    const toMs = (Math.floor(nowMs / stepMs) + 1) * stepMs;
    const fromMs = toMs - steps * stepMs;
    const text = (ms: number): string =>
      new Date(ms).toISOString().slice(0, step === "hour" ? 16 : 10);
    const healths = await admin.callHealths({ ...scope, step, fromMs, toMs });
    return {
      name,
      filters: {
        from: text(fromMs),
        // The last day is part of a range, the last minute is not.
        to: text(step === "hour" ? toMs : toMs - stepMs),
        ...(account === undefined ? {} : { account }),
      },
      health: healths.get("") ?? NO_CALLS,
    };
  };
  return (
    <section class="card">
      <h2>Health</h2>
      <HealthTable
        base={base}
        rows={[
          await span("Last 24 hours", "hour", HOUR_MS, 24),
          await span("Last 7 days", "day", DAY_MS, 7),
        ]}
      />
    </section>
  );
}
