/**
 * `GET /v1/calls/live` and `/v1/calls/under-way`: the calls of a key, or with an account token
 * those of the account, while they are under way.
 */
import { scopeOf } from "../../gateway/admin/account_scope.ts";
import { liveJson, ownLiveScope } from "../../gateway/live/live_json.ts";
import { presentedHolder } from "./account.ts";
import { queryOf } from "../admin/auth.ts";
import { isAccepted, liveStream } from "./live_stream.ts";
import { type AccountRoute, jsonReply } from "../route.ts";

/** Before the route of one call, whose id takes the rest of a path. */
export const LIVE_CALLS_ROUTES: readonly AccountRoute[] = [
  {
    access: "account",
    permission: "look",
    method: "GET",
    path: "/v1/calls/live",
    operation: "watchOwnCalls",
    handle(context, holder) {
      return liveStream(context, {
        visitor: holder.id,
        scope: ownLiveScope(scopeOf(holder), queryOf(context.query)),
        check: () => isAccepted(() => presentedHolder(context)),
        render: (picture) => JSON.stringify(liveJson(picture, false)),
      });
    },
  },
  {
    access: "account",
    permission: "look",
    method: "GET",
    path: "/v1/calls/under-way",
    operation: "listOwnCallsUnderWay",
    async handle({ gateway, query }, holder) {
      const scope = ownLiveScope(scopeOf(holder), queryOf(query));
      return jsonReply(liveJson(await gateway.live.look(scope), false));
    },
  },
];
