/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * One call, explained: why it was refused and what helps, or what it cost to the micro-dollar, and
 * what happened at the upstreams.
 *
 * @module
 */
import type { JSX } from "./jsx.d.ts";
import {
  type ChargePart,
  explainCharge,
  type Explanation,
} from "../../gateway/accounts/ledger/explanation.ts";
import { isPerUse, meterWords } from "../../gateway/accounts/ledger/meters.ts";
import { reasonText } from "../../gateway/accounts/ledger/reason_text.ts";
import type { FoundCall } from "../../gateway/accounts/repositories/call_report.ts";
import type { AccountScope } from "../../gateway/admin/account_scope.ts";
import type { Visit } from "../../gateway/console/visit.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";
import type { RouteContext } from "../route.ts";
import { Ending, secondsText } from "./call_ending.tsx";
import { DataTable, Foreign } from "./data_table.tsx";
import { page } from "./layout.tsx";
import { countText, Money } from "./money.tsx";
import { momentText } from "./moment.tsx";

/** The page of a call; one outside of `scope` does not exist. */
export async function callPage(
  context: RouteContext,
  visit: Visit,
  scope: Partial<AccountScope>,
  base: string,
): Promise<HttpReply> {
  const call = await context.gateway.admin.calls.get(
    context.parameters["id"] ?? "",
    scope,
  );
  const { record, entry, atMs } = call;
  const explained = entry === undefined ? undefined : explainCharge(entry);
  const isOperators = scope.accountId === undefined;
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
        <dl>
          <dt>Ended</dt>
          <dd>
            <Ending
              ended={record.ended}
              status={record.status}
              code={record.code}
            />
          </dd>
          <dt>Time</dt>
          <dd>
            <time dateTime={new Date(atMs).toISOString()}>
              {momentText(atMs, true)} UTC
            </time>
          </dd>
          {isOperators
            ? (
              <>
                <dt>Account</dt>
                <dd>
                  <a
                    href={`${base}/accounts/${
                      encodeURIComponent(record.accountId)
                    }`}
                  >
                    <Foreign text={record.accountId} />
                  </a>
                </dd>
              </>
            )
            : null}
          <dt>Model</dt>
          <dd>
            <Foreign text={record.model ?? "none given"} />
          </dd>
          <dt>Endpoint</dt>
          <dd>
            {record.endpoint === "" ? "not known" : record.endpoint}
            {record.stream === true ? ", streamed" : ""}
          </dd>
          <dt>Key</dt>
          <dd>
            <a
              href={`${base}/calls?key=${encodeURIComponent(record.keyId)}`}
            >
              <code>{record.keyId}</code>
            </a>
          </dd>
          {record.user === undefined ? null : (
            <>
              <dt>End user</dt>
              <dd>
                <Foreign text={record.user} />
              </dd>
            </>
          )}
          <dt>Whole</dt>
          <dd>{secondsText(record.durationMs)}</dd>
          <dt>First byte</dt>
          <dd>{secondsText(record.firstByteMs)}</dd>
          <dt>First token</dt>
          <dd>{secondsText(record.firstTokenMs)}</dd>
          {record.dropped === undefined || record.dropped.length === 0
            ? null
            : (
              <>
                <dt>Dropped</dt>
                <dd>{record.dropped.join(", ")}</dd>
              </>
            )}
          {isOperators && record.traceId !== undefined
            ? (
              <>
                <dt>Trace</dt>
                <dd>
                  <code>{record.traceId}</code>
                </dd>
              </>
            )
            : null}
        </dl>
      </section>
      {record.ended === "complete" ? null : <Why call={call} />}
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
            {entry.estimated
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
            Line #{entry.seq} of the ledger{entry.purse === undefined ? "." : (
              <>
                , paid from the balance of <Foreign text={entry.purse} />.
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

/** What helps against a refusal, by its code. */
const HELP: Readonly<Record<string, string>> = {
  requests_per_minute:
    "Wait as long as retry-after said, or ask for a higher limit.",
  tokens_per_minute:
    "Wait as long as retry-after said, or ask for a higher limit.",
  concurrent_requests:
    "Wait for a call under way to end, or ask for a higher limit.",
  spending_per_day:
    "The next day begins at 00:00 UTC; or ask for a higher limit.",
  insufficient_balance: "Top up the balance.",
  model_not_in_plan: "Call a model of the plan, or ask for another plan.",
  account_disabled: "The operator suspended the account; ask them.",
  model_not_found:
    "Check the model's id; the page of the models has all of them.",
  key_revoked: "The key is revoked: use another one.",
  key_expired: "The key has ended: use another one.",
};

function Why({ call }: { readonly call: FoundCall }): JSX.Element {
  const { record, entry } = call;
  const why = record.why ?? {};
  const number = (name: string): number | undefined => {
    const value = why[name];
    return typeof value === "number" ? value : undefined;
  };
  const limit = number("limit");
  const used = number("used");
  const needed = number("needed");
  const retry = number("retry_after_seconds");
  const isMoney = (record.code ?? "").startsWith("spending") ||
    record.code === "insufficient_balance";
  const amount = (value: number): JSX.Element =>
    isMoney
      ? <Money microUsd={value} decimals={6} />
      : <data value={String(value)}>{countText(value)}</data>;
  return (
    <section class="card">
      <h2>Why</h2>
      <p>
        {record.ended === "refused"
          ? "Refused before a reply began: "
          : record.ended === "caller_left"
          ? "The client disconnected before the end; what was generated until then is charged. "
          : record.ended === "lost"
          ? "The process that served the call died; its reservation is charged as estimated. "
          : "The reply broke off: "}
        <b>{(record.code ?? "").replaceAll("_", " ")}</b>
      </p>
      {limit === undefined ? null : (
        <p>
          The limit was {amount(limit)}
          {used === undefined ? "" : <>; {amount(used)} of it were used</>}
          {needed === undefined
            ? ""
            : <>, and this call needed {amount(needed)}</>}.
        </p>
      )}
      {retry === undefined ? null : (
        <p>
          The next place came free after {countText(retry)}{" "}
          s, as retry-after reported.
        </p>
      )}
      {entry === undefined && record.ended === "refused"
        ? <p>Nothing was charged.</p>
        : null}
      {HELP[record.code ?? ""] === undefined
        ? null
        : <p class="note">What helps: {HELP[record.code ?? ""]}</p>}
      {record.more === 0 ? null : (
        <p class="soft">
          {countText(record.more)}{" "}
          further refusals of this key in that minute have no record of their
          own.
        </p>
      )}
    </section>
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
  const { of, model, unpriced } = part;
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
        { name: "What", cell: (part) => <Meter part={part} />, sum: "Charged" },
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
                  cell: (one: (typeof attempts)[number]) =>
                    String(one["upstream"] ?? ""),
                }]
                : []),
              {
                name: "Status",
                cell: (one) =>
                  one["status"] === null || one["status"] === undefined
                    ? "no response"
                    : String(one["status"]),
              },
              {
                name: "Error",
                cell: (one) => <Foreign text={String(one["error"] ?? "")} />,
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
