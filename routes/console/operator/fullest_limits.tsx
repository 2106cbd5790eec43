/**
 * The fullest limits of all accounts and keys.
 */
import { limitWords } from "../../../gateway/accounts/limits/limit_levels.ts";
import type { HeldLimit } from "../../../gateway/accounts/reports/fullest_limits.ts";
import type { JSX } from "../jsx.d.ts";
import { DataTable, Foreign } from "../parts/data_table.tsx";
import { LimitMeter } from "../parts/limit_cards.tsx";
import { AccountLink } from "./account_link.tsx";

/** The table; null if nothing is used of any limit. */
export function FullestLimits(
  { held, nowMs }: {
    readonly held: readonly HeldLimit[];
    readonly nowMs: number;
  },
): JSX.Element | null {
  return held.length === 0 ? null : (
    <section class="card" id="fullest">
      <h2>Fullest limits</h2>
      <DataTable<HeldLimit>
        name="Fullest limits"
        rows={held}
        columns={[
          {
            name: "Account",
            wraps: true,
            cell: ({ accountId }) => <AccountLink accountId={accountId} />,
          },
          {
            name: "Key",
            wraps: true,
            cell: ({ key }) =>
              key === undefined
                ? null
                : (
                  <a href={`/console/operator/keys/${key.id}`}>
                    <Foreign text={key.name || "(no name)"} />
                  </a>
                ),
          },
          {
            name: "Limit",
            cell: ({ level: { code } }) =>
              limitWords(code).replace("the account's ", "")
                .replace("this key's ", ""),
          },
          {
            name: "Used",
            cell: ({ level }) => <LimitMeter level={level} nowMs={nowMs} />,
          },
        ]}
      />
    </section>
  );
}
