/**
 * `GET /metrics`, for a Prometheus server. Requires the admin token; without a configured token it
 * is open if the gateway listens on loopback only, and otherwise there is no such path.
 */
import { requireMetricsAccess } from "./admin/auth.ts";
import type { OpenRoute } from "./route.ts";

export const METRICS_ROUTES: readonly OpenRoute[] = [{
  access: "open",
  method: "GET",
  path: "/metrics",
  async handle(context) {
    const { metrics } = context.gateway;
    await requireMetricsAccess(context);
    return {
      status: 200,
      headers: {
        "content-type": metrics.contentType,
        "cache-control": "no-store",
      },
      body: metrics.text(),
    };
  },
}];
