/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The models: prices, limits, health, and whether the visitor may call them.
 *
 * @module
 */
import type { JSX } from "./jsx.d.ts";
import {
  type AccountModel,
  accountModels,
  type ModelRefusal,
} from "../../gateway/console/account_models.ts";
import type { AccountVisit } from "../../gateway/console/visit.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";
import type { ModelPrice } from "../../gateway/accounts/ledger/money.ts";
import type { ModelHealth } from "../../gateway/upstream/model_health.ts";
import type { AccountPageRoute, RouteContext } from "../route.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { csvOf, csvReply } from "./csv.ts";
import { type Column, DataTable } from "./data_table.tsx";
import { page } from "./layout.tsx";
import { countText, Money } from "./money.tsx";

/** The models, and the same as a file. */
export const MODELS_PAGES: readonly AccountPageRoute[] = [{
  access: "page",
  area: "account",
  permission: "look",
  method: "GET",
  path: "/console/models.csv",
  handle: modelsCsv,
}, {
  access: "page",
  area: "account",
  permission: "look",
  method: "GET",
  path: "/console/models",
  handle: modelsPage,
}];

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
  }));
  return await csvReply("models", csvOf(COLUMNS, [rows], (row) => row));
}

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
  return page(
    context,
    visit,
    {
      title: "Models",
      about:
        "Prices in dollars per million tokens. A call is charged at the price of its moment.",
      actions: <a class="button" href="/console/models.csv">CSV</a>,
    },
    <section class="card">
      <DataTable<AccountModel>
        name="Models"
        rows={models}
        columns={[
          {
            name: "Model",
            wraps: true,
            cell: ({ model: { id } }) => <code>{id}</code>,
          },
          { name: "May be called", cell: ({ refusal }) => mayCall(refusal) },
          { name: "Health", cell: ({ health }) => healthOf(health) },
          ...PRICES.map(([name, part]) => priceColumn(name, part, models)),
          {
            name: "Context",
            number: true,
            cell: ({ model }) => countText(model.contextTokens),
          },
          {
            name: "Longest reply",
            number: true,
            cell: ({ capabilities }) =>
              capabilities?.maxOutputTokens === undefined
                ? "–"
                : countText(capabilities.maxOutputTokens),
          },
        ]}
      />
      <p class="soft">
        Health as this gateway process sees it. Degraded: some upstreams of the
        model fail, and calls go to the others. Away: none takes calls now.
      </p>
    </section>,
  );
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

function mayCall(refusal: ModelRefusal | undefined): JSX.Element {
  return refusal === undefined
    ? <span class="tag ok">yes</span>
    : <span class="tag">{REFUSALS[refusal]}</span>;
}

function healthOf(health: ModelHealth): JSX.Element {
  const kind = { well: "ok", degraded: "warn", away: "bad" }[health];
  return <span class={`tag ${kind}`}>{health}</span>;
}
