/**
 * The models for operators: prices, candidates with their health, and who may call them.
 */
import type { JSX } from "../jsx.d.ts";
import {
  type AccountModel,
  knownModels,
} from "../../../gateway/console/account_models.ts";
import type { Plan } from "../../../gateway/accounts/records.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import {
  type MergedCandidate,
  mergedCandidates,
} from "../../../gateway/live/merged_candidates.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import {
  HEALTH_ORDER,
  healthTag,
  MODEL_ORDER,
  ModelLink,
  priceColumns,
  PriceSince,
} from "../parts/model_cells.tsx";
import { modelOf, modelPage } from "../pages/model_page.tsx";
import { type Column, Foreign } from "../parts/data_table.tsx";
import { NARROWED, NarrowedTable } from "../forms/narrowing.tsx";
import { page } from "../parts/layout.tsx";
import { countText } from "../parts/money.tsx";
import { operatorPageRoute } from "../http/page_route.ts";

const BASE = "/console/operator";

export const OPERATOR_MODELS_PAGES: readonly OperatorPageRoute[] = [
  operatorPageRoute("GET", `${BASE}/models`, modelsPage, { query: NARROWED }),
  operatorPageRoute("GET", `${BASE}/models/:id`, onePage),
];

async function modelsPage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { admin, models: registry, now, live } = context.gateway;
  const nowMs = now();
  const models = knownModels(registry, nowMs);
  const { data: plans } = await admin.plans.list({ limit: 1000 });
  const candidates = mergedCandidates((await live.processes()).data);
  const columns: readonly Column<AccountModel>[] = [
    {
      name: "Model",
      order: MODEL_ORDER,
      isFirst: true,
      wraps: true,
      cell: ({ model }) => <ModelLink base={BASE} model={model} />,
    },
    {
      name: "Health",
      order: HEALTH_ORDER,
      isFirst: true,
      cell: ({ health }) => healthTag(health),
    },
    {
      name: "Candidates",
      wraps: true,
      cell: ({ model: { id } }) => (
        <Candidates
          candidates={candidates.filter(({ model }) => model === id)}
        />
      ),
    },
    ...priceColumns(models),
    {
      name: "Since",
      order: {
        name: "since",
        largest: "first",
        of: ({ model: { price } }) => price.fromMs,
      },
      wraps: true,
      cell: ({ model }) => <PriceSince model={model} none="always" />,
    },
    {
      name: "May be called by",
      wraps: true,
      cell: ({ model }) => <Callers model={model.id} plans={plans} />,
    },
  ];
  return page(
    context,
    visit,
    {
      title: "Models",
      about:
        "Prices in dollars per million tokens. Models and prices are changed in the configuration file.",
      actions: (
        <>
          <a class="button" href={`${BASE}/changes?action=configuration.load`}>
            Changes of the configuration
          </a>
          <a class="button" href={`${BASE}/changes?action=prices.import`}>
            Imports of prices
          </a>
        </>
      ),
    },
    <NarrowedTable
      address={context}
      visit={visit}
      name="Models"
      title="Id or name"
      rows={models}
      textsOf={({ model }) => [model.id, model.displayName]}
      columns={columns}
      sort="model"
      note={
        <>
          Health as this gateway process sees it; breakers of all processes are
          under <a href={`${BASE}/upstreams`}>Upstreams</a>.
        </>
      }
    />,
  );
}

async function onePage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { admin, models, now, live } = context.gateway;
  const known = modelOf(context, knownModels(models, now()));
  const { model } = known;
  const { data: plans } = await admin.plans.list({ limit: 1000 });
  const merged = mergedCandidates((await live.processes()).data);
  return modelPage(context, visit, known, {
    base: BASE,
    by: "account",
    facts: {
      Candidates: (
        <>
          <Candidates
            candidates={merged.filter((one) => one.model === model.id)}
          />
          <br />
          <a href={`${BASE}/upstreams?q=${encodeURIComponent(model.id)}`}>
            Breakers and failures
          </a>
        </>
      ),
      "May be called by": <Callers model={model.id} plans={plans} />,
    },
    takes: models.allCandidates.filter((one) => one.model.id === model.id)
      .map(({ name, capabilities }) => [name, capabilities]),
  });
}

function Candidates(
  { candidates }: { readonly candidates: readonly MergedCandidate[] },
): JSX.Element {
  return (
    <>
      {candidates.map(({ upstream, worst, hasProblem }, at) => (
        <>
          {at === 0 ? null : <br />}
          {upstream}
          {hasProblem
            ? (
              <>
                {" "}
                <span class="tag bad">
                  {worst.state === "closed"
                    ? "not well"
                    : worst.state.replace("_", " ")}
                </span>
              </>
            )
            : null}
        </>
      ))}
    </>
  );
}

const SHOWN = 5;

/** The plans whose accounts may call a model. */
function Callers(
  { model, plans }: {
    readonly model: string;
    readonly plans: readonly Plan[];
  },
): JSX.Element {
  const callers = plans.filter(({ models }) =>
    models?.includes(model) !== false
  );
  if (callers.length === 0) return <span class="soft">no plan</span>;
  return callers.length === plans.length && plans.length > 1
    ? <a href={`${BASE}/plans`}>all plans</a>
    : (
      <>
        {callers.slice(0, SHOWN).map(({ id }, at) => (
          <>
            {at === 0 ? "" : ", "}
            <a href={`${BASE}/accounts?plan=${encodeURIComponent(id)}`}>
              <Foreign text={id} />
            </a>
          </>
        ))}
        {callers.length > SHOWN
          ? ` and ${countText(callers.length - SHOWN)} more`
          : ""}
      </>
    );
}
