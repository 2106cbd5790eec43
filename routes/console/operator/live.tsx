/**
 * The calls of all accounts and processes, under way and just ended. While the store is down: those
 * of this process.
 */
import type { Visit } from "../../../gateway/console/visit.ts";
import { type JustEnded } from "../../../gateway/live/live_call.ts";
import { justEnded } from "../../../gateway/live/ended_calls.ts";
import { liveScope } from "../../../gateway/live/live_json.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import { queryOf } from "../../admin/auth.ts";
import type { OperatorPageRoute, RouteContext } from "../../route.ts";
import { page } from "../parts/layout.tsx";
import { liveEvents, LiveSection, lookOf } from "../parts/live_view.tsx";
import { operatorPageRoute } from "../http/page_route.ts";

const BASE = "/console/operator";

const LIVE_FILTERS = ["account", "key"];

export const LIVE_PAGES: readonly OperatorPageRoute[] = [
  operatorPageRoute("GET", `${BASE}/live`, livePage, { query: LIVE_FILTERS }),
  operatorPageRoute(
    "GET",
    `${BASE}/live/events`,
    (context, visit) =>
      liveEvents(context, visit, liveScope(queryOf(context.query)), BASE),
    { query: LIVE_FILTERS, isBackground: true },
  ),
];

const LAST_CALLS = 30;

async function livePage(
  context: RouteContext,
  visit: Visit,
): Promise<HttpReply> {
  const { gateway, path, query } = context;
  const scope = liveScope(queryOf(query));
  const picture = await gateway.live.look(scope);
  const search = query.size === 0 ? "" : `?${query}`;
  const ended = picture.complete
    ? await lastCalls(context, scope)
    : picture.ended.data;
  return page(
    context,
    visit,
    {
      title: "Live",
      about: "Calls of all accounts in all processes. A call that hangs is " +
        "marked while it hangs.",
    },
    <LiveSection
      look={await lookOf(context, scope, BASE)}
      picture={picture}
      ended={ended}
      events={`${path}/events${search}`}
      refresh={`${path}${search}`}
      title="Under way"
      endedTitle="Just ended"
      empty="No call is under way."
    />,
  );
}

/** From the store; while it is down, the page shows what this process has in memory. */
async function lastCalls(
  { gateway }: RouteContext,
  scope: ReturnType<typeof liveScope>,
): Promise<readonly JustEnded[]> {
  try {
    const { data } = await gateway.admin.calls.list({
      ...scope,
      limit: LAST_CALLS,
    });
    return data.map(({ record }) => justEnded(record));
  } catch {
    return [];
  }
}
