/**
 * The models: prices, sizes, health, and whether the visitor may call them.
 */
import {
  type AccountModel,
  accountModels,
  ratesJson,
} from "../../../gateway/console/account_models.ts";
import type { AccountVisit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import type { JsonObject } from "../../../translate/bytes/json.ts";
import { csvOf, csvReply } from "../csv/csv.ts";
import type { Column } from "../parts/data_table.tsx";
import { NARROWED, NarrowedTable } from "../forms/narrowing.tsx";
import { page } from "../parts/layout.tsx";
import {
  fromOf,
  HEALTH_ORDER,
  healthTag,
  MODEL_ORDER,
  ModelLink,
  priceColumns,
  PriceSince,
  refusalTag,
} from "../parts/model_cells.tsx";
import { countText } from "../parts/money.tsx";
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
      cell: ({ refusal }) => refusalTag(refusal),
    },
    {
      name: "Health",
      order: HEALTH_ORDER,
      cell: ({ health }) => healthTag(health),
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
