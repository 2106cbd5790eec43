/**
 * The processes, the upstreams and their circuit breakers, as all processes report them; while the
 * store is down, as this one sees them.
 */
import type { JSX } from "../jsx.d.ts";
import type {
  AttemptCount,
  UnknownRefusal,
} from "../../../gateway/accounts/reports/failed_attempts.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type {
  KnownProcess,
  KnownProcesses,
} from "../../../gateway/live/live_calls.ts";
import {
  type MergedCandidate,
  mergedCandidates,
} from "../../../gateway/live/merged_candidates.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { secondsText } from "../parts/call_ending.tsx";
import { type Column, DataTable, Foreign } from "../parts/data_table.tsx";
import { NARROWED, NarrowedTable } from "../forms/narrowing.tsx";
import { page } from "../parts/layout.tsx";
import { modelHref } from "../parts/model_cells.tsx";
import { countText } from "../parts/money.tsx";
import { Distance, durationText, Moment } from "../parts/moment.tsx";
import { operatorPageRoute } from "../http/page_route.ts";

const ATTEMPTS = "/console/operator/attempts";
const WINDOW_MS = 15 * 60_000;
/** The time over which unknown refusals are listed. */
const DAY_MS = 24 * 3_600_000;

/** Breakers, failures and credentials of each candidate. */
export const UPSTREAMS_PAGE: OperatorPageRoute = operatorPageRoute(
  "GET",
  "/console/operator/upstreams",
  upstreamsPage,
  { query: NARROWED },
);

async function upstreamsPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { gateway, path, query } = context;
  const nowMs = gateway.now();
  const known = await gateway.live.processes();
  const failures = known.complete
    ? await gateway.admin.failedAttempts.count(nowMs - WINDOW_MS, nowMs)
    : undefined;
  const unknown = known.complete
    ? await gateway.admin.failedAttempts.unknownRefusals(nowMs - DAY_MS)
    : [];
  const candidates = mergedCandidates(known.data);
  return page(
    context,
    visit,
    {
      title: "Upstreams",
      about: aboutText(known),
      actions: (
        <>
          <a class="button" href={ATTEMPTS}>Failed attempts</a>
          <a
            class="button"
            href={query.size === 0 ? path : `${path}?${query}`}
          >
            Refresh
          </a>
        </>
      ),
    },
    <>
      {known.complete ? null : (
        <p class="note warn" role="alert">
          The store does not answer: this is what this process sees. Calls that
          are running go on.
        </p>
      )}
      <NarrowedTable
        address={context}
        visit={visit}
        name="Candidates"
        title="Model or candidate"
        heading="Candidates"
        rows={candidates}
        textsOf={({ model, upstream }) => [model, upstream]}
        columns={candidateColumns({
          processes: known.data.length,
          areResting: candidates.some(({ restingUntilMs }) =>
            restingUntilMs !== undefined
          ),
          failures,
          nowMs,
        })}
        sort="-breaker"
      />
      {unknown.length === 0
        ? null
        : <UnknownRefusals rows={unknown} nowMs={nowMs} />}
      <section class="card">
        <h2>Processes</h2>
        <Processes processes={known.data} nowMs={nowMs} />
      </section>
    </>,
  );
}

/** Refusals that a row may explain, to clients and to failover. */
function UnknownRefusals(
  { rows, nowMs }: {
    readonly rows: readonly UnknownRefusal[];
    readonly nowMs: number;
  },
): JSX.Element {
  const attempts = ({ upstream, status }: UnknownRefusal): string =>
    `${ATTEMPTS}?${new URLSearchParams({
      upstream,
      error: String(status),
      from: new Date(nowMs - DAY_MS).toISOString(),
    })}`;
  return (
    <section class="card">
      <h2>Unknown refusals</h2>
      <p class="soft">
        Of the last day, with a status that has no meaning here: clients
        received a 400 with the upstream's words.
      </p>
      <DataTable<UnknownRefusal>
        name="Unknown refusals"
        rows={rows}
        columns={[
          {
            name: "Upstream",
            isFirst: true,
            wraps: true,
            cell: ({ upstream }) => upstream,
          },
          { name: "Status", cell: ({ status }) => <b>{String(status)}</b> },
          {
            name: "Attempts",
            number: true,
            cell: (row) => <a href={attempts(row)}>{countText(row.count)}</a>,
          },
          {
            name: "Words of one",
            wraps: true,
            cell: ({ words = "" }) => <Foreign text={words} />,
          },
        ]}
      />
    </section>
  );
}

function aboutText({ data }: KnownProcesses): string {
  const oldestMs = Math.max(...data.map(({ ageMs }) => ageMs));
  return data.length === 1
    ? "1 process, as it is now."
    : `${data.length} processes, oldest report ${durationText(oldestMs)}.`;
}

function candidateColumns(
  { processes, areResting, failures, nowMs }: {
    readonly processes: number;
    /** Whether any candidate takes no calls until a time that its upstream named. */
    readonly areResting: boolean;
    /** Failed attempts of the last 15 minutes; undefined: the store does not reply. */
    readonly failures: readonly AttemptCount[] | undefined;
    readonly nowMs: number;
  },
): readonly Column<MergedCandidate>[] {
  return [
    {
      name: "Model",
      order: { name: "model", of: ({ model }) => model },
      isFirst: true,
      wraps: true,
      cell: ({ model }) => (
        <a href={modelHref("/console/operator", model)}>
          <code>{model}</code>
        </a>
      ),
    },
    {
      name: "Candidate",
      order: { name: "candidate", of: ({ upstream }) => upstream },
      wraps: true,
      cell: ({ upstream }) => upstream,
    },
    {
      name: "Breaker",
      order: {
        name: "breaker",
        largest: "only",
        of: ({ hasProblem }) => hasProblem ? 1 : 0,
      },
      isFirst: true,
      cell: (one) => (
        <Breaker candidate={one} processes={processes} nowMs={nowMs} />
      ),
    },
    {
      name: "Since",
      cell: ({ worst: { since } }) =>
        since === null
          ? <span class="soft">the start</span>
          : <Distance atMs={Date.parse(since)} nowMs={nowMs} />,
    },
    ...(areResting
      ? [{
        name: "Rests until",
        cell: ({ restingUntilMs }: MergedCandidate) =>
          restingUntilMs === undefined
            ? ""
            : <Distance atMs={restingUntilMs} nowMs={nowMs} />,
      }]
      : []),
    {
      name: "Last 15 min",
      order: { name: "failed", largest: "first", of: ({ failed }) => failed },
      wraps: true,
      cell: (one) => (
        <Failures
          candidate={one}
          counts={failures?.filter(({ model, upstream }) =>
            model === one.model && upstream === one.upstream
          )}
          nowMs={nowMs}
        />
      ),
    },
    {
      name: "First token p50, p95",
      order: {
        name: "first_token",
        largest: "first",
        of: ({ firstToken }) => firstToken?.p95,
      },
      cell: ({ firstToken }) =>
        firstToken === undefined
          ? "–"
          : `${secondsText(firstToken.p50)}, ${secondsText(firstToken.p95)}`,
    },
    {
      name: "Credential",
      wraps: true,
      cell: (one) => <Credential candidate={one} />,
    },
  ];
}

function Breaker(
  { candidate: { worst, problemsIn }, processes, nowMs }: {
    readonly candidate: MergedCandidate;
    readonly processes: number;
    readonly nowMs: number;
  },
): JSX.Element {
  const [kind, name] = worst.state === "closed"
    ? ["ok", "closed"]
    : worst.state === "open"
    ? ["bad", "open"]
    : ["warn", "half open"];
  return (
    <>
      <span class={`tag ${kind}`}>
        {worst.state === "closed" || processes === 1
          ? name
          : `${name} in ${problemsIn} of ${processes}`}
      </span>
      {worst.state === "half_open"
        ? " the next call probes it"
        : worst.probe_at === undefined
        ? ""
        : (
          <>
            {" "}
            probe <Distance atMs={Date.parse(worst.probe_at)} nowMs={nowMs} />
          </>
        )}
    </>
  );
}

/** Whether the credential works, as far as calls have shown it. */
function Credential(
  { candidate: { credential, refused, calls, failed, wasCalled } }: {
    readonly candidate: MergedCandidate;
  },
): JSX.Element {
  if (credential !== undefined) {
    return (
      <>
        <span class={credential.usable ? "tag warn" : "tag bad"}>
          {credential.usable ? "failing, still usable" : "fails"}
        </span>{" "}
        {credential.reason}
      </>
    );
  }
  if (refused !== undefined) {
    return (
      <>
        <span class="tag bad">refused</span> <bdi>{refused.reason}</bdi>
      </>
    );
  }
  if (calls > failed) return <span class="tag ok">works</span>;
  return (
    <span class="soft">
      {calls > 0
        ? "not known: all calls failed"
        : wasCalled
        ? "not used in 15 min"
        : "not used yet"}
    </span>
  );
}

/** The failed attempts, as stored; while the store does not answer, as processes counted them. */
function Failures(
  { candidate: { model, upstream, calls, failed, errors }, counts, nowMs }: {
    readonly candidate: MergedCandidate;
    readonly counts: readonly AttemptCount[] | undefined;
    readonly nowMs: number;
  },
): JSX.Element {
  const kinds: readonly (readonly [string, number])[] = counts === undefined
    ? Object.entries(errors)
    : counts.map(({ error, count }) => [error, count]);
  const sum = counts === undefined
    ? failed
    : counts.reduce((total, { count }) => total + count, 0);
  const most = Math.max(calls, sum);
  const text = `${countText(sum)} of ${countText(most)} failed`;
  if (sum === 0) {
    return most === 0 ? <span class="soft">no calls</span> : <>{text}</>;
  }
  const search = new URLSearchParams({
    upstream,
    model,
    from: new Date(nowMs - WINDOW_MS).toISOString(),
    to: new Date(nowMs).toISOString(),
  });
  const link = (count: string, error?: string): JSX.Element => {
    const filters = new URLSearchParams(search);
    if (error !== undefined) filters.set("error", error);
    return counts === undefined
      ? <>{count}</>
      : <a href={`${ATTEMPTS}?${filters}`}>{count}</a>;
  };
  return (
    <>
      {link(text)}{" "}
      <span class="soft">
        {kinds.toSorted(([, a], [, b]) => b - a)
          .map(([error, count], at) => (
            <>
              {at === 0 ? "" : ", "}
              {error.replaceAll("_", " ")}: {link(countText(count), error)}
            </>
          ))}
      </span>
    </>
  );
}

function Processes(
  { processes, nowMs }: {
    readonly processes: readonly KnownProcess[];
    readonly nowMs: number;
  },
): JSX.Element {
  return (
    <DataTable<KnownProcess>
      name="Processes"
      rows={processes}
      columns={[
        {
          name: "Process",
          isFirst: true,
          wraps: true,
          cell: ({ processId, isOwn }) => (
            <>
              <code>{processId}</code>
              {isOwn ? " (this one)" : ""}
            </>
          ),
        },
        {
          name: "Report",
          isFirst: true,
          cell: ({ isOwn, ageMs }) =>
            isOwn ? "now" : `${durationText(ageMs)} old`,
        },
        { name: "Version", cell: ({ state }) => state.version },
        {
          name: "Started",
          cell: ({ state }) => (
            <Distance atMs={Date.parse(state.started_at)} nowMs={nowMs} />
          ),
        },
        {
          name: "Configuration",
          wraps: true,
          cell: ({ state: { configuration } }) => (
            <>
              {configuration.hash === null
                ? "no file"
                : <code>{configuration.hash}</code>}, since{" "}
              <Moment atMs={Date.parse(configuration.loaded_at)} />
            </>
          ),
        },
        {
          name: "Calls",
          cell: ({ state: { calls } }) =>
            `${countText(calls.under_way)} of ${countText(calls.limit)}, ${
              countText(calls.streams)
            } streams`,
        },
        {
          name: "Connections",
          cell: ({ state: { connections } }) =>
            `${countText(connections.open)}, ${
              countText(connections.busy)
            } busy`,
        },
        {
          name: "Writes waiting",
          number: true,
          cell: ({ state }) => countText(state.ledger_backlog),
        },
      ]}
    />
  );
}
