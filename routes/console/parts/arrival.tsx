/**
 * Whether calls of the visitor's programs arrive, refused ones with their reason.
 */
import type { JSX } from "../jsx.d.ts";
import { scopeOf } from "../../../gateway/admin/account_scope.ts";
import type { AccountVisit } from "../../../gateway/console/visit.ts";
import { justEnded } from "../../../gateway/live/ended_calls.ts";
import { ownLiveScope } from "../../../gateway/live/live_json.ts";
import { queryOf } from "../../admin/auth.ts";
import type { RouteContext } from "../../route.ts";
import { LiveSection, lookOf } from "./live_view.tsx";

const RECENT_MS = 15 * 60_000;
const SHOWN = 5;

/** The last calls, and those to come; of one key if the query names it. */
export async function arrivalSection(
  context: RouteContext,
  visit: AccountVisit,
): Promise<JSX.Element> {
  const { gateway, path, query } = context;
  const scope = ownLiveScope(scopeOf(visit.holder), queryOf(query));
  const { data } = await gateway.admin.calls.list({
    ...scope,
    fromMs: gateway.now() - RECENT_MS,
    limit: SHOWN,
  });
  const search = query.size === 0 ? "" : `?${query}`;
  return (
    <LiveSection
      look={await lookOf(context, scope, "/console")}
      picture={await gateway.live.look(scope)}
      ended={data.map(({ record }) => justEnded(record))}
      events={`/console/calls/live${search}`}
      refresh={`${path}${search}`}
      title="Has a call arrived?"
      endedTitle="From any program, in the last 15 minutes"
      empty="No call has arrived in the last 15 minutes. The next one is shown here, a refused one with its reason. A call with an unknown key has no account: its program receives 401."
    />
  );
}
