/**
 * `GET /metrics`, for a Prometheus server. Whoever has the admin token may read it; where none is set, whoever reaches a
 * gateway that listens on loopback; elsewhere there is no such path.
 *
 * @module
 */
import { admitObserver, type DeskOf } from "./admin/door.ts";
import type { OpenRoute } from "./route.ts";

/** The route of the metrics. */
export function metricsRoutes(deskOf: DeskOf): readonly OpenRoute[] {
  return [{
    access: "open",
    method: "GET",
    path: "/metrics",
    handle(context) {
      const { metrics } = context.gateway;
      admitObserver(context, deskOf);
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
}
