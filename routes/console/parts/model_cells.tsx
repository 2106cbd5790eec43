/**
 * What lists and pages of models have in common: orders, prices, health, and the way to a model.
 */
import type { JSX } from "../jsx.d.ts";
import type {
  AccountModel,
  ModelRefusal,
} from "../../../gateway/console/account_models.ts";
import type { ModelPrice } from "../../../gateway/accounts/charges/money.ts";
import type { RateCard } from "../../../gateway/accounts/charges/rate_card.ts";
import type { Model } from "../../../gateway/upstream/catalogue/catalogue.ts";
import type { ModelHealth } from "../../../gateway/upstream/health/model_health.ts";
import type { Column } from "./data_table.tsx";
import type { Order } from "./sorting.ts";
import { Money } from "./money.tsx";

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

/** When a price began; undefined: it always counted. */
export function fromOf({ fromMs }: RateCard): string | undefined {
  return fromMs === undefined ? undefined : new Date(fromMs).toISOString();
}

/** A column for each price of the models. */
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

/** Whether a model may be called, as a tag; else why not. */
export function refusalTag(refusal: ModelRefusal | undefined): JSX.Element {
  return refusal === undefined
    ? <span class="tag ok">yes</span>
    : <span class="tag">{REFUSALS[refusal]}</span>;
}

/** The health of a model as a tag. */
export function healthTag(health: ModelHealth): JSX.Element {
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
