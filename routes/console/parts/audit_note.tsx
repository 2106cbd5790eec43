/**
 * What the last audit of the books found.
 */
import type { JSX } from "../jsx.d.ts";
import type {
  AccountAudit,
  AuditRecord,
} from "../../../gateway/accounts/reports/audit_report.ts";
import { countText } from "./money.tsx";
import { Moment } from "./moment.tsx";

const NOT_YET =
  "The books are audited once a day at 02:00 UTC; not audited yet.";

/** Proof that the balance equals the sum of its lines, or the differences. */
export function AccountAuditNote(
  { audit }: { readonly audit: AccountAudit | undefined },
): JSX.Element {
  if (audit === undefined) return <p class="soft">{NOT_YET}</p>;
  const { atMs, entries, days, findings } = audit;
  return findings.length === 0
    ? (
      <p class="note">
        Audited <Moment atMs={atMs} />: balance = sum of {countText(entries)}
        {" "}
        {entries === 1 ? "line" : "lines"}
        {days
          ? " = sum of days."
          : ". Older lines are still being added to the sums by day."}
      </p>
    )
    : (
      <div class="note bad" role="alert">
        Audited <Moment atMs={atMs} />: the sums differ.
        <Findings findings={findings} />
      </div>
    );
}

/** The same over all accounts. */
export function AuditNote(
  { audit }: { readonly audit: AuditRecord | undefined },
): JSX.Element {
  if (audit === undefined) return <p class="soft">{NOT_YET}</p>;
  const { endedAtMs, accounts, entries, findings, kind } = audit;
  return findings.length === 0
    ? (
      <p class="note">
        Audited <Moment atMs={endedAtMs} />: {countText(accounts)}{" "}
        {accounts === 1 ? "account agrees" : "accounts agree"} with{" "}
        {kind === "full"
          ? "all lines and sums of days"
          : `the sum of ${countText(entries)} lines and of the days`}.
      </p>
    )
    : (
      <div class="note bad" role="alert">
        Audited <Moment atMs={endedAtMs} />: {countText(findings.length)}{" "}
        {findings.length === 1 ? "difference" : "differences"}.
        <Findings findings={findings} />
      </div>
    );
}

function Findings(
  { findings }: { readonly findings: readonly string[] },
): JSX.Element {
  return (
    <ul>
      {findings.slice(0, 10).map((finding) => <li key={finding}>{finding}</li>)}
    </ul>
  );
}
