/**
 * What probes and curious people ask: is the process alive, can it serve, what is this. `GET /readyz?verbose` also tells how
 * each upstream is, to those who may read the metrics; an upstream that is down makes the gateway no less ready.
 *
 * @module
 */
import { candidateReports } from "../gateway/upstream/candidate_report.ts";
import { admitObserver, type DeskOf } from "./admin/door.ts";
import { json, type OpenRoute } from "./route.ts";

/** The routes that need no key. */
export function healthRoutes(deskOf: DeskOf): readonly OpenRoute[] {
  return [
    {
      access: "open",
      method: "GET",
      path: "/healthz",
      operation: "getHealth",
      handle: () => json({ status: "ok" }),
    },
    {
      access: "open",
      method: "GET",
      path: "/readyz",
      operation: "getReadiness",
      async handle(context) {
        const { gateway, query } = context;
        let more = {};
        if (query.has("verbose")) {
          admitObserver(context, deskOf);
          more = {
            upstreams: candidateReports(gateway.offer.all, gateway.now()),
          };
        }
        if (!gateway.accepting()) {
          return json({ status: "stopping", ...more }, { status: 503 });
        }
        return await gateway.accounts.ready()
          ? json({ status: "ready", ...more })
          : json({ status: "store unavailable", ...more }, {
            status: 503,
            headers: { "retry-after": "1" },
          });
      },
    },
    {
      access: "open",
      method: "GET",
      path: "/",
      handle: () =>
        json({
          service: "model gateway",
          description: "/openapi.json",
          models: "/v1/models",
        }),
    },
    // A coding agent asks this before its first call, to see whether anybody is there.
    {
      access: "open",
      method: "GET",
      path: "/api/hello",
      handle: () => json({ message: "hello" }),
    },
  ];
}
