/**
 * The figures of a usage page as a file.
 */
import { ROLL_UP_SUMS } from "../../../gateway/accounts/records.ts";
import { allPages } from "../../../gateway/accounts/reports/all_pages.ts";
import type { UsageLine } from "../../../gateway/accounts/reports/usage_report.ts";
import type { AccountScope } from "../../../gateway/admin/account_scope.ts";
import { usageJson } from "../../../gateway/admin/usage.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { RouteContext } from "../../route.ts";
import { countOf } from "../parts/health_table.tsx";
import {
  chosenOf,
  MAX_GROUPS,
  requireOneAccount,
  usageQueryOf,
} from "../parts/usage_choice.ts";
import { countsGroups, withHealth } from "../parts/usage_health.ts";
import { csvOf, csvReply } from "../csv/csv.ts";
import { withNames } from "../csv/with_names.ts";

const USAGE_COLUMNS: readonly string[] = Object.values(ROLL_UP_SUMS)
  .map(({ json }) => json);

/** The figures of a usage page as a file, every line of them. */
export function usageCsv(
  context: RouteContext,
  scope: Partial<AccountScope>,
): Promise<HttpReply> {
  const { by, filters } = chosenOf(context, scope);
  const query = usageQueryOf(filters, scope);
  requireOneAccount(by, query);
  const { admin, models: { models } } = context.gateway;
  const lines = allPages(
    (page) => admin.usage({ ...query, by: [by], ...page }),
    { limit: MAX_GROUPS },
  );
  const name = `usage-${filters.from}-${filters.to}-by-${by}`
    .replaceAll(":", "");
  const idsOf = ({ keyId, accountId }: UsageLine) => ({
    key: by === "key" ? keyId : undefined,
    account: by === "account" ? accountId : undefined,
  });
  const columns = [
    by,
    ...(by === "key" || by === "account" ? [`${by}_name`] : []),
    ...USAGE_COLUMNS,
  ];
  if (!countsGroups(by, query)) {
    return csvReply(
      name,
      csvOf(
        columns,
        withNames(admin, lines, idsOf),
        ({ item, names }) => ({ ...usageJson(item), ...names }),
      ),
    );
  }
  return csvReply(
    name,
    csvOf(
      [...columns, ...HEALTH_COLUMNS],
      withNames(
        admin,
        withHealth(admin, query, by, lines, models),
        ({ line }) => idsOf(line),
      ),
      ({ item: { line, health }, names }) => ({
        ...usageJson(line),
        ...names,
        calls: health.calls,
        refused_calls: countOf(health, "refused"),
        failed_calls: countOf(health, "failed"),
        first_token_p50_ms: health.firstTokenMs?.p50 ?? null,
        first_token_p95_ms: health.firstTokenMs?.p95 ?? null,
      }),
    ),
  );
}

/** Counts of calls beside the sums of charges, where they are known. */
const HEALTH_COLUMNS: readonly string[] = [
  "calls",
  "refused_calls",
  "failed_calls",
  "first_token_p50_ms",
  "first_token_p95_ms",
];
