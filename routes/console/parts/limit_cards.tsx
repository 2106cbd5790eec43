/**
 * How full limits are now, of all processes together, and when those that stop calls open.
 */
import type { JSX } from "../jsx.d.ts";
import {
  DAY_MS,
  dayAfter,
  dayOf,
  firstDayOf,
  type WindowName,
  WINDOWS,
} from "../../../gateway/accounts/limits/calendar_window.ts";
import {
  type LimitLevel,
  limitLevels,
  limitWords,
  type Opening,
} from "../../../gateway/accounts/limits/limit_levels.ts";
import type { LimitUse } from "../../../gateway/accounts/limits/limit_use.ts";
import type { LimitSettings } from "../../../gateway/accounts/records.ts";
import { Count, Money } from "./money.tsx";
import { durationText, Moment } from "./moment.tsx";
import { Meter } from "./plot.tsx";
import { StatCard } from "./stat_card.tsx";

const TITLES: Readonly<Record<WindowName, string>> = {
  day: "Today (UTC)",
  week: "This week",
  month: "This month",
};

/** The cards of one holder of limits: what is used of each window, whether it is limited or not. */
export function LimitCards(
  { use, limits, of, nowMs, linkOf }: {
    readonly use: LimitUse;
    readonly limits: LimitSettings;
    /** Whose limits: `account` or `key`. */
    readonly of: "account" | "key";
    readonly nowMs: number;
    /** The usage of some days; absent: no page sums it up. */
    linkOf?(from: string, to: string): string;
  },
): JSX.Element {
  const levels = limitLevels(of, use, limits, nowMs);
  const own = of === "key" ? ", this key" : "";
  const atOnce = levels.find(({ window }) => window === "at_once");
  const minute = levels.filter(({ window }) => window === "minute");
  return (
    <>
      {WINDOWS.map((window) => {
        const { microUsd, tokens } = use.used[window];
        const level = (unit: string): LimitLevel | undefined =>
          levels.find((one) => one.window === window && one.unit === unit);
        const today = dayOf(nowMs);
        const link = linkOf?.(
          dayText(firstDayOf(window, today)),
          dayText(today),
        );
        const count = (
          <b>
            <Count value={tokens} />
          </b>
        );
        const endMs = dayAfter(window, use.day) * DAY_MS;
        return (
          <StatCard
            name={TITLES[window] + own}
            link={link}
            figure={<Money microUsd={microUsd} />}
          >
            <Fill level={level("microUsd")} nowMs={nowMs} none="no budget" />
            <p>
              {link === undefined ? count : <a href={link}>{count}</a>} tokens
            </p>
            <Fill level={level("tokens")} nowMs={nowMs} none="no token limit" />
            <p class="soft">
              resets <Moment atMs={endMs} />, in {durationText(endMs - nowMs)}
            </p>
          </StatCard>
        );
      })}
      <section class="card">
        <span class="label">This minute{own}</span>
        {minute.length === 0 ? <p class="soft">no limit a minute</p> : null}
        {minute.map((level) => (
          <>
            <p>
              <b>
                <Count value={level.used} />
              </b>{" "}
              {level.unit},{" "}
              <b>
                <Count value={level.limit - level.used} />
              </b>{" "}
              left
            </p>
            <Fill level={level} nowMs={nowMs} />
          </>
        ))}
        <p>
          <b>
            <Count value={use.openRequests} />
          </b>{" "}
          under way
        </p>
        <Fill level={atOnce} nowMs={nowMs} none="no limit on calls at once" />
      </section>
    </>
  );
}

/** The meter of a limit, with its limit, what is reserved of it, and when it opens. */
function Fill(
  { level, nowMs, none = "" }: {
    readonly level: LimitLevel | undefined;
    readonly nowMs: number;
    /** The text in place of a missing limit. */
    readonly none?: string;
  },
): JSX.Element {
  if (level === undefined) return <p class="soft">{none}</p>;
  const { code, reserved } = level;
  return (
    <>
      <Meter name={`Of ${limitWords(code)}`} share={level.share} />
      <p class="soft">
        of <Amount level={level} value={level.limit} />
        {reserved === 0 ? "" : (
          <>
            , with <Amount level={level} value={reserved} /> reserved
          </>
        )}
      </p>
      <Stop level={level} nowMs={nowMs} />
    </>
  );
}

function Amount(
  { level: { unit }, value }: {
    readonly level: LimitLevel;
    readonly value: number;
  },
): JSX.Element {
  return unit === "microUsd" ? <Money microUsd={value} /> : (
    <>
      <Count value={value} /> {unit}
    </>
  );
}

function Stop(
  { level, nowMs }: { readonly level: LimitLevel; readonly nowMs: number },
): JSX.Element | null {
  return level.opens === undefined ? null : (
    <p>
      <span class="tag bad">stops calls</span>{" "}
      <Opens opens={level.opens} nowMs={nowMs} />
    </p>
  );
}

/** When a limit opens that stops calls. */
export function Opens(
  { opens, nowMs }: { readonly opens: Opening; readonly nowMs: number },
): JSX.Element {
  return opens === "call_ends"
    ? <>it has room when a call under way ends</>
    : (
      <>
        it opens at <Moment atMs={opens} />, in {durationText(opens - nowMs)}
      </>
    );
}

/** One limit in a line of a list: `$0.0601 of $0.05 a day`, and its meter. */
export function LimitMeter(
  { level, nowMs }: { readonly level: LimitLevel; readonly nowMs: number },
): JSX.Element {
  const { code, window, unit, limit, used, reserved } = level;
  const value = used + reserved;
  return (
    <div class="fill">
      {unit === "microUsd"
        ? <Money microUsd={value} />
        : <Count value={value} />} of <Amount level={level} value={limit} />
      {" "}
      {window === "at_once" ? "at once" : `a ${window}`}
      <Meter name={`Of ${limitWords(code)}`} share={level.share} />
      <Stop level={level} nowMs={nowMs} />
    </div>
  );
}

function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
