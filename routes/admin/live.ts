/**
 * `GET /admin/v1/calls/live`, `/admin/v1/calls/under-way` and `/admin/v1/upstreams`: what all
 * processes are doing. They reply from memory while the store is down.
 */
import type { KnownProcess } from "../../gateway/live/live_calls.ts";
import { liveJson, liveScope } from "../../gateway/live/live_json.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import { check } from "../../translate/model/schema.ts";
import { noQuery } from "../../gateway/admin/pages.ts";
import { isAccepted, liveStream } from "../account/live_stream.ts";
import { jsonReply, type OpenRoute } from "../route.ts";
import { queryOf, requireOperator } from "./auth.ts";

/** Before the route of one call, whose id takes the rest of a path. */
export const ADMIN_LIVE_ROUTES: readonly OpenRoute[] = [
  {
    access: "open",
    method: "GET",
    path: "/admin/v1/calls/live",
    operation: "watchCalls",
    async handle(context) {
      await requireOperator(context);
      return await liveStream(context, {
        visitor: "admin",
        scope: liveScope(queryOf(context.query)),
        check: () => isAccepted(() => requireOperator(context)),
        render: (picture) => JSON.stringify(liveJson(picture, true)),
      });
    },
  },
  {
    access: "open",
    method: "GET",
    path: "/admin/v1/calls/under-way",
    operation: "listCallsUnderWay",
    async handle(context) {
      await requireOperator(context);
      const scope = liveScope(queryOf(context.query));
      return jsonReply(liveJson(await context.gateway.live.look(scope), true));
    },
  },
  {
    access: "open",
    method: "GET",
    path: "/admin/v1/upstreams",
    operation: "listUpstreams",
    async handle(context) {
      await requireOperator(context);
      check(noQuery, queryOf(context.query));
      const { complete, data } = await context.gateway.live.processes();
      return jsonReply({
        object: "list",
        complete,
        data: data.map(processJson),
      });
    },
  },
];

function processJson(
  { processId, isOwn, reportedAtMs, ageMs, state }: KnownProcess,
): JsonObject {
  return {
    id: processId,
    this: isOwn,
    reported_at: new Date(reportedAtMs).toISOString(),
    age_seconds: ageMs / 1000,
    ...state,
  };
}
