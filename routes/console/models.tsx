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
import type { JsonObject } from "../../translate/bytes/json.ts";
import { csvOf, csvReply } from "./csv.ts";
import { DataTable } from "./data_table.tsx";
import { page } from "./layout.tsx";
import { countText, moneyText } from "./money.tsx";

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

/** The plan's and the key's models; absent: all. */
async function allowedOf(
  { gateway: { admin } }: RouteContext,
  { holder }: AccountVisit,
): Promise<{ readonly plan: Plan; readonly keyModels?: readonly string[] }> {
  const { planId } = await admin.accounts.get(holder.accountId);
  const plan = await admin.plans.get(planId);
  if (holder.kind !== "key" || holder.id === "configured") return { plan };
  const { models } = await admin.keys.get(holder.id);
  return { plan, ...(models === undefined ? {} : { keyModels: models }) };
}

async function modelsCsv(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const { plan, keyModels } = await allowedOf(context, visit);
  const rows = context.gateway.models.models.map((one): JsonObject => ({
    model: one.id,
    may_be_called: isAllowed(one.id, plan, keyModels),
    input_micro_usd: one.price.input,
    cache_read_micro_usd: one.price.cacheRead,
    cache_write_micro_usd: one.price.cacheWrite,
    output_micro_usd: one.price.output,
    context_tokens: one.contextTokens,
    max_output_tokens: one.capabilities.maxOutputTokens,
  }));
  return await csvReply("models", csvOf(COLUMNS, [rows]));
}

const COLUMNS = [
  "model",
  "may_be_called",
  "input_micro_usd",
  "cache_read_micro_usd",
  "cache_write_micro_usd",
  "output_micro_usd",
  "context_tokens",
  "max_output_tokens",
];

function isAllowed(
  id: string,
  plan: Plan,
  keyModels: readonly string[] | undefined,
): boolean {
  return plan.models?.includes(id) !== false &&
    keyModels?.includes(id) !== false;
}

async function modelsPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const { models } = context.gateway;
  const { plan, keyModels } = await allowedOf(context, visit);
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
      actions: <a class="button" href="/console/models.csv">CSV</a>,
    },
    <section class="card">
      <DataTable<Model>
        name="Models"
        rows={models.models}
        columns={[
          { name: "Model", cell: ({ id }) => <code>{id}</code> },
          {
            name: "May be called",
            cell: ({ id }) => mayCall(id, plan, keyModels),
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
