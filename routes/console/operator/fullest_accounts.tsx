/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The accounts that call now and are nearest to a limit a minute or at once, of all processes
 * together.
 *
 * @module
 */
import type { JSX } from "../jsx.d.ts";
import { minuteLimits } from "../../../gateway/accounts/ledger/limit_use.ts";
import type { CredentialState } from "../../../gateway/accounts/repositories/credential_state.ts";
import type { LivePicture } from "../../../gateway/live/live_picture.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import { DataTable } from "../data_table.tsx";
import { countText } from "../money.tsx";
import { Meter } from "../plot.tsx";
import { AccountLink } from "./account_link.tsx";

interface Filled {
  readonly used: number;
  readonly limit: number;
}

/** How full the limits of an account are. */
export interface AccountFill {
  readonly accountId: string;
  /** Share of the fullest limit, 0 to 1 or more. */
  readonly share: number;
  readonly requests: Filled | undefined;
  readonly tokens: Filled | undefined;
  readonly atOnce: Filled | undefined;
}

const MAX_ACCOUNTS = 20;
const SHOWN = 8;

/**
 * The accounts of the calls that are under way or have just ended, fullest first; without those
 * that have no such limit.
 *
 * @throws {ApiError} `unavailable`
 */
export async function fullestAccounts(
  { admin }: Pick<Gateway, "admin">,
  { underWay, ended }: LivePicture,
): Promise<readonly AccountFill[]> {
  const ids = new Set(
    [...underWay.data, ...ended.data].map(({ accountId }) => accountId),
  );
  const states = await Promise.all(
    [...ids].slice(0, MAX_ACCOUNTS).map((accountId) =>
      admin.state({ kind: "read", id: "", accountId })
    ),
  );
  return states.map(fillOf).filter(({ share }) => share > 0)
    .toSorted((a, b) => b.share - a.share).slice(0, SHOWN);
}

function fillOf(
  { account: { account, plan, use } }: CredentialState,
): AccountFill {
  const { requests, tokens } = minuteLimits(use, plan);
  const places = plan.concurrentRequests;
  const fills = {
    requests: requests &&
      { used: requests.limit - requests.remaining, limit: requests.limit },
    tokens: tokens &&
      { used: tokens.limit - tokens.remaining, limit: tokens.limit },
    atOnce: places === undefined
      ? undefined
      : { used: use.openRequests, limit: places },
  };
  return {
    accountId: account.id,
    share: Math.max(
      0,
      ...Object.values(fills).map((one) =>
        one === undefined ? 0 : one.used / one.limit
      ),
    ),
    ...fills,
  };
}

/** The table of {@linkcode fullestAccounts}. */
export function FullestAccounts(
  { accounts }: { readonly accounts: readonly AccountFill[] },
): JSX.Element | null {
  if (accounts.length === 0) return null;
  const column = (
    name: string,
    of: (account: AccountFill) => Filled | undefined,
  ): {
    readonly name: string;
    cell(account: AccountFill): JSX.Element;
  } => ({
    name,
    cell: (account) => <Fill name={name} of={of(account)} />,
  });
  return (
    <section class="card">
      <h2>Nearest to their limits this minute</h2>
      <DataTable<AccountFill>
        name="Accounts nearest to their limits"
        rows={accounts}
        columns={[
          {
            name: "Account",
            wraps: true,
            cell: ({ accountId }) => <AccountLink accountId={accountId} />,
          },
          column("Requests a minute", ({ requests }) => requests),
          column("Tokens a minute", ({ tokens }) => tokens),
          column("At once", ({ atOnce }) => atOnce),
        ]}
      />
    </section>
  );
}

function Fill(
  { name, of }: { readonly name: string; readonly of: Filled | undefined },
): JSX.Element {
  return of === undefined ? <span class="soft">no limit</span> : (
    <>
      {countText(of.used)} of {countText(of.limit)}
      <Meter name={name} used={of.used} limit={of.limit} />
    </>
  );
}
