/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * How full the limits a minute and at once are now, of all processes together.
 *
 * @module
 */
import type { JSX } from "./jsx.d.ts";
import {
  type LimitUse,
  minuteLimits,
} from "../../gateway/accounts/ledger/limit_use.ts";
import type { LimitSettings } from "../../gateway/accounts/records.ts";
import { countText } from "./money.tsx";
import { Meter } from "./plot.tsx";

/** The cards of one holder of limits. */
export function LimitCards(
  { use, limits, of }: {
    readonly use: LimitUse;
    readonly limits: LimitSettings;
    /** Whose limits: `account` or `key`. */
    readonly of: "account" | "key";
  },
): JSX.Element {
  const { requests, tokens } = minuteLimits(use, limits);
  const { concurrentRequests: places } = limits;
  const own = of === "key" ? ", this key" : "";
  return (
    <>
      <section class="card">
        <span class="label">This minute{own}</span>
        {requests === undefined ? null : (
          <Fill
            name={`Of the requests a minute${own}`}
            used={requests.limit - requests.remaining}
            limit={requests.limit}
            unit="requests"
          />
        )}
        {tokens === undefined ? null : (
          <Fill
            name={`Of the tokens a minute${own}`}
            used={tokens.limit - tokens.remaining}
            limit={tokens.limit}
            unit="tokens"
          />
        )}
        {requests === undefined && tokens === undefined
          ? <p class="soft">no limit a minute</p>
          : null}
      </section>
      <section class="card">
        <span class="label">Under way{own}</span>
        {places === undefined
          ? (
            <>
              <span class="stat">{countText(use.openRequests)}</span>
              <p class="soft">no limit on calls at once</p>
            </>
          )
          : (
            <Fill
              name={`Of the calls at once${own}`}
              used={use.openRequests}
              limit={places}
              unit="at once"
            />
          )}
      </section>
    </>
  );
}

function Fill(
  { name, used, limit, unit }: {
    readonly name: string;
    readonly used: number;
    readonly limit: number;
    readonly unit: string;
  },
): JSX.Element {
  return (
    <>
      <p>
        <b>{countText(used)}</b>{" "}
        <span class="soft">of {countText(limit)} {unit}</span>
      </p>
      <Meter name={name} used={used} limit={limit} />
    </>
  );
}
