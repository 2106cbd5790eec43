/**
 * Books against invoice: a vendor's export is pasted or uploaded, and compared with the ledger.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { JSX } from "../jsx.d.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { Causes } from "../../../gateway/reconcile/causes.ts";
import { differenceOf } from "../../../gateway/reconcile/causes.ts";
import {
  reconcile,
  type ReconciledGroup,
  type Reconciliation,
  sumOfCauses,
} from "../../../gateway/reconcile/reconcile.ts";
import {
  microOf,
  reconcileQuery,
} from "../../../gateway/reconcile/reconciliation_json.ts";
import { check } from "../../../translate/model/schema.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { type Column, DataTable, Foreign } from "../parts/data_table.tsx";
import { DayInput } from "../forms/day_input.tsx";
import { FormToken, page } from "../parts/layout.tsx";
import { countText, Money } from "../parts/money.tsx";
import { operatorPageRoute } from "../http/page_route.ts";

const BASE = "/console/operator";
const PATH = `${BASE}/reconcile`;

const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** The form, and its result. */
export const RECONCILE_PAGES: readonly OperatorPageRoute[] = [
  operatorPageRoute(
    "GET",
    PATH,
    (context, visit) =>
      reconcilePage(context, visit, <Form context={context} visit={visit} />),
    { query: ["vendor", "from", "to"] },
  ),
  operatorPageRoute("POST", PATH, resultPage, {
    scope: "read",
    maxFileBytes: MAX_FILE_BYTES,
  }),
];

function reconcilePage(
  context: RouteContext,
  visit: Visit,
  body: JSX.Element,
): HttpReply {
  return page(context, visit, {
    title: "Reconcile",
    about:
      "A vendor's export of usage or costs against the ledger, by UTC day and model. Nothing of the file is kept.",
    nav: `${BASE}/ledger`,
  }, body);
}

function Form(
  { context, visit }: {
    readonly context: RouteContext;
    readonly visit: Visit;
  },
): JSX.Element {
  const { models } = context.gateway.config.catalogue;
  const vendors = new Set(
    models.flatMap(({ candidates }) => candidates.map(({ vendor }) => vendor)),
  );
  const value = (name: string): string =>
    visit.form.get(name) ?? context.query.get(name) ?? "";
  return (
    <form
      class="card form"
      method="post"
      action={PATH}
      encType="multipart/form-data"
    >
      <FormToken visit={visit} />
      <label>
        File
        <small>
          CSV or TSV with a day, a model, and tokens or an amount; also FOCUS,
          and JSON of a vendor's cost or usage API
        </small>
        <input
          type="file"
          name="file"
          accept=".csv,.tsv,.txt,.json,application/json,text/csv,text/tab-separated-values"
        />
      </label>
      <label>
        Or paste it
        <textarea name="text" rows={6} spellcheck={false} />
      </label>
      <label>
        Models
        <select name="vendor">
          <option value="">those that the file names</option>
          {[...vendors].toSorted().map((one) => (
            <option key={one} value={one} selected={one === value("vendor")}>
              all of {one}
            </option>
          ))}
        </select>
      </label>
      <label>
        From (UTC)
        <small>Empty: the file's first day</small>
        <DayInput visit={visit} name="from" value={value("from")} />
      </label>
      <label>
        To (UTC)
        <small>Empty: the file's last day</small>
        <DayInput visit={visit} name="to" value={value("to")} />
      </label>
      <div>
        <button class="main" type="submit">Compare</button>
      </div>
    </form>
  );
}

async function resultPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { gateway } = context;
  const value = (name: string): string => visit.form.get(name)?.trim() ?? "";
  const given = ["vendor", "from", "to"].filter((name) => value(name) !== "");
  const { vendor, from, to } = check(
    reconcileQuery,
    Object.fromEntries(given.map((name) => [name, value(name)])),
  );
  const text = value("file") === "" ? value("text") : value("file");
  const result = await reconcile(
    gateway.admin,
    gateway.config.catalogue.models,
    ReadableStream.from([text]),
    {
      ...compact({ vendor, fromDay: from, toDay: to }),
    },
  );
  return reconcilePage(
    context,
    visit,
    <>
      <Sums result={result} />
      <Differences
        groups={result.groups.filter(({ differs }) => differs)
          .toSorted((a, b) =>
            Number(
              sizeOf(differenceOf(b.causes)) - sizeOf(differenceOf(a.causes)),
            )
          )}
      />
      <Findings result={result} />
      <details>
        <summary>Compare another file</summary>
        <Form context={context} visit={visit} />
      </details>
    </>,
  );
}

const NAMES: Readonly<Record<keyof Causes, string>> = {
  theirsMissing: "Theirs missing",
  oursMissing: "Ours missing",
  doubled: "Doubled",
  billedOtherwise: "Billed otherwise",
  priceChanged: "Price changed",
  oursEstimated: "Ours estimated",
  unexplained: "Unexplained",
  rounding: "Rounding",
};
const MEANINGS: Readonly<Record<keyof Causes, string>> = {
  theirsMissing: "in the ledger, not in the file",
  oursMissing: "in the file, not in the ledger",
  doubled: "lines that the file has more than once",
  billedOtherwise:
    "the same tokens, for another cache life, tier, speed or region, or with other searches",
  priceChanged: "the same tokens at another price",
  oursEstimated:
    "the vendor reported no complete usage, so the charge is an estimate",
  unexplained: "the amounts differ, and the file has no tokens",
  rounding:
    "at most a micro-dollar a call, and half a unit of the last decimal a line",
};
const CAUSES = Object.keys(NAMES) as readonly (keyof Causes)[];

function sizeOf(pico: bigint): bigint {
  return pico < 0n ? -pico : pico;
}

function Amount({ pico }: { readonly pico: bigint }): JSX.Element {
  return <Money microUsd={microOf(pico)} decimals={6} />;
}

function Sums({ result }: { readonly result: Reconciliation }): JSX.Element {
  const { groups } = result;
  const causes = sumOfCauses(groups);
  const difference = differenceOf(causes);
  const ours = groups.reduce((sum, one) => sum + one.ours.picoUsd, 0n);
  const differing = groups.filter(({ differs }) => differs).length;
  return (
    <section class="card">
      {differing === 0
        ? (
          <p class="note" role="status">
            The file and the ledger agree on all {countText(groups.length)}{" "}
            days and models.
          </p>
        )
        : (
          <p class="note warn" role="status">
            {countText(differing)} of {countText(groups.length)}{" "}
            days and models differ.
          </p>
        )}
      {result.figuresFromDay === undefined ? null : (
        <p class="note warn">
          The ledger's sums begin on{" "}
          {result.figuresFromDay}: earlier days are not summed up yet.
        </p>
      )}
      <DataTable
        name="Sums"
        rows={[
          ["The file", ours + difference, ""] as const,
          ["The ledger", ours, ""] as const,
          ["Difference", difference, "the file minus the ledger"] as const,
          ...CAUSES.filter((name) => causes[name] !== 0n).map((name) =>
            [
              `of it ${NAMES[name].toLowerCase()}`,
              causes[name],
              MEANINGS[name],
            ] as const
          ),
        ]}
        columns={[
          { name: "What", isFirst: true, cell: ([what]) => what },
          {
            name: "Amount",
            number: true,
            cell: ([, pico]) => <Amount pico={pico} />,
          },
          { name: "Meaning", wraps: true, cell: ([, , meaning]) => meaning },
        ]}
      />
      <p class="soft">
        {countText(result.lines)} lines of {result.fromDay} to {result.toDay}
        {result.linesOutside === 0
          ? ""
          : `; ${countText(result.linesOutside)} lines of other days`}. Read:
        {" "}
        {Object.entries(result.columns).map(([use, name]) =>
          `${
            use.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
          } from ${name.slice(0, 60)}`
        ).join(", ")}.
        {groups.some(({ theirs }) =>
            theirs.lines > 0 && theirs.amount === undefined
          )
          ? " The file has no amounts: its tokens are compared at the ledger's prices."
          : ""}
      </p>
    </section>
  );
}

function Differences(
  { groups }: { readonly groups: readonly ReconciledGroup[] },
): JSX.Element | null {
  if (groups.length === 0) return null;
  const shown = CAUSES.filter((name) =>
    groups.some(({ causes }) => causes[name] !== 0n)
  );
  return (
    <section class="card">
      <h2>Days and models that differ</h2>
      <DataTable<ReconciledGroup>
        name="Days and models that differ"
        rows={groups}
        columns={[
          {
            name: "Day",
            cell: ({ day, models: [model] }) =>
              model === undefined ? day : (
                <a
                  href={`${BASE}/ledger?${new URLSearchParams({
                    kind: "charge",
                    model,
                    from: day,
                    to: day,
                  })}`}
                >
                  {day}
                </a>
              ),
          },
          { name: "Model", cell: ({ name }) => <Foreign text={name} /> },
          {
            name: "Calls",
            number: true,
            cell: ({ ours }) => countText(ours.calls),
          },
          {
            name: "Lines",
            number: true,
            cell: ({ theirs }) => countText(theirs.lines),
          },
          {
            name: "Ledger",
            number: true,
            cell: ({ ours }) => <Amount pico={ours.picoUsd} />,
          },
          {
            name: "Difference",
            number: true,
            cell: ({ causes }) => <Amount pico={differenceOf(causes)} />,
          },
          ...shown.map((name): Column<ReconciledGroup> => ({
            name: NAMES[name],
            number: true,
            cell: ({ causes }) => <Amount pico={causes[name]} />,
          })),
        ]}
      />
    </section>
  );
}

function Findings(
  { result: { findings, findingsLeftOff } }: {
    readonly result: Reconciliation;
  },
): JSX.Element | null {
  return findings.length === 0 ? null : (
    <section class="card">
      <h2>Lines and calls behind the differences</h2>
      <DataTable<Reconciliation["findings"][number]>
        name="Lines and calls"
        rows={findings}
        columns={[
          {
            name: "What",
            wraps: true,
            cell: ({ cause, otherwise = [] }) =>
              otherwise.length === 0 ? NAMES[cause] : (
                <>
                  {NAMES[cause]}
                  <br />
                  <span class="soft">{otherwise.join("; ")}</span>
                </>
              ),
          },
          { name: "Day", cell: ({ day }) => day },
          { name: "Model", cell: ({ name }) => <Foreign text={name} /> },
          {
            name: "Line of the file",
            number: true,
            cell: ({ line }) => line === undefined ? "–" : countText(line),
          },
          {
            name: "Call",
            cell: ({ requestId }) =>
              requestId === undefined ? <span class="soft">none</span> : (
                <a
                  href={`${BASE}/calls/${encodeURIComponent(requestId)}`}
                >
                  <code>{requestId}</code>
                </a>
              ),
          },
          {
            name: "Amount",
            number: true,
            cell: ({ picoUsd }) => <Amount pico={picoUsd} />,
          },
        ]}
      />
      {findingsLeftOff === 0
        ? null
        : <p class="soft">{countText(findingsLeftOff)} more are not shown.</p>}
    </section>
  );
}
