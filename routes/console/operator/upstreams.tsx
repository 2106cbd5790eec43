/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The configuration in force, the upstreams and their circuit breakers, as this process sees them.
 * Served from memory, also while the store is down.
 *
 * @module
 */
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import {
  type CandidateReport,
  candidateReports,
} from "../../../gateway/upstream/candidate_report.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { DataTable } from "../data_table.tsx";
import { page } from "../layout.tsx";
import { Distance, Moment } from "../moment.tsx";

/** Breakers and credentials of each candidate. */
export const UPSTREAMS_PAGE: OperatorPageRoute = {
  access: "page",
  area: "operator",
  method: "GET",
  path: "/console/operator/upstreams",
  handle: upstreamsPage,
};

function upstreamsPage(context: RouteContext, visit: Visit): HttpReply {
  const { gateway, path } = context;
  const nowMs = gateway.now();
  const { configHash } = gateway.config;
  const reports = candidateReports(gateway.models.allCandidates, nowMs);
  return page(
    context,
    visit,
    {
      title: "Upstreams",
      about: "As this process sees them, now.",
      actions: <a class="button" href={path}>Refresh</a>,
    },
    <section class="card">
      <p class="soft">
        {configHash === undefined ? "No configuration file; settings" : (
          <>
            Configuration <code>{configHash}</code>
          </>
        )} in force since <Moment atMs={gateway.configuredAtMs} />
      </p>
      <DataTable<CandidateReport>
        name="Upstreams"
        rows={reports}
        columns={[
          { name: "Model", cell: ({ model }) => <code>{model}</code> },
          { name: "Candidate", cell: ({ upstream }) => upstream },
          {
            name: "Breaker",
            cell: ({ state }) =>
              state === "closed"
                ? <span class="tag ok">closed</span>
                : state === "open"
                ? <span class="tag bad">open</span>
                : <span class="tag warn">probing</span>,
          },
          {
            name: "Since",
            cell: ({ since }) =>
              since === null
                ? <span class="soft">the start</span>
                : <Distance atMs={Date.parse(since)} nowMs={nowMs} />,
          },
          {
            name: "Rests",
            cell: ({ resting_until }) =>
              resting_until === null
                ? ""
                : <Distance atMs={Date.parse(resting_until)} nowMs={nowMs} />,
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
    </section>,
  );
}
