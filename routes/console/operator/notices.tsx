/**
 * What operators should look at: the bell of every page counts it, the overview sums it up, and a
 * page lists it.
 */
import { limitWords } from "../../../gateway/accounts/limits/limit_levels.ts";
import { MAX_CLOCK_DIFFERENCE_MS } from "../../../gateway/accounts/store/store_clock.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import {
  type MergedCandidate,
  mergedCandidates,
} from "../../../gateway/live/merged_candidates.ts";
import type { KnownProcess } from "../../../gateway/live/live_calls.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import type { Children, JSX } from "../jsx.d.ts";
import { Foreign } from "../parts/data_table.tsx";
import { callsLink } from "../parts/figure_links.ts";
import { page } from "../parts/layout.tsx";
import { LimitMeter } from "../parts/limit_cards.tsx";
import { countText, Money } from "../parts/money.tsx";
import { durationText, Moment } from "../parts/moment.tsx";
import { AccountLink } from "./account_link.tsx";
import { operatorPageRoute } from "../http/page_route.ts";

const BASE = "/console/operator";
const DAY_MS = 24 * 60 * 60 * 1000;
/** The fullest limits; those of a minute and at once, which empty by themselves, are among them. */
const LIMITS = 100;
/** A limit is nearly reached from this share on. */
const NEAR = 0.8;
/** Percent of a key's day that estimates rarely are. */
const MUCH_ESTIMATED = 20;
/** Findings of an audit that are listed. */
const FINDINGS = 10;

/** Things of one kind. */
interface Notice {
  /** `bad`: calls fail, or the books are wrong. */
  readonly kind: "bad" | "warn";
  /** What they have in common, with their number. */
  readonly title: Children;
  /** Where they are on a page of their own. */
  readonly href: string;
  /** One each; the bell counts them. */
  readonly items: readonly Children[];
}

export const NOTICES_PAGE: OperatorPageRoute = operatorPageRoute(
  "GET",
  `${BASE}/notices`,
  noticesPage,
);

/**
 * What there is to look at now, of all accounts and processes; the worst first.
 *
 * @throws {ApiError} `unavailable`
 */
export async function noticesOf(
  { admin, live, now }: Gateway,
): Promise<readonly Notice[]> {
  const nowMs = now();
  const { data: processes } = await live.processes();
  const { data: [audit] } = await admin.audits.list({ limit: 1 });
  const all: readonly Notice[] = [
    {
      kind: "bad",
      title: "The last audit of the books found differences",
      href: `${BASE}/ledger`,
      items: (audit?.findings ?? []).slice(0, FINDINGS),
    },
    {
      kind: "bad",
      title:
        "The clock of a process differs from the store's, which dates calls",
      href: `${BASE}/upstreams`,
      items: wrongClocks(processes),
    },
    {
      kind: "bad",
      title: "Candidates are not well",
      href: `${BASE}/upstreams`,
      items: mergedCandidates(processes).filter((one) => one.hasProblem)
        .map((one) => problemOf(one, nowMs)),
    },
    {
      kind: "warn",
      title: "Budgets are used to 80 % or more",
      href: `${BASE}/#fullest`,
      items: (await admin.fullestLimits(LIMITS))
        .filter(({ level: { share, code } }) =>
          share >= NEAR && /_per_(?:day|week|month)$/.test(code)
        )
        .map(({ accountId, key, level }) => (
          <>
            <AccountLink accountId={accountId} />
            {key === undefined ? null : (
              <>
                , key{" "}
                <a href={`${BASE}/keys/${key.id}`}>
                  <Foreign text={key.name || "(no name)"} />
                </a>
              </>
            )}
            : {limitWords(level.code)}
            <LimitMeter level={level} nowMs={nowMs} />
          </>
        )),
    },
    {
      kind: "warn",
      title: "Webhooks do not take their messages",
      href: `${BASE}/webhooks`,
      items: (await admin.webhooks.list())
        .map(({ accountId, lastError, deliveries: [last] }) => ({
          accountId,
          error: lastError ?? last?.error ?? "",
        }))
        .filter(({ error }) => error !== "")
        .map(({ accountId, error }) => (
          <>
            <a href={`${BASE}/webhooks/${encodeURIComponent(accountId)}`}>
              <Foreign text={accountId} />
            </a>: <Foreign text={error} />
          </>
        )),
    },
    {
      kind: "warn",
      title:
        "Much of what a key spent today is estimated: its clients leave before the vendor reports what calls used. A plan can refuse such keys",
      href: `${BASE}/usage?by=key`,
      items: (await admin.estimatedKeys(MUCH_ESTIMATED, LIMITS)).map((key) => (
        <>
          <AccountLink accountId={key.accountId} />, key{" "}
          <a href={`${BASE}/keys/${key.keyId}`}>
            <Foreign text={key.keyId} />
          </a>: <Money microUsd={key.estimatedMicroUsd} /> of{" "}
          <Money microUsd={key.microUsd} />
        </>
      )),
    },
    {
      kind: "warn",
      title: (
        <>
          Calls had a part that the price of their model has no rate for, since
          the processes started; it was charged at the dearest rate.{" "}
          <code>deno task admin prices check</code> names what is lacking
        </>
      ),
      href: `${BASE}/models`,
      items: countedCalls(processes, "unpriced_calls", nowMs),
    },
    {
      kind: "warn",
      title:
        "Calls ended with a usage that no such call can have, since the processes started; the most that it can have used was charged. Compare with what the upstream bills",
      href: `${BASE}/reconcile`,
      items: countedCalls(processes, "bounded_calls", nowMs),
    },
  ];
  return all.filter(({ items }) => items.length > 0);
}

function problemOf(
  { model, upstream, worst, credential, refused }: MergedCandidate,
  nowMs: number,
): JSX.Element {
  const [what, since] = credential !== undefined
    ? ["credential fails", credential.failing_since]
    : worst.state !== "closed"
    ? [`breaker ${worst.state.replace("_", " ")}`, worst.since]
    : refused !== undefined
    ? ["refused", refused.since]
    : ["rests", worst.since];
  const reason = credential?.reason ?? refused?.reason;
  return (
    <>
      {upstream} for <code>{model}</code>: {what}
      {since === null ? "" : ` for ${durationText(nowMs - Date.parse(since))}`}
      {reason === undefined ? null : (
        <>
          : <bdi>{reason}</bdi>
        </>
      )}
    </>
  );
}

/** Calls that all processes counted, by model. */
function countedCalls(
  processes: readonly KnownProcess[],
  of: "unpriced_calls" | "bounded_calls",
  nowMs: number,
): readonly JSX.Element[] {
  const counts = new Map<string, number>();
  for (const { state } of processes) {
    for (const [model, count] of Object.entries(state[of] ?? {})) {
      counts.set(model, (counts.get(model) ?? 0) + count);
    }
  }
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const days = { from: day(nowMs - 29 * DAY_MS), to: day(nowMs) };
  return [...counts].map(([model, count]) => (
    <>
      <a href={callsLink(BASE, { ...days, model })}>
        <code>{model}</code>
      </a>: {countText(count)} {count === 1 ? "call" : "calls"}
    </>
  ));
}

function wrongClocks(processes: readonly KnownProcess[]): readonly string[] {
  return processes.flatMap(({ processId, state: { clock_ahead_ms: ms = 0 } }) =>
    Math.abs(ms) <= MAX_CLOCK_DIFFERENCE_MS ? [] : [
      `${processId} by ${countText(Math.round(Math.abs(ms) / 1000))} s ${
        ms > 0 ? "ahead" : "behind"
      }`,
    ]
  );
}

/** The notices in one line each, for the overview. */
export function NoticeLines(
  { notices }: { readonly notices: readonly Notice[] },
): JSX.Element {
  return notices.length === 0
    ? <p class="note">No notices: all breakers are closed.</p>
    : (
      <>
        {notices.map(({ kind, title, href, items }) => (
          <div
            class={`note ${kind}`}
            role={kind === "bad" ? "alert" : "status"}
          >
            <a href={href}>{title}</a>:
            <ul>
              {items.slice(0, 3).map((item, at) => <li key={at}>{item}</li>)}
              {items.length > 3
                ? (
                  <li>
                    <a href={`${BASE}/notices`}>
                      {countText(items.length - 3)} more
                    </a>
                  </li>
                )
                : null}
            </ul>
          </div>
        ))}
      </>
    );
}

async function noticesPage(
  { gateway, ...context }: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const notices = await noticesOf(gateway);
  return page(
    { gateway, ...context },
    visit,
    {
      title: "Notices",
      about: (
        <>
          What to look at, as it is at{" "}
          <Moment atMs={gateway.now()} of="clock" />{" "}
          UTC. What has been mended is no longer here.
        </>
      ),
    },
    notices.length === 0
      ? (
        <p class="card">
          No notices: the books balance as far as they were audited, all
          breakers are closed, no limit is used to 80 %, and all webhooks take
          their messages.
        </p>
      )
      : (
        <>
          {notices.map(({ kind, title, href, items }) => (
            <section class="card">
              <h2>
                <span class={`tag ${kind}`}>{countText(items.length)}</span>
                {" "}
                <a href={href}>{title}</a>
              </h2>
              <ul class="list">
                {items.map((item, at) => <li key={at}>{item}</li>)}
              </ul>
            </section>
          ))}
        </>
      ),
  );
}
