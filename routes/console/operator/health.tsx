/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * How the calls of the last hour and the last day went.
 *
 * @module
 */
import {
  type Outcome,
  OUTCOME_NAMES,
} from "../../../gateway/accounts/calls/outcome.ts";
import type { Admin } from "../../../gateway/accounts/repositories/admin.ts";
import type { CallHealth } from "../../../gateway/accounts/repositories/call_health.ts";
import { compact } from "../../../translate/bytes/compact.ts";
import type { JSX } from "../jsx.d.ts";
import { outcomeText, secondsText } from "../parts/call_ending.tsx";
import { DataTable } from "../parts/data_table.tsx";
import { callsLink } from "../parts/figure_links.ts";
import { countText } from "../parts/money.tsx";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const BASE = "/console/operator";

/** Calls that deserved a reply and received none, or not all of it. */
export const CAUSES: readonly Outcome[] = [
  "upstream_failed",
  "gateway_failed",
  "cut",
  "lost",
];

interface Span extends CallHealth {
  readonly name: string;
  /** To the minute, in UTC. */
  readonly from: string;
  readonly to: string;
}

/** The table of both spans, each figure a link to its calls. */
export async function healthTable(
  admin: Pick<Admin, "callHealth">,
  nowMs: number,
): Promise<JSX.Element> {
  const untilMs = (Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS;
  const minute = (ms: number): string =>
    new Date(ms).toISOString().slice(0, 16);
  const spanOf = async (name: string, ms: number): Promise<Span> => ({
    name,
    from: minute(untilMs - ms),
    to: minute(untilMs),
    ...await admin.callHealth(untilMs - ms, untilMs),
  });
  const spans = [
    await spanOf("Last hour", HOUR_MS),
    await spanOf("Last day", 24 * HOUR_MS),
  ];
  const link = (
    { from, to }: Span,
    text: string,
    outcome?: Outcome,
  ): JSX.Element => (
    <a
      href={callsLink(BASE, {
        from,
        to,
        ...compact({ outcome }),
      })}
    >
      {text}
    </a>
  );
  return (
    <section class="card">
      <h2>Health</h2>
      <DataTable<Span>
        name="Health"
        stacks
        rows={spans}
        columns={[
          { name: "", cell: ({ name }) => name },
          {
            name: "Calls",
            number: true,
            cell: (span) => link(span, countText(span.calls)),
          },
          { name: "Errors", number: true, cell: (span) => rateOf(span) },
          {
            name: "By cause",
            wraps: true,
            cell: (span) =>
              OUTCOME_NAMES.filter((one) =>
                one !== "complete" && (span.outcomes[one] ?? 0) > 0
              ).map((one, at) => (
                <>
                  {at === 0 ? "" : ", "}
                  {outcomeText(one)}{" "}
                  {link(span, countText(span.outcomes[one] ?? 0), one)}
                </>
              )),
          },
          {
            name: "First token p50, p95",
            cell: (span) =>
              span.firstTokenMs === undefined ? "–" : link(
                span,
                `${secondsText(span.firstTokenMs.p50)}, ${
                  secondsText(span.firstTokenMs.p95)
                }`,
              ),
          },
        ]}
      />
    </section>
  );
}

function rateOf({ calls, outcomes }: CallHealth): string {
  const errors = CAUSES.reduce((sum, one) => sum + (outcomes[one] ?? 0), 0);
  return calls === 0 ? "–" : `${(errors / calls * 100).toFixed(1)} %`;
}
