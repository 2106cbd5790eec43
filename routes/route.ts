/**
 * The interface of a route, and helpers for replies.
 *
 * @module
 */
import type { Caller } from "../gateway/accounts/accounts.ts";
import type { HeaderFields, HttpReply } from "../gateway/http/http_reply.ts";
import type { CallFacts } from "../gateway/observability/call_facts.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Dialect } from "../translate/dialect.ts";

/** A request as the router passes it to a route. */
export interface RouteContext {
  /** Everything that a handler uses; there are no globals. */
  readonly gateway: Gateway;
  /** As received; its body has not been read. */
  readonly request: Request;
  /** Path of the request, without the host. */
  readonly path: string;
  /** Empty if the URL has no query. */
  readonly query: URLSearchParams;
  /** Generated for each request, whatever the client sends; part of every response. */
  readonly requestId: string;
  /** Unix time in milliseconds. */
  readonly arrivedMs: number;
  /** Completed while the request is handled, for the record of the call. */
  readonly facts: CallFacts;
  /** The variable parts of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A route that needs no key. */
export interface OpenRoute {
  /** The router checks no key. */
  readonly access: "open";
  /** HEAD is served like GET, without a body. */
  readonly method: "GET" | "POST";
  /** The path, with variable parts as `:name`. */
  readonly path: string;
  /** Whether the variable parts belong to this route; absent: any do. */
  accepts?(parameters: Readonly<Record<string, string>>): boolean;
  /** Operation id in the API description; absent if the route is not part of it. */
  readonly operation?: string;
  /** Handles a request. A thrown error is encoded in the messages dialect. */
  handle(context: RouteContext): Promise<HttpReply> | HttpReply;
}

/** A route that needs a key. */
export interface KeyRoute {
  /** The handler is called only with a valid key. */
  readonly access: "key";
  /** HEAD is served like GET, without a body. */
  readonly method: "GET" | "POST" | "DELETE";
  /** See {@linkcode OpenRoute.path}. */
  readonly path: string;
  /** See {@linkcode OpenRoute.accepts}. */
  accepts?(parameters: Readonly<Record<string, string>>): boolean;
  /** See {@linkcode OpenRoute.operation}. */
  readonly operation?: string;
  /**
   * The dialect of errors; absent: the messages dialect, whose errors the clients of both formats
   * read.
   */
  readonly dialect?: Dialect;
  /** Handles a request. A thrown error is encoded in the route's dialect. */
  handle(context: RouteContext, caller: Caller): Promise<HttpReply> | HttpReply;
}

/** A route of either kind. */
export type Route = OpenRoute | KeyRoute;

/** A JSON reply; status 200 by default. */
export function jsonReply(
  body: unknown,
  init: { status?: number; headers?: HeaderFields } = {},
): HttpReply {
  return {
    status: init.status ?? 200,
    headers: { "content-type": "application/json", ...init.headers },
    body: JSON.stringify(body),
  };
}
