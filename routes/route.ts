/**
 * What a route is, and the answers that routes share.
 *
 * @module
 */
import type { Caller } from "../gateway/accounts/accounts.ts";
import type { Answer, HeaderFields } from "../gateway/answer.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Dialect } from "../translate/dialect.ts";

/** A request on its way through the routes. */
export interface RouteContext {
  /** All that a handler works with; nothing is global. */
  readonly gateway: Gateway;
  /** As it came; nobody has read its body. */
  readonly request: Request;
  /** Path of the request; its host is nobody's business. */
  readonly path: string;
  /** Empty where the address has none. */
  readonly query: URLSearchParams;
  /** Made here for each request, whatever the caller sends; told in every answer. */
  readonly requestId: string;
  /** Unix time in milliseconds. */
  readonly arrivedMs: number;
  /** The variable parts of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A route that needs no key. */
export interface OpenRoute {
  /** No key is looked for. */
  readonly access: "open";
  /** HEAD is answered where GET is. */
  readonly method: "GET" | "POST";
  /** A path whose variable parts are written `:name`. */
  readonly path: string;
  /** Operation id in the API description; absent for what is not part of it. */
  readonly operation?: string;
  /** May throw: the error is told as the messages dialect writes it. */
  handle(context: RouteContext): Promise<Answer> | Answer;
}

/** A route for key holders. */
export interface KeyRoute {
  /** The handler is reached with a valid key only. */
  readonly access: "key";
  /** HEAD is answered where GET is. */
  readonly method: "GET" | "POST";
  /** See {@linkcode OpenRoute.path}. */
  readonly path: string;
  /** See {@linkcode OpenRoute.operation}. */
  readonly operation?: string;
  /** In whose words errors are told; absent: both formats', as the messages dialect writes them. */
  readonly dialect?: Dialect;
  /** May throw: the error is told in the route's dialect. */
  handle(context: RouteContext, caller: Caller): Promise<Answer> | Answer;
}

/** A route. */
export type Route = OpenRoute | KeyRoute;

/** A JSON answer. */
export function json(
  body: unknown,
  init: { status?: number; headers?: HeaderFields } = {},
): Answer {
  return {
    status: init.status ?? 200,
    headers: { "content-type": "application/json", ...init.headers },
    body: JSON.stringify(body),
  };
}
