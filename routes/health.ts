/**
 * Liveness, readiness and identity of the gateway. For authorized clients, `GET /readyz?verbose`
 * adds the health of each upstream; an upstream that is down does not make the gateway unready.
 */
import { candidateReports } from "../gateway/upstream/health/candidate_report.ts";
import { lagSeconds } from "./account/report_lag.ts";
import { VERSION } from "../gateway/version.ts";
import { requireMetricsAccess } from "./admin/auth.ts";
import { seeOther } from "./console/http/see_other.ts";
import { jsonReply, type OpenRoute } from "./route.ts";

export const HEALTH_ROUTES: readonly OpenRoute[] = [
  {
    access: "open",
    method: "GET",
    path: "/healthz",
    operation: "getHealth",
    handle: () => jsonReply({ status: "ok", version: VERSION }),
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
        await requireMetricsAccess(context);
        const { config, configuredAtMs } = gateway;
        more = {
          configuration: {
            hash: config.configHash ?? null,
            loaded_at: new Date(configuredAtMs).toISOString(),
          },
          store_schema: gateway.storeSchema(),
          ...(gateway.replicaLagMs === undefined ? {} : {
            read_replica: { lag_seconds: lagSeconds(gateway) ?? null },
          }),
          upstreams: candidateReports(
            gateway.models.allCandidates,
            gateway.now(),
          ),
        };
      }
      if (gateway.isStopping()) {
        return jsonReply({ status: "stopping", ...more }, { status: 503 });
      }
      return await gateway.accounts.ready()
        ? jsonReply({ status: "ready", ...more })
        : jsonReply({ status: "store unavailable", ...more }, {
          status: 503,
          headers: { "retry-after": "1" },
        });
    },
  },
  {
    access: "open",
    method: "GET",
    path: "/",
    handle: ({ gateway, request }) =>
      // A browser is led to the console; programs ask for JSON, or for anything.
      gateway.console !== undefined &&
        request.headers.get("accept")?.includes("text/html") === true
        ? seeOther("/console/")
        : jsonReply({
          service: "model gateway",
          description: "/openapi.json",
          models: "/v1/models",
        }),
  },
  // Called by a coding agent before its first call, to check that the server is reachable.
  {
    access: "open",
    method: "GET",
    path: "/api/hello",
    handle: () => jsonReply({ message: "hello" }),
  },
];
