/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The overview of an account.
 *
 * @module
 */
import type { AccountVisit } from "../../gateway/console/visit.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";
import type { AccountPageRoute, RouteContext } from "../route.ts";
import { page } from "./layout.tsx";
import { Money } from "./money.tsx";
import { seeOther } from "./see_other.ts";

/** What a visitor sees first. */
export const OVERVIEW_ROUTES: readonly AccountPageRoute[] = [
  {
    access: "page",
    area: "account",
    permission: "look",
    method: "GET",
    path: "/console/",
    handle: overviewPage,
  },
  {
    access: "page",
    area: "account",
    permission: "look",
    method: "GET",
    path: "/console",
    handle: () => seeOther("/console/"),
  },
];

async function overviewPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const account = await context.gateway.admin.accounts.get(
    visit.holder.accountId,
  );
  return page(
    context,
    visit,
    { title: "Overview" },
    <div class="cards">
      <section class="card">
        <span class="label">
          {account.billing === "prepaid" ? "Left" : "Balance (postpaid)"}
        </span>
        <span class="stat">
          <Money microUsd={account.balanceMicroUsd} />
        </span>
      </section>
    </div>,
  );
}
