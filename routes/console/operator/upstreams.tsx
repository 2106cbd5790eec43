/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The processes, the upstreams and their circuit breakers, as all processes report them; while the
 * store is down, as this one sees them.
 *
 * @module
 */
import type { JSX } from "../jsx.d.ts";
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
import { secondsText } from "../call_ending.tsx";
import { DataTable } from "../data_table.tsx";
import { page } from "../layout.tsx";
import { countText } from "../money.tsx";
import { Distance, durationText, Moment } from "../moment.tsx";

/** Breakers, failures and credentials of each candidate. */
export const UPSTREAMS_PAGE: OperatorPageRoute = {
  access: "page",
  area: "operator",
  method: "GET",
  path: "/console/operator/upstreams",
  handle: upstreamsPage,
};

async function upstreamsPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { gateway, path } = context;
  const nowMs = gateway.now();
  const known = await gateway.live.processes();
  return page(
    context,
    visit,
    {
      title: "Upstreams",
      about: aboutText(known),
      actions: <a class="button" href={path}>Refresh</a>,
    },
    <>
      {known.complete ? null : (
        <p class="note warn" role="alert">
          The store does not answer: this is what this process sees. Calls that
          are running go on.
        </p>
      )}
      <section class="card">
        <h2>Candidates</h2>
        <Candidates
          candidates={mergedCandidates(known.data)}
          processes={known.data.length}
          nowMs={nowMs}
        />
      </section>
      <section class="card">
        <h2>Processes</h2>
        <Processes processes={known.data} nowMs={nowMs} />
      </section>
    </>,
  );
}

function aboutText({ data }: KnownProcesses): string {
  const oldestMs = Math.max(...data.map(({ ageMs }) => ageMs));
  return data.length === 1
    ? "1 process, as it is now."
    : `${data.length} processes, oldest report ${durationText(oldestMs)}.`;
}

function Candidates(
  { candidates, processes, nowMs }: {
    readonly candidates: readonly MergedCandidate[];
    readonly processes: number;
    readonly nowMs: number;
  },
): JSX.Element {
  return (
    <DataTable<MergedCandidate>
      name="Candidates"
      rows={candidates}
      columns={[
        { name: "Model", cell: ({ model }) => <code>{model}</code> },
        { name: "Candidate", cell: ({ upstream }) => upstream },
        {
          name: "Breaker",
          cell: (one) => <Breaker candidate={one} processes={processes} />,
        },
        {
          name: "Since",
          cell: ({ worst: { since } }) =>
            since === null
              ? <span class="soft">the start</span>
              : <Distance atMs={Date.parse(since)} nowMs={nowMs} />,
        },
        {
          name: "Rests",
          cell: ({ restingUntilMs }) =>
            restingUntilMs === undefined
              ? ""
              : <Distance atMs={restingUntilMs} nowMs={nowMs} />,
        },
        {
          name: "Last 15 min",
          cell: (one) => <Failures candidate={one} />,
        },
        {
          name: "First token p50, p95",
          cell: ({ firstToken }) =>
            firstToken === undefined
              ? "–"
              : `${secondsText(firstToken.p50)}, ${
                secondsText(firstToken.p95)
              }`,
        },
        {
          name: "Credential",
          wraps: true,
          cell: ({ credential }) =>
            credential === undefined ? <span class="tag ok">works</span> : (
              <>
                <span class={credential.usable ? "tag warn" : "tag bad"}>
                  {credential.usable ? "failing, still usable" : "fails"}
                </span>{" "}
                {credential.reason}
              </>
            ),
        },
      ]}
    />
  );
}

function Breaker(
  { candidate: { worst, unwellIn }, processes }: {
    readonly candidate: MergedCandidate;
    readonly processes: number;
  },
): JSX.Element {
  const [kind, name] = worst.state === "closed"
    ? ["ok", "closed"]
    : worst.state === "open"
    ? ["bad", "open"]
    : ["warn", "probing"];
  return (
    <span class={`tag ${kind}`}>
      {worst.state === "closed" || processes === 1
        ? name
        : `${name} in ${unwellIn} of ${processes}`}
    </span>
  );
}

function Failures(
  { candidate: { model, calls, failed, errors } }: {
    readonly candidate: MergedCandidate;
  },
): JSX.Element {
  const text = `${countText(failed)} of ${countText(calls)} failed`;
  const kinds = Object.entries(errors).toSorted(([, a], [, b]) => b - a)
    .slice(0, 3)
    .map(([error, count]) => `${error.replaceAll("_", " ")}: ${count}`);
  return failed === 0
    ? <>{calls === 0 ? <span class="soft">no calls</span> : text}</>
    : (
      <>
        <a
          href={`/console/operator/calls?ended=unserved&model=${
            encodeURIComponent(model)
          }`}
        >
          {text}
        </a>{" "}
        <span class="soft">{kinds.join(", ")}</span>
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
          cell: ({ processId, isOwn }) => (
            <>
              <code>{processId}</code>
              {isOwn ? " (this one)" : ""}
            </>
          ),
        },
        {
          name: "Report",
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
