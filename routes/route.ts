/**
 * The interface of a route, and helpers for replies.
 */
import type { Caller } from "../gateway/accounts/accounts.ts";
import type {
  Holder,
  Permission,
} from "../gateway/accounts/credential_kind.ts";
import type { OperatorScope } from "../gateway/accounts/operator_scope.ts";
import type { AccountVisit, Visit } from "../gateway/console/visit.ts";
import type { HeaderFields, HttpReply } from "../gateway/http/http_reply.ts";
import type { JsonBody } from "../gateway/http/request_body.ts";
import type { CallFacts } from "../gateway/observability/call_facts.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { ConnectionCall } from "../gateway/pipeline/call_request.ts";
import type { Dialect } from "../translate/dialect.ts";

/** A request as the router passes it to a route. */
export interface RouteContext {
  /** Everything that a handler uses; there are no globals. */
  readonly gateway: Gateway;
  /** As received; its body has not been read. */
  readonly request: Request;
  /** The address of the connection's other end, which may be a proxy; absent: not known. */
  readonly peer?: () => string;
  /** Path of the request, without the host. */
  readonly path: string;
  /** Path of the route, with variable parts as `:name`. */
  readonly endpoint: string;
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
  /** What a request through a web socket has beside its head; absent: it came by itself. */
  readonly turn?: SocketTurn;
  /** Answers a request that came through this one's connection as if alone; never throws. */
  readonly respond: (arrival: Arrival) => Promise<HttpReply>;
}

/** What is known of a request before it is parsed. */
export type Arrival = Pick<
  RouteContext,
  "gateway" | "request" | "peer" | "requestId" | "arrivedMs" | "facts" | "turn"
>;

interface SocketTurn {
  /** See {@linkcode RouteContext.request}, which has no body. */
  readonly readBody: () => Promise<JsonBody>;
  /** For the pipeline; absent: the request does not reach it. */
  readonly connection?: ConnectionCall;
}

/** What a page that shows an error knows of its request. */
export type PageRequest = Pick<
  RouteContext,
  "gateway" | "request" | "peer" | "path" | "query" | "requestId"
>;

interface AnyRoute<M = "GET" | "POST"> {
  /** HEAD is served like GET, without a body. */
  readonly method: M;
  /** The path, with variable parts as `:name`. */
  readonly path: string;
  /** Whether the variable parts belong to this route; absent: any do. */
  accepts?(parameters: Readonly<Record<string, string>>): boolean;
  /** Operation id in the API description; absent if the route is not part of it. */
  readonly operation?: string;
}

/** A route that needs no key. */
export interface OpenRoute extends AnyRoute {
  readonly access: "open";
  /** Handles a request. A thrown error is encoded in the messages dialect. */
  handle(context: RouteContext): Promise<HttpReply> | HttpReply;
}

export interface KeyRoute extends AnyRoute<"GET" | "POST" | "DELETE"> {
  readonly access: "key";
  /**
   * The dialect of errors; absent: the messages dialect, whose errors the clients of both formats
   * read.
   */
  readonly dialect?: Dialect;
  /** True: calls are paid for, and each with a known key leaves a record, also a refused one. */
  readonly isPaid?: true;
  /** Handles a request. A thrown error is encoded in the route's dialect. */
  handle(context: RouteContext, caller: Caller): Promise<HttpReply> | HttpReply;
}

/** A route for API keys and account tokens. */
export interface AccountRoute extends AnyRoute {
  /** The handler is called only with a valid credential of a kind that is permitted. */
  readonly access: "account";
  /** What the credential must permit. */
  readonly permission: Permission;
  /** True: reads very much of the store, so few run at a time. */
  readonly isReport?: true;
  /** Handles a request. A thrown error is encoded in the messages dialect. */
  handle(
    context: RouteContext,
    holder: Holder,
  ): Promise<HttpReply> | HttpReply;
}

interface AnyPageRoute extends AnyRoute {
  /** The reply is a page, also if it is an error; no API credential opens it. */
  readonly access: "page";
  /** Names of the parameters of the address; absent: none. `any`: another server chooses them. */
  readonly query?: readonly string[] | "any";
  /** True: requested by a page itself, and no use that keeps an idle session open. */
  readonly isBackground?: true;
  /** Pages are not part of the API description. */
  readonly operation?: never;
}

/** A page that needs no session. */
export interface PublicPageRoute extends AnyPageRoute {
  readonly area: "public";
  /** Handles a request; the form is empty for GET. A thrown error becomes a page. */
  handle(
    context: RouteContext,
    form: URLSearchParams,
  ): Promise<HttpReply> | HttpReply;
}

interface OperatorSignInRoute extends AnyPageRoute {
  /** Without a session, where there is an operator's area. */
  readonly area: "operator_sign_in";
  handle(
    context: RouteContext,
    form: URLSearchParams,
  ): Promise<HttpReply> | HttpReply;
}

/** Shows what belongs to the visitor's account. */
export interface AccountPageRoute extends AnyPageRoute {
  /** Needs a session of a key, token or sign-in link. */
  readonly area: "account";
  /** What the session must permit. */
  readonly permission: Permission;
  handle(
    context: RouteContext,
    visit: AccountVisit,
  ): Promise<HttpReply> | HttpReply;
  /** The page of the form or filters again, with the problem of an input that is refused. */
  again?(
    context: RouteContext,
    visit: AccountVisit,
  ): Promise<HttpReply> | HttpReply;
}

/** Shows what belongs to all accounts, or to the process. */
export interface OperatorPageRoute extends AnyPageRoute {
  /** Needs a session of the operator. */
  readonly area: "operator";
  /** What an operator token must permit; absent: `read` for GET, else `administer`. */
  readonly scope?: OperatorScope;
  /** The form may hold files of at most so many bytes; absent: none. */
  readonly maxFileBytes?: number;
  handle(context: RouteContext, visit: Visit): Promise<HttpReply> | HttpReply;
  again?(context: RouteContext, visit: Visit): Promise<HttpReply> | HttpReply;
}

/** A page. One without an area does not compile. */
export type PageRoute =
  | PublicPageRoute
  | OperatorSignInRoute
  | AccountPageRoute
  | OperatorPageRoute;

export type Route = OpenRoute | KeyRoute | AccountRoute | PageRoute;

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
