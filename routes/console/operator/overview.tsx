/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * The overview for operators.
 *
 * @module
 */
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { page } from "../layout.tsx";
import { countText } from "../money.tsx";
import { seeOther } from "../see_other.ts";

/** What an operator sees first. */
export const OPERATOR_OVERVIEW_ROUTES: readonly OperatorPageRoute[] = [
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: "/console/operator/",
    handle: overviewPage,
  },
  {
    access: "page",
    area: "operator",
    method: "GET",
    path: "/console/operator",
    handle: () => seeOther("/console/operator/"),
  },
];

function overviewPage(context: RouteContext, visit: Visit): HttpReply {
  const { gateway } = context;
  return page(
    context,
    visit,
    { title: "Overview", nav: "/console/operator/" },
    <div class="cards">
      <section class="card">
        <span class="label">Calls under way, this process</span>
        <span class="stat">{countText(gateway.activeCalls.size)}</span>
      </section>
      <section class="card">
        <span class="label">Models</span>
        <span class="stat">{countText(gateway.models.models.length)}</span>
      </section>
    </div>,
  );
}
