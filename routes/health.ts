/**
 * What probes and curious people ask: is the process alive, can it serve, what is this.
 *
 * @module
 */
import { json, type OpenRoute } from "./route.ts";

/** The routes that need no key. */
export const HEALTH_ROUTES: readonly OpenRoute[] = [
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
    async handle({ gateway }) {
      if (!gateway.accepting()) {
        return json({ status: "stopping" }, { status: 503 });
      }
      return await gateway.accounts.ready()
        ? json({ status: "ready" })
        : json({ status: "store unavailable" }, {
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
