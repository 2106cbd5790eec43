/**
 * One model: what it takes, every rate of its price, and the way to its usage and calls.
 */
import type { Children, JSX } from "../jsx.d.ts";
import {
  type AccountModel,
  accountModels,
} from "../../../gateway/console/account_models.ts";
import {
  type CardRate,
  cardRates,
} from "../../../gateway/accounts/charges/card_rates.ts";
import {
  isPerUse,
  meterWords,
} from "../../../gateway/accounts/charges/meters.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import {
  GENERATES,
  generates,
} from "../../../gateway/upstream/catalogue/models.ts";
import { ApiError } from "../../../translate/model/error.ts";
import type { Capabilities } from "../../../translate/model/capabilities.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { CapabilityTable } from "../parts/capability_table.tsx";
import { DataTable } from "../parts/data_table.tsx";
import { Facts } from "../parts/facts.tsx";
import { usageLink } from "../parts/figure_links.ts";
import { page } from "../parts/layout.tsx";
import { countText, Money } from "../parts/money.tsx";
import { accountPageRoute } from "../http/page_route.ts";
import { healthTag, PriceSince, refusalTag } from "../parts/model_cells.tsx";

export const MODEL_PAGE: AccountPageRoute = accountPageRoute(
  "look",
  "GET",
  "/console/models/:id",
  async (context, visit) => {
    const { admin, models, now } = context.gateway;
    const known = modelOf(
      context,
      await accountModels(admin, models, visit.holder, now()),
    );
    const { capabilities } = known;
    return modelPage(context, visit, known, {
      base: "/console",
      // A key sees its own usage only.
      by: visit.session.kind === "key" ? "day" : "key",
      facts: { "May be called": refusalTag(known.refusal) },
      takes: capabilities === undefined ? [] : [["This model", capabilities]],
    });
  },
);

/** @throws {ApiError} `not_found` */
export function modelOf(
  { parameters }: RouteContext,
  models: readonly AccountModel[],
): AccountModel {
  const found = models.find(({ model }) => model.id === parameters["id"]);
  if (found !== undefined) return found;
  throw new ApiError("not_found", `there is no model ${parameters["id"]}`, {
    retryable: false,
  });
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The page of a model in an area. */
export function modelPage(
  context: RouteContext,
  visit: Visit,
  { model, health, capabilities }: AccountModel,
  { base, by, facts, takes }: {
    readonly base: string;
    /** What its usage is grouped by. */
    readonly by: string;
    readonly facts: Readonly<Record<string, Children>>;
    /** What it takes, by upstream. */
    readonly takes: readonly (readonly [string, Capabilities])[];
  },
): HttpReply {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const nowMs = context.gateway.now();
  const longest = capabilities?.maxOutputTokens;
  return page(
    context,
    visit,
    {
      title: `Model ${model.displayName}`,
      ...(model.displayName === model.id
        ? {}
        : { about: <code>{model.id}</code> }),
      nav: `${base}/models`,
      actions: (
        <>
          <a
            class="button"
            href={usageLink(base, {
              from: day(nowMs - 29 * DAY_MS),
              to: day(nowMs),
              model: model.id,
            }, by)}
          >
            Usage
          </a>
          <a
            class="button"
            href={`${base}/calls?model=${encodeURIComponent(model.id)}`}
          >
            Calls
          </a>
        </>
      ),
    },
    <>
      <section class="card">
        <Facts
          of={{
            ...facts,
            Health: healthTag(health),
            "Called for": (model.operations ?? GENERATES).join(", "),
            Context: `${countText(model.contextTokens)} tokens`,
            "Longest reply": longest === undefined
              ? "not known"
              : `${countText(longest)} tokens`,
            "Price since": <PriceSince model={model} none="always" />,
          }}
        />
      </section>
      <section class="card">
        <h2>Price</h2>
        {model.unpriced === true
          ? <p>None yet: calls are refused.</p>
          : model.price.isFree === true
          ? <p>Free.</p>
          : <Rates model={model} />}
      </section>
      {!generates(model) || takes.length === 0 ? null : (
        <section class="card">
          <h2>What it takes</h2>
          <CapabilityTable of={takes} />
        </section>
      )}
    </>,
  );
}

function Rates({ model }: Pick<AccountModel, "model">): JSX.Element {
  return (
    <>
      <DataTable<CardRate>
        name="Rates"
        rows={cardRates(model.price)}
        columns={[
          {
            name: "What",
            isFirst: true,
            cell: ({ meter }) =>
              meter === undefined ? "All tokens" : meterWords(meter),
          },
          {
            name: "Only with",
            wraps: true,
            cell: ({ condition }) =>
              condition.replaceAll(/\d{4,}/g, (one) => countText(Number(one))),
          },
          { name: "Rate", number: true, cell: rateText },
        ]}
      />
      <p class="soft">
        Dollars per million tokens, seconds or characters, or for each use,
        image or call. A factor multiplies the rates of all tokens. What has no
        rate is refused.
      </p>
    </>
  );
}

function rateText(
  { meter, microUsd, factor }: CardRate,
): JSX.Element | string {
  if (microUsd === undefined) {
    return factor === undefined ? "base rate" : `× ${factor}`;
  }
  return (
    <>
      <Money microUsd={microUsd} decimals={4} />
      {meter !== undefined && isPerUse(meter) ? " each" : " / M"}
    </>
  );
}
