/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The models: prices, limits, and whether the visitor may call them.
 *
 * @module
 */
import type { JSX } from "./jsx.d.ts";
import type { Plan } from "../../gateway/accounts/records.ts";
import type { AccountVisit } from "../../gateway/console/visit.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";
import type { Model } from "../../gateway/upstream/catalogue.ts";
import type { AccountPageRoute, RouteContext } from "../route.ts";
import { DataTable } from "./data_table.tsx";
import { page } from "./layout.tsx";
import { countText, moneyText } from "./money.tsx";

/** The route of the models. */
export const MODELS_PAGE: AccountPageRoute = {
  access: "page",
  area: "account",
  permission: "look",
  method: "GET",
  path: "/console/models",
  handle: modelsPage,
};

async function modelsPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const { admin, models } = context.gateway;
  const { planId } = await admin.accounts.get(visit.holder.accountId);
  const plan = await admin.plans.get(planId);
  const key = visit.holder.kind === "key" && visit.holder.id !== "configured"
    ? await admin.keys.get(visit.holder.id)
    : undefined;
  const price = (microUsd: number): JSX.Element => (
    <data value={String(microUsd)}>{moneyText(microUsd, 4)}</data>
  );
  return page(
    context,
    visit,
    {
      title: "Models",
      about:
        "Prices are dollars per million tokens; a call is charged at the price of its moment.",
    },
    <section class="card">
      <DataTable<Model>
        name="Models"
        rows={models.models}
        columns={[
          { name: "Model", cell: ({ id }) => <code>{id}</code> },
          {
            name: "May be called",
            cell: ({ id }) => mayCall(id, plan, key?.models),
          },
          {
            name: "Input",
            number: true,
            cell: (one) => price(one.price.input),
          },
          {
            name: "Cache read",
            number: true,
            cell: (one) => price(one.price.cacheRead),
          },
          {
            name: "Cache write",
            number: true,
            cell: (one) => price(one.price.cacheWrite),
          },
          {
            name: "Output",
            number: true,
            cell: (one) => price(one.price.output),
          },
          {
            name: "Context",
            number: true,
            cell: (one) => countText(one.contextTokens),
          },
          {
            name: "Longest reply",
            number: true,
            cell: ({ capabilities: { maxOutputTokens } }) =>
              maxOutputTokens === undefined ? "–" : countText(maxOutputTokens),
          },
        ]}
      />
    </section>,
  );
}

function mayCall(
  id: string,
  plan: Plan,
  keyModels: readonly string[] | undefined,
): JSX.Element {
  if (plan.models?.includes(id) === false) {
    return <span class="tag bad">not in the plan</span>;
  }
  return keyModels?.includes(id) === false
    ? <span class="tag warn">not with this key</span>
    : <span class="tag ok">yes</span>;
}
