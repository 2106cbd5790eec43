/**
 * Plans: limits and models of accounts.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { JSX } from "../jsx.d.ts";
import { recordJson } from "../../../gateway/accounts/field.ts";
import {
  hasLimits,
  LIMITS,
  PLAN,
  type Plan,
} from "../../../gateway/accounts/records.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { inParts } from "../http/form_faults.ts";
import { invalidField } from "../../../translate/model/error.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { FieldProblem, stateOf } from "../forms/field.tsx";
import { chosenModels, ModelChoice } from "../forms/model_choice.tsx";
import { type Column, DataTable, Foreign } from "../parts/data_table.tsx";
import { sortedList } from "../parts/sorting.ts";
import { FormToken, OnceField, page } from "../parts/layout.tsx";
import { listCsv } from "../csv/list_csv.ts";
import { countText, Money } from "../parts/money.tsx";
import { operationInput } from "../http/operation_input.ts";
import { runAdminOperation } from "../http/operations.ts";
import { recordBody, RecordInputs, titleOf } from "../forms/record_form.tsx";
import { seeOther } from "../http/see_other.ts";
import { FormButtons } from "../forms/form_buttons.tsx";
import { newRecordPages } from "./new_record.tsx";
import { operatorPageRoute } from "../http/page_route.ts";

const NAV = "/console/operator/plans";
const { id: _, models: _models, ...CHANGEABLE } = PLAN;
const { models: _chosen, ...NEW } = PLAN;
const NO_LIMIT = "no_limit";

export const PLANS_PAGES: readonly OperatorPageRoute[] = [
  operatorPageRoute("GET", NAV, listPage, { query: ["sort"] }),
  operatorPageRoute(
    "GET",
    `${NAV}.csv`,
    ({ gateway }) =>
      listCsv("plans", PLAN, (page) => gateway.admin.plans.list(page)),
  ),
  ...newRecordPages({
    list: NAV,
    title: "New plan",
    inputs: (context, visit) =>
      Promise.resolve(
        <>
          <RecordInputs visit={visit} fields={NEW} />
          <NoLimitField visit={visit} />
          <PlanModels context={context} visit={visit} />
        </>,
      ),
    body: (form) =>
      inParts(
        () => limitedBody(recordBody(NEW, form), form),
        () => chosenModels(form, { isNew: true }),
      ),
    operationId: "createPlan",
    created: () => NAV,
  }),
  operatorPageRoute("GET", `${NAV}/:id`, changePage),
  operatorPageRoute("POST", `${NAV}/:id`, change, {
    scope: "billing",
    again: changePage,
  }),
];

async function change(context: RouteContext, visit: Visit): Promise<HttpReply> {
  const { form } = visit;
  const id = context.parameters["id"] ?? "";
  const before = recordJson(PLAN, await context.gateway.admin.plans.get(id));
  const body = inParts(
    () => {
      const limits = recordBody(CHANGEABLE, form, { before });
      limitedBody({ ...before, ...limits }, form);
      return limits;
    },
    () => chosenModels(form, { isNew: false }),
  );
  await runAdminOperation(
    context,
    visit,
    "updatePlan",
    operationInput(visit, body, id),
  );
  return seeOther(NAV);
}

/**
 * The body of a plan. One without any limit must be meant.
 *
 * @throws {ApiError} `invalid_request`
 */
function limitedBody(
  body: Readonly<Record<string, unknown>>,
  form: URLSearchParams,
): Readonly<Record<string, unknown>> {
  const isLimited = Object.values(LIMITS).some(({ json }) =>
    typeof body[json] === "number"
  );
  if (isLimited || form.has(NO_LIMIT)) return body;
  throw invalidField(
    NO_LIMIT,
    "enter a limit, or tick that the plan has none",
  );
}

function NoLimitField(
  { visit, isSet = false }: {
    readonly visit: Visit;
    readonly isSet?: boolean;
  },
): JSX.Element {
  return (
    <label>
      <input
        type="checkbox"
        name={NO_LIMIT}
        value="yes"
        checked={visit.problem === undefined ? isSet : visit.form.has(NO_LIMIT)}
        {...stateOf(visit, NO_LIMIT)}
      />
      No limit at all, where every field above is empty
      <FieldProblem visit={visit} name={NO_LIMIT} />
    </label>
  );
}

function PlanModels(
  { context, visit, value }: {
    readonly context: RouteContext;
    readonly visit: Visit;
    readonly value?: readonly string[] | null;
  },
): JSX.Element {
  return (
    <ModelChoice
      context={context}
      visit={visit}
      {...compact({ value })}
      all="All models, also those that are added later"
      help="What the accounts on the plan may call"
    />
  );
}

/** The limits that are set, in words. */
export function LimitList(
  { item }: { readonly item: Plan | Partial<Plan> },
): JSX.Element {
  const set = Object.entries(recordJson(LIMITS, item)).filter(([, value]) =>
    value !== null && value !== undefined
  );
  return set.length === 0 ? <span class="soft">no limit</span> : (
    <>
      {set.map(([name, value], at) => (
        <>
          {at === 0 ? "" : "; "}
          {titleOf(name).replace(", dollars", "").toLowerCase()}{" "}
          {name.endsWith("_micro_usd")
            ? <Money microUsd={Number(value)} />
            : countText(Number(value))}
        </>
      ))}
    </>
  );
}

async function listPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { data: plans } = await context.gateway.admin.plans.list({
    limit: 1000,
  });
  return page(
    context,
    visit,
    {
      title: "Plans",
      about: "Limits and models of the accounts on them.",
      nav: NAV,
      actions: (
        <>
          <a class="button" href={`${NAV}.csv`}>CSV</a>
          <a class="button main" href={`${NAV}/new`}>New plan</a>
        </>
      ),
    },
    <section class="card">
      <DataTable
        name="Plans"
        {...sortedList<Plan, Column<Plan>>(context, plans, [
          {
            name: "Plan",
            order: { name: "plan", of: ({ id }) => id },
            cell: ({ id }) => (
              <a href={`${NAV}/${encodeURIComponent(id)}`}>
                <Foreign text={id} />
              </a>
            ),
          },
          {
            name: "Models",
            order: {
              name: "models",
              largest: "first",
              of: ({ models }) => models?.length ?? Infinity,
            },
            cell: ({ models }) =>
              models === undefined ? "all" : countText(models.length),
          },
          {
            name: "Limits",
            wraps: true,
            cell: (plan) => <LimitList item={plan} />,
          },
        ], "plan")}
      />
    </section>,
  );
}

async function changePage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const plan = await context.gateway.admin.plans.get(
    context.parameters["id"] ?? "",
  );
  const id = encodeURIComponent(plan.id);
  return page(
    context,
    visit,
    {
      title: `Plan ${plan.id}`,
      about:
        "An empty field is no limit; days, weeks and months are in UTC. A change applies to all its accounts within seconds.",
      nav: NAV,
      actions: (
        <>
          <a class="button" href={`/console/operator/accounts?plan=${id}`}>
            Accounts
          </a>
          <a class="button" href={`/console/operator/changes?target=${id}`}>
            Changes
          </a>
        </>
      ),
    },
    <form
      class="card form"
      method="post"
      action={`${NAV}/${encodeURIComponent(plan.id)}`}
    >
      <FormToken visit={visit} />
      <OnceField />
      <RecordInputs
        visit={visit}
        fields={CHANGEABLE}
        values={recordJson(PLAN, plan)}
      />
      <NoLimitField visit={visit} isSet={!hasLimits(plan)} />
      <PlanModels
        context={context}
        visit={visit}
        value={plan.models ?? null}
      />
      <FormButtons text="Change" cancel={NAV} />
    </form>,
  );
}
