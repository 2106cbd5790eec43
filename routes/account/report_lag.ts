/**
 * How old the figures of a report may be, where reports are read from a replica.
 */
import type { Gateway } from "../../gateway/gateway.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";

/** Seconds with one digit; undefined without a replica, and while its lag is not known. */
export function lagSeconds(
  { replicaLagMs }: Pick<Gateway, "replicaLagMs">,
): number | undefined {
  const ms = replicaLagMs?.();
  return ms === undefined ? undefined : Math.round(ms / 100) / 10;
}

/** The reply of a report, with the lag of the replica. */
export function withLag(
  gateway: Pick<Gateway, "replicaLagMs">,
  reply: HttpReply,
): HttpReply {
  const lag = lagSeconds(gateway);
  return lag === undefined ? reply : {
    ...reply,
    headers: { ...reply.headers, "x-gateway-report-lag": String(lag) },
  };
}
