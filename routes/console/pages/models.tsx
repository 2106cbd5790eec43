/**
 * The models: prices, sizes, health, and whether the visitor may call them.
 */
import type { JSX } from "../jsx.d.ts";
import {
  type AccountModel,
  accountModels,
  type ModelRefusal,
  ratesJson,
} from "../../../gateway/console/account_models.ts";
import type { AccountVisit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { ModelPrice } from "../../../gateway/accounts/charges/money.ts";
import type { RateCard } from "../../../gateway/accounts/charges/rate_card.ts";
import type { Model } from "../../../gateway/upstream/catalogue/catalogue.ts";
import type { ModelHealth } from "../../../gateway/upstream/health/model_health.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import { csvOf, csvReply } from "../csv/csv.ts";
import type { Column } from "../parts/data_table.tsx";
import { NARROWED, NarrowedTable } from "../forms/narrowing.tsx";
import { page } from "../parts/layout.tsx";
import type { Order } from "../parts/sorting.ts";
import { countText, Money } from "../parts/money.tsx";
import { accountPageRoute } from "../http/page_route.ts";

/** The models, and the same as a file. */
export const MODELS_PAGES: readonly AccountPageRoute[] = [
  accountPageRoute("look", "GET", "/console/models.csv", modelsCsv),
  accountPageRoute("look", "GET", "/console/models", modelsPage, {
    query: NARROWED,
  }),
];

const COLUMNS = [
  "model",
  "may_be_called",
  "refusal",
  "health",
  "input_micro_usd",
  "cache_read_micro_usd",
  "cache_write_micro_usd",
  "output_micro_usd",
  "context_tokens",
  "price_from",
  "price_version",
  "rates",
];

async function modelsCsv(
  { gateway: { admin, models, now } }: RouteContext,
  { holder }: AccountVisit,
): Promise<HttpReply> {
  const found = await accountModels(admin, models, holder, now());
  const rows = found.map(({ model, refusal, health }): JsonObject => ({
    model: model.id,
    may_be_called: refusal === undefined,
    refusal,
    health,
    input_micro_usd: model.price.input,
    cache_read_micro_usd: model.price.cacheRead,
    cache_write_micro_usd: model.price.cacheWrite,
    output_micro_usd: model.price.output,
    context_tokens: model.contextTokens,
    price_from: fromOf(model.price),
    price_version: model.price.version,
    rates: model.unpriced === true
      ? undefined
      : JSON.stringify(ratesJson(model.price)),
  }));
  return await csvReply("models", csvOf(COLUMNS, [rows], (row) => row));
}

/** By the id of the model. */
export const MODEL_ORDER: Order<AccountModel> = {
  name: "model",
  of: ({ model }) => model.id,
};

const HEALTH: readonly ModelHealth[] = ["well", "degraded", "away"];

/** The worst first. */
export const HEALTH_ORDER: Order<AccountModel> = {
  name: "health",
  largest: "first",
  of: ({ health }) => HEALTH.indexOf(health),
};

const PRICES: readonly (readonly [name: string, part: keyof ModelPrice])[] = [
  ["Input", "input"],
  ["Cache read", "cacheRead"],
  ["Cache write", "cacheWrite"],
  ["Output", "output"],
];

async function modelsPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const { admin, models: registry, now } = context.gateway;
  const models = await accountModels(admin, registry, visit.holder, now());
  const columns: readonly Column<AccountModel>[] = [
    {
      name: "Model",
      order: MODEL_ORDER,
      wraps: true,
      isFirst: true,
      cell: ({ model }) => <ModelLink base="/console" model={model} />,
    },
    {
      name: "May be called",
      order: { name: "refusal", of: ({ refusal = "" }) => refusal },
      isFirst: true,
      wraps: true,
      cell: ({ refusal }) => mayCall(refusal),
    },
    {
      name: "Health",
      order: HEALTH_ORDER,
      cell: ({ health }) => healthOf(health),
    },
    ...priceColumns(models),
    {
      name: "Price since",
      wraps: true,
      cell: ({ model }) => <PriceSince model={model} none="–" />,
    },
    {
      name: "Context",
      order: {
        name: "context",
        largest: "first",
        of: ({ model }) => model.contextTokens,
      },
      number: true,
      cell: ({ model }) => countText(model.contextTokens),
    },
    {
      name: "Longest reply",
      order: {
        name: "longest_reply",
        largest: "first",
        of: ({ capabilities }) => capabilities?.maxOutputTokens,
      },
      number: true,
      cell: ({ capabilities }) =>
        capabilities?.maxOutputTokens === undefined
          ? "–"
          : countText(capabilities.maxOutputTokens),
    },
  ];
  return page(
    context,
    visit,
    {
      title: "Models",
      about:
        "Prices in dollars per million tokens. A call is charged at the price of its moment.",
      actions: <a class="button" href="/console/models.csv">CSV</a>,
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
      note="Health as this gateway process sees it. Degraded: some upstreams of the model fail, and calls go to the others. Away: none takes calls now."
    />,
  );
}

/** When a price began; undefined: it always counted. */
function fromOf({ fromMs }: RateCard): string | undefined {
  return fromMs === undefined ? undefined : new Date(fromMs).toISOString();
}

export function priceColumns(
  models: readonly AccountModel[],
): readonly Column<AccountModel>[] {
  return PRICES.map(([name, part]) => priceColumn(name, part, models));
}

/** A price, with four decimals in the column where one of them has a part of a cent. */
function priceColumn(
  name: string,
  part: keyof ModelPrice,
  models: readonly AccountModel[],
): Column<AccountModel> {
  const decimals = models.every(({ model }) => model.price[part] % 10_000 === 0)
    ? 2
    : 4;
  return {
    name,
    order: {
      name: name.toLowerCase().replace(" ", "_"),
      largest: "first",
      of: ({ model }) =>
        model.unpriced === true ? undefined : model.price[part],
    },
    number: true,
    cell: ({ model }) =>
      model.unpriced === true
        ? "–"
        : <Money microUsd={model.price[part]} decimals={decimals} />,
  };
}

const REFUSALS: Readonly<Record<ModelRefusal, string>> = {
  account_disabled: "account suspended",
  model_not_priced: "no price yet",
  model_not_in_plan: "not in the plan",
  model_not_in_key: "not with this key",
};

export function mayCall(refusal: ModelRefusal | undefined): JSX.Element {
  return refusal === undefined
    ? <span class="tag ok">yes</span>
    : <span class="tag">{REFUSALS[refusal]}</span>;
}

/** The health of a model as a tag. */
export function healthOf(health: ModelHealth): JSX.Element {
  const kind = { well: "ok", degraded: "warn", away: "bad" }[health];
  return <span class={`tag ${kind}`}>{health}</span>;
}

/** The day from which a model has its price, and the version of its card; `none`: without a day. */
export function PriceSince(
  { model: { price }, none }: {
    readonly model: Pick<Model, "price">;
    readonly none: string;
  },
): JSX.Element {
  return (
    <>
      {fromOf(price)?.slice(0, 10) ?? none}
      {price.version === undefined ? null : (
        <>
          <br />
          <span class="soft">{price.version}</span>
        </>
      )}
    </>
  );
}

/** What people call a model, and the id that programs call it by, with the way to its page. */
export function ModelLink(
  { base, model: { id, displayName } }: {
    readonly base: string;
    readonly model: Pick<Model, "id" | "displayName">;
  },
): JSX.Element {
  const href = modelHref(base, id);
  return displayName === id
    ? (
      <a href={href}>
        <code>{id}</code>
      </a>
    )
    : (
      <>
        <a href={href}>{displayName}</a>
        <code class="id">{id}</code>
      </>
    );
}

/** The address of a model's page in an area. */
export function modelHref(base: string, id: string): string {
  return `${base}/models/${encodeURIComponent(id)}`;
}
