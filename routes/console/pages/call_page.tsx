/**
 * One call, explained: why it was refused and what helps, or what it cost to the micro-dollar, and
 * what happened at the upstreams.
 */
import type { JSX } from "../jsx.d.ts";
import { outcomeOf } from "../../../gateway/accounts/calls/outcome.ts";
import {
  type ChargePart,
  explainCharge,
  type Explanation,
} from "../../../gateway/accounts/charges/explanation.ts";
import {
  isPerUse,
  meterWords,
} from "../../../gateway/accounts/charges/meters.ts";
import { reasonText } from "../../../gateway/accounts/charges/reason_text.ts";
import { ApiError } from "../../../translate/model/error.ts";
import type { FoundCall } from "../../../gateway/accounts/reports/call_report.ts";
import type { AccountScope } from "../../../gateway/admin/account_scope.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { RouteContext } from "../../route.ts";
import { Ending, secondsText } from "../parts/call_ending.tsx";
import { DataTable, Foreign } from "../parts/data_table.tsx";
import { Facts } from "../parts/facts.tsx";
import { keyNames } from "../parts/key_names.ts";
import { page } from "../parts/layout.tsx";
import { modelHref } from "../parts/model_cells.tsx";
import { underWayColumns } from "../parts/live_rows.ts";
import { LiveText } from "../parts/live_cell.tsx";
import { lookOf } from "../parts/live_view.tsx";
import { countText, Money } from "../parts/money.tsx";
import { momentText } from "../parts/moment.tsx";
import { Why } from "../parts/reasons.tsx";

/** The page of a call; one outside of `scope` does not exist. */
export async function callPage(
  context: RouteContext,
  visit: Visit,
  scope: Partial<AccountScope>,
  base: string,
): Promise<HttpReply> {
  const { admin, models } = context.gateway;
  const id = context.parameters["id"] ?? "";
  const { underWay, atMs: nowMs } = await context.gateway.live.look(scope);
  let call: FoundCall;
  try {
    // Its record comes before a report: a process that died has reported calls as under way that
    // were lost with it.
    call = await admin.calls.get(id, scope);
  } catch (error) {
    const running = underWay.data.find(({ requestId }) => requestId === id);
    if (
      running === undefined ||
      !(error instanceof ApiError && error.kind === "not_found")
    ) throw error;
    const look = await lookOf(context, scope, base);
    return page(
      context,
      visit,
      {
        title: "Call",
        about: <code>{id}</code>,
        nav: `${base}/calls`,
        actions: <a class="button" href={context.path}>Refresh</a>,
      },
      <section class="card">
        <p role="status">
          The call is under way; what it cost is here when it has ended.
        </p>
        <dl>
          {underWayColumns(look, nowMs).map(({ name, cell }) => (
            <>
              <dt>{name}</dt>
              <dd>
                <LiveText cell={cell(running)} />
              </dd>
            </>
          ))}
        </dl>
      </section>,
    );
  }
  const { record, entry, atMs } = call;
  const explained = entry === undefined ? undefined : explainCharge(entry);
  const isOperators = scope.accountId === undefined;
  const keyName = (await keyNames(admin, scope, [record.keyId]))
    .get(record.keyId);
  const accountName = isOperators
    ? (await admin.accounts.names([record.accountId])).get(record.accountId)
    : undefined;
  return page(
    context,
    visit,
    {
      title: "Call",
      about: <code>{record.requestId}</code>,
      nav: `${base}/calls`,
    },
    <>
      <section class="card">
        <Facts
          of={{
            Ended: (
              <Ending
                outcome={outcomeOf(record)}
                status={record.status}
                code={record.code}
              />
            ),
            Time: (
              <time dateTime={new Date(atMs).toISOString()}>
                {momentText(atMs, true)} UTC
              </time>
            ),
            Account: !isOperators ? null : (
              <>
                <a
                  href={`${base}/accounts/${
                    encodeURIComponent(record.accountId)
                  }`}
                >
                  <Foreign text={record.accountId} />
                </a>
                {accountName === undefined ||
                    accountName === record.accountId
                  ? null
                  : (
                    <>
                      : <Foreign text={accountName} />
                    </>
                  )}
              </>
            ),
            Model: record.model === undefined ||
                models.model(record.model) === undefined
              ? <Foreign text={record.model ?? "none given"} />
              : (
                <a href={modelHref(base, record.model)}>
                  <Foreign text={record.model} />
                </a>
              ),
            Endpoint: (record.endpoint || "not known") +
              (record.stream === true ? ", streamed" : ""),
            Key: (
              <>
                <a
                  href={`${base}/calls?key=${encodeURIComponent(record.keyId)}`}
                >
                  {keyName === undefined
                    ? <code>{record.keyId}</code>
                    : <Foreign text={keyName} />}
                </a>
                {keyName === undefined
                  ? null
                  : <code class="id">{record.keyId}</code>}
              </>
            ),
            "End user": record.user === undefined
              ? null
              : <Foreign text={record.user} />,
            Whole: secondsText(record.durationMs),
            "First byte": secondsText(record.firstByteMs),
            "First token": secondsText(record.firstTokenMs),
            Dropped: record.dropped === undefined || record.dropped.length === 0
              ? null
              : record.dropped.join(", "),
            Trace: !isOperators || record.traceId === undefined
              ? null
              : <code>{record.traceId}</code>,
          }}
        />
      </section>
      <Why record={record} atMs={atMs} isOperators={isOperators} />
      <section class="card">
        <h2>Cost</h2>
        {explained === undefined ||
            explained.parts.every(({ tokens }) => tokens === 0)
          ? (
            <p>
              Nothing was charged.
            </p>
          )
          : <Arithmetic explained={explained} />}
        {entry === undefined ? null : (
          <p class="soft">
            {explained?.parts.some(({ bounded }) => bounded === true) === true
              ? "≈ The upstream reported more tokens or uses than the call can have had, so the most that it can have had is charged. "
              : entry.estimated
              ? "≈ The upstream reported no complete usage: tokens are an estimate. "
              : ""}
            {explained?.parts.some(({ unpriced }) => unpriced === true) === true
              ? "Unpriced: the price of the model has no rate for it, so the dearest of its kind counts. "
              : ""}
            {explained?.version === undefined
              ? ""
              : `Version ${explained.version} of the price. `}
            {entry.corrects === undefined
              ? ""
              : "First charged by estimate, because the process that served the call seemed dead, and corrected since. "}
            Line #{entry.seq}{" "}
            of the ledger{entry.balanceModel === undefined ? "." : (
              <>
                , paid from the balance of{" "}
                <Foreign text={entry.balanceModel} />.
              </>
            )}
            {isOperators || visit.session.kind !== "key"
              ? (
                <>
                  {" "}
                  <a
                    href={`${base}/ledger?request_id=${
                      encodeURIComponent(record.requestId)
                    }`}
                  >
                    See the line
                  </a>
                </>
              )
              : null}
          </p>
        )}
      </section>
      <Attempts call={call} isOperators={isOperators} />
    </>,
  );
}

/** A whole number of 10⁻¹² dollars, exactly. */
function picoText(pico: bigint): string {
  const text = String(pico).padStart(13, "0");
  return `$${text.slice(0, -12)}.${text.slice(-12)}`;
}

/** A rate, for a million tokens or for one use. */
function Rate(
  { of, each }: { readonly of: string; readonly each: number },
): JSX.Element {
  return (
    <>
      <Money microUsd={each} decimals={6} />
      {isPerUse(of) ? " each" : " / M"}
    </>
  );
}

function Meter({ part }: { readonly part: ChargePart }): JSX.Element {
  const { of, model, unpriced, bounded } = part;
  return (
    <>
      {meterWords(of)}
      {model === undefined ? null : (
        <>
          {" by "}
          <Foreign text={model} />
        </>
      )}
      {unpriced === undefined ? null : (
        <>
          {" "}
          <span class="tag warn">unpriced</span>
        </>
      )}
      {bounded === undefined ? null : (
        <>
          {" "}
          <span class="tag warn">bounded</span>
        </>
      )}
    </>
  );
}

function Arithmetic(
  { explained }: { readonly explained: Explanation },
): JSX.Element {
  const parts = explained.parts.filter(({ tokens }) => tokens !== 0);
  const hasReasons = parts.some(({ reasons }) => reasons !== undefined);
  return (
    <DataTable<ChargePart>
      name="How the charge was computed"
      rows={parts}
      columns={[
        {
          name: "What",
          isFirst: true,
          cell: (part) => <Meter part={part} />,
          sum: "Charged",
        },
        {
          name: "Count",
          number: true,
          cell: ({ tokens }) => countText(tokens),
        },
        ...(hasReasons
          ? [
            {
              name: "Rate",
              number: true,
              cell: ({ rate, of }: ChargePart) => <Rate of={of} each={rate} />,
            },
            { name: "Because of", wraps: true, cell: reasonText },
          ]
          : []),
        {
          name: "× dollars",
          number: true,
          cell: ({ price, of }) => <Rate of={of} each={price} />,
        },
        {
          name: "= exactly",
          number: true,
          cell: ({ picoUsd }) => picoText(picoUsd),
          sum: (
            <>
              {picoText(explained.picoUsd)}, rounded up to{" "}
              <Money microUsd={explained.microUsd} decimals={6} />
            </>
          ),
        },
      ]}
    />
  );
}

function Attempts(
  { call: { record, entry }, isOperators }: {
    readonly call: FoundCall;
    readonly isOperators: boolean;
  },
): JSX.Element {
  const attempts = record.attempts ?? [];
  const number = (value: unknown): number | undefined =>
    typeof value === "number" ? value : undefined;
  return (
    <section class="card">
      <h2>Attempts at upstreams</h2>
      {attempts.length === 0
        ? (
          <p>
            {entry === undefined
              ? "None: nothing was sent to a vendor."
              : "Not known: the process ended before it recorded them."}
          </p>
        )
        : (
          <DataTable
            name="Attempts"
            rows={attempts}
            columns={[
              ...(isOperators
                ? [{
                  name: "Upstream",
                  wraps: true,
                  cell: (one: (typeof attempts)[number]) =>
                    String(one["upstream"] ?? ""),
                }]
                : []),
              {
                name: "Status",
                cell: (one) =>
                  one["status"] === null || one["status"] === undefined
                    ? "none"
                    : String(one["status"]),
              },
              {
                name: "Error",
                wraps: true,
                cell: (one) =>
                  one["error"] === undefined || one["error"] === null
                    ? null
                    : (
                      <>
                        <Foreign
                          text={String(one["error"]).replaceAll("_", " ")}
                        />
                        {isOperators && typeof one["words"] === "string"
                          ? (
                            <>
                              : <bdi>{one["words"]}</bdi>
                            </>
                          )
                          : null}
                      </>
                    ),
              },
              {
                name: "Began after",
                number: true,
                cell: (one) => secondsText(number(one["after_ms"])),
              },
              {
                name: "First byte",
                number: true,
                cell: (one) => secondsText(number(one["first_byte_ms"])),
              },
              {
                name: "Took",
                number: true,
                cell: (one) => secondsText(number(one["duration_ms"])),
              },
            ]}
          />
        )}
    </section>
  );
}
