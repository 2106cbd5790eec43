/**
 * What a route is, and the answers that routes share.
 *
 * @module
 */
import type { Caller } from "../gateway/accounts/accounts.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Dialect } from "../translate/dialect.ts";

/** A request on its way through the routes. */
export interface RouteContext {
  readonly gateway: Gateway;
  readonly request: Request;
  /** Path of the request; its host is nobody's business. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly requestId: string;
  readonly arrivedMs: number;
  /** The variable parts of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A route that needs no key. */
export interface OpenRoute {
  readonly access: "open";
  readonly method: "GET" | "POST";
  /** A path whose variable parts are written `:name`. */
  readonly path: string;
  /** Operation id in the API description; absent for what is not part of it. */
  readonly operation?: string;
  handle(context: RouteContext): Promise<Response> | Response;
}

/** A route for key holders. */
export interface KeyRoute {
  readonly access: "key";
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly operation?: string;
  /** In whose words errors are told; absent: both formats', as the messages dialect writes them. */
  readonly dialect?: Dialect;
  handle(context: RouteContext, caller: Caller): Promise<Response> | Response;
}

/** A route. */
export type Route = OpenRoute | KeyRoute;

/** A JSON answer. */
export function json(
  body: unknown,
  init: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): Response {
  return new Response(JSON.stringify(body), {
    status: init.status ?? 200,
    headers: { "content-type": "application/json", ...init.headers },
  });
}
