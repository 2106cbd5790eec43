/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * Cost by day, stacked by model, key or account.
 *
 * @module
 */
import type { JSX } from "./jsx.d.ts";
import type { Admin } from "../../gateway/accounts/repositories/admin.ts";
import type {
  UsageGroup,
  UsageLine,
  UsageQuery,
} from "../../gateway/accounts/repositories/usage_report.ts";
import type { AccountScope } from "../../gateway/admin/account_scope.ts";
import { callsLink } from "./figure_links.ts";
import { moneyText } from "./money.tsx";
import { BarPlot, MAX_SERIES } from "./plot.tsx";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Names of keys by their id; empty for a key's own session. */
export async function keyNames(
  admin: Admin,
  { accountId, keyId }: Partial<AccountScope>,
): Promise<ReadonlyMap<string, string>> {
  if (keyId !== undefined) return new Map();
  const { data } = await admin.keys.list({
    limit: 1000,
    ...(accountId === undefined ? {} : { accountId }),
  });
  return new Map(
    data.map(({ id, name, hint }) => [id, name === "" ? hint : name]),
  );
}

/** Bars of a day's cost, stacked by model, key or account. */
export async function dayPlot(
  admin: Admin,
  query: UsageQuery,
  by: UsageGroup,
  names: ReadonlyMap<string, string>,
  base: string,
): Promise<JSX.Element> {
  const group = by === "key" || by === "account" ? by : "model";
  // A year of days with some series each; each further page would read all of it again.
  const { data: lines } = await admin.usage({
    ...query,
    by: ["day", group],
    limit: 10_000,
  });
  const nameOf = (line: UsageLine): string =>
    group === "key"
      ? line.keyId ?? ""
      : group === "account"
      ? line.accountId ?? ""
      : line.model ?? "";
  const sums = new Map<string, number>();
  for (const line of lines) {
    sums.set(nameOf(line), (sums.get(nameOf(line)) ?? 0) + line.microUsd);
  }
  const ordered = [...sums].toSorted((a, b) => b[1] - a[1])
    .map(([name]) => name);
  const shown = ordered.slice(0, MAX_SERIES - 1);
  const hasOthers = ordered.length > shown.length;
  const days = new Map<string, number[]>();
  for (const day of daysBetween(query.fromDay ?? "", query.toDay ?? "")) {
    days.set(day, Array<number>(shown.length + (hasOthers ? 1 : 0)).fill(0));
  }
  for (const line of lines) {
    const values = days.get(line.day ?? "");
    if (values === undefined) continue;
    const found = shown.indexOf(nameOf(line));
    const at = found === -1 ? shown.length : found;
    values[at] = (values[at] ?? 0) + line.microUsd;
  }
  return (
    <BarPlot
      name="Cost by day in dollars"
      series={[
        ...shown.map((name) => names.get(name) ?? name),
        ...(hasOthers ? ["others"] : []),
      ]}
      valueText={(microUsd) => moneyText(microUsd, microUsd < 1e6 ? 4 : 2)}
      bars={[...days].map(([day, values]) => {
        const sum = values.reduce((a, b) => a + b, 0);
        return {
          label: day.slice(5),
          title: `${day}: ${moneyText(sum, 4)}`,
          href: callsLink(base, {
            from: day,
            to: day,
            ...(query.accountId === undefined || base === "/console"
              ? {}
              : { account: query.accountId }),
            ...(query.keyId === undefined ? {} : { key: query.keyId }),
            ...(query.model === undefined ? {} : { model: query.model }),
            ...(query.user === undefined ? {} : { user: query.user }),
          }),
          values,
        };
      })}
    />
  );
}

const MAX_DAYS = 366;

function* daysBetween(from: string, to: string): Generator<string> {
  const lastMs = Date.parse(to);
  let count = 0;
  for (let ms = Date.parse(from); ms <= lastMs; ms += DAY_MS) {
    if (++count > MAX_DAYS) return;
    yield new Date(ms).toISOString().slice(0, 10);
  }
}
