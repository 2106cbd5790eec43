/**
 * The table of routes and the only router: finds the route, authenticates the caller, and encodes
 * every error. A route's reply becomes a `Response` here, with the headers that every response has.
 */
import { RefusedCall, RefusedKey } from "../gateway/accounts/accounts.ts";
import { requirePermission } from "../gateway/accounts/credential_kind.ts";
import { type HttpReply, toResponse } from "../gateway/http/http_reply.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { noFacts } from "../gateway/observability/call_facts.ts";
import { refusalLogEntry } from "../gateway/observability/refusal_log_entry.ts";
import { rateLimitHeaders } from "../gateway/http/rate_limit_headers.ts";
import { presentedKeys } from "../gateway/http/presented_keys.ts";
import { newRequestId } from "../gateway/http/request_id.ts";
import { traceOf } from "../gateway/http/trace.ts";
import type { Dialect } from "../translate/dialect.ts";
import { ApiError } from "../translate/model/error.ts";
import { generateContent } from "../translate/formats/generate_content/mod.ts";
import { messages } from "../translate/formats/messages/mod.ts";
import { ACCOUNT_ROUTES, presentedHolder } from "./account/account.ts";
import { ACCOUNT_LEDGER_ROUTES } from "./account/account_ledger.ts";
import { ACCOUNT_MODELS_ROUTE } from "./account/account_models.ts";
import { ADMIN_ROUTES } from "./admin/mod.ts";
import { AZURE_ROUTES } from "./azure.ts";
import { underBasePath, withoutBasePath } from "./base_path.ts";
import { CALLS_ROUTES } from "./account/calls.ts";
import { CHAT_COMPLETIONS_ROUTES } from "./chat_completions.ts";
import { corsHeaders, preflight } from "./cors.ts";
import { isConsolePath } from "./console/http/is_console_path.ts";
import { GENERATE_CONTENT_ROUTES } from "./generate_content.ts";
import { EMBEDDINGS_ROUTE } from "./embeddings.ts";
import { HEALTH_ROUTES } from "./health.ts";
import { LIVE_CALLS_ROUTES } from "./account/live_calls.ts";
import { MESSAGES_ROUTES } from "./messages.ts";
import { METRICS_ROUTES } from "./metrics.ts";
import { MODELS_ROUTES } from "./models/models.ts";
import { openapiRoutes } from "./openapi.ts";
import { passedRoute } from "./passed.ts";
import { RESPONSES_ROUTES } from "./responses.ts";
import {
  type Arrival,
  jsonReply,
  type Route,
  type RouteContext,
} from "./route.ts";
import { type Match, routeTable } from "./route_table.ts";
import { requireNoNul, targetOf } from "./target.ts";
import { USAGE_ROUTES } from "./account/usage.ts";
import { heldFile } from "./account/held_file.ts";
import { withLag } from "./account/report_lag.ts";
import {
  unsupportedService,
  type WrongAddress,
  wrongAddress,
} from "./wrong_address.ts";

const API_ROUTES: readonly Route[] = [
  ...MESSAGES_ROUTES,
  ...CHAT_COMPLETIONS_ROUTES,
  ...RESPONSES_ROUTES,
  ...GENERATE_CONTENT_ROUTES,
  EMBEDDINGS_ROUTE,
  ...MODELS_ROUTES,
  ...AZURE_ROUTES,
  ...USAGE_ROUTES,
  ...LIVE_CALLS_ROUTES,
  ...CALLS_ROUTES,
  ...ACCOUNT_LEDGER_ROUTES,
  ACCOUNT_MODELS_ROUTE,
  ...ACCOUNT_ROUTES,
  ...HEALTH_ROUTES,
  ...METRICS_ROUTES,
  ...ADMIN_ROUTES,
];

export const ROUTES: readonly Route[] = [
  ...API_ROUTES,
  ...openapiRoutes(API_ROUTES),
];

const apiTable = routeTable(ROUTES);

/** The gateway's own routes of a path, or the configured one. */
function routesAt({ config }: Gateway, path: string): readonly Match[] {
  const own = apiTable(path);
  const passed = own.length > 0 ? undefined : config.catalogue.routes.get(path);
  return passed === undefined
    ? own
    : [{ route: passedRoute(passed), parameters: {} }];
}

/** The pages, imported with the first request for one: a start does not wait for them. */
const pages = (): Promise<typeof import("./console/mod.ts")> =>
  import("./console/mod.ts");

/** RFC 9110, 11.6.1. For this scheme no browser asks its user for a password. */
const CHALLENGE = { "www-authenticate": 'Bearer realm="model-gateway"' };

/** The client's next request goes to another process. */
const CLOSING = { connection: "close" };

/** Responds to any request; never throws. `peer`: see {@linkcode RouteContext.peer}. */
export async function dispatch(
  gateway: Gateway,
  request: Request,
  peer?: () => string,
): Promise<Response> {
  const arrivedMs = gateway.now();
  const requestId = newRequestId(arrivedMs);
  const arrival = {
    gateway,
    request,
    ...(peer === undefined ? {} : { peer }),
    requestId,
    arrivedMs,
    facts: noFacts(),
  };
  const { status, headers, body, handshake } = underBasePath(
    await respond(arrival),
    gateway.config.basePath,
  );
  if (handshake !== undefined) return handshake;
  const hasBody = request.method !== "HEAD";
  if (!hasBody && body instanceof ReadableStream) await body.cancel();
  const reply = gateway.unread.prepareReply(request, {
    status,
    headers: {
      ...headers,
      "request-id": requestId,
      "x-request-id": requestId,
      ...(gateway.isStopping() ? CLOSING : undefined),
      ...(status === 401 ? CHALLENGE : undefined),
      // No page of another origin reads the console, whatever is configured.
      ...(headers["content-security-policy"] === undefined
        ? corsHeaders(gateway, request)
        : {}),
    },
    body: hasBody ? body : null,
  });
  return toResponse(reply instanceof Promise ? await reply : reply);
}

async function respond(arrival: Arrival): Promise<HttpReply> {
  const { gateway, request } = arrival;
  // For the text and the log entry of a refusal; set as soon as known.
  let path = "";
  let query = new URLSearchParams();
  let endpoint: string | undefined;
  let dialect: Dialect = messages;
  try {
    ({ path, query } = targetOf(request));
    path = withoutBasePath(path, gateway.config.basePath);
    if (query.size > 0 && !isConsolePath(path)) requireNoNul(query);
    const matches = isConsolePath(path)
      ? (await pages()).pageTable(path)
      : routesAt(gateway, path);
    if (matches.length === 0) {
      if (isConsolePath(path)) throw noSuchPage();
      const wrong = wrongAddress(path, request.headers);
      dialect = wrong.dialect;
      throw wrong.error;
    }
    if (request.method === "OPTIONS" && !isConsolePath(path)) {
      return preflight(gateway, request, allowedMethods(matches));
    }
    const effectiveMethod = request.method === "HEAD" ? "GET" : request.method;
    const match = matches.find(({ route }) => route.method === effectiveMethod);
    if (match === undefined) {
      const other = otherMethod(request.method, path, matches);
      dialect = other.dialect;
      throw other.error;
    }
    const { route, parameters } = match;
    endpoint = route.path;
    dialect = dialectOf(route);
    arrival.facts.isPaid = route.access === "key" && route.isPaid === true;
    return await authenticateAndHandle(route, {
      ...arrival,
      path,
      query,
      endpoint,
      parameters,
      respond,
    });
  } catch (error) {
    return await refusal(gateway, dialect, error, {
      ...arrival,
      path,
      query,
      endpoint,
    });
  }
}

async function authenticateAndHandle(
  route: Route,
  context: RouteContext,
): Promise<HttpReply> {
  switch (route.access) {
    case "open":
      return await route.handle(context);
    case "page":
      return await (await pages()).servePage(route, context);
    case "account": {
      const holder = await presentedHolder(context);
      requirePermission(holder.kind, route.permission);
      return route.isReport === true
        ? await context.gateway.reportSlots.run(
          holder.id,
          async () =>
            await heldFile(
              context.gateway,
              holder.id,
              withLag(context.gateway, await route.handle(context, holder)),
            ),
        )
        : await route.handle(context, holder);
    }
    case "key":
      break;
  }
  const caller = await context.gateway.accounts.authenticate(
    presentedKeys(
      context.request.headers,
      route.dialect === generateContent ? context.query : undefined,
    ),
  );
  context.facts.holder = caller;
  return await route.handle(context, caller);
}

async function refusal(
  gateway: Gateway,
  dialect: Dialect,
  error: unknown,
  at: Arrival & {
    readonly path: string;
    readonly query: URLSearchParams;
    readonly endpoint: string | undefined;
  },
): Promise<HttpReply> {
  const apiError = error instanceof ApiError
    ? error
    : new ApiError("internal", "the gateway failed; the error is in its log");
  const encoded = dialect.encodeError(apiError, at.requestId);
  if (!at.facts.isLogged) {
    if (error instanceof RefusedKey) at.facts.holder = error.holder;
    gateway.log(
      refusalLogEntry({
        gateway,
        error,
        status: encoded.status,
        requestId: at.requestId,
        method: at.request.method,
        path: at.path,
        endpoint: at.endpoint,
        trace: traceOf(at.request.headers),
        facts: at.facts,
        durationMs: gateway.now() - at.arrivedMs,
      }),
      at.facts,
    );
  }
  if (isConsolePath(at.path)) {
    return await (await pages()).errorPage(at, apiError, encoded);
  }
  const limits = error instanceof RefusedCall
    ? rateLimitHeaders(dialect.name, error.limits, gateway.now())
    : {};
  return jsonReply(encoded.body, {
    status: encoded.status,
    headers: { ...encoded.headers, ...limits },
  });
}

function allowedMethods(matches: readonly Match[]): readonly string[] {
  const methods = new Set(matches.map(({ route }) => route.method as string));
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods, "OPTIONS"];
}

function dialectOf(route: Route | undefined): Dialect {
  return route?.access === "key" ? route.dialect ?? messages : messages;
}

/** The error for a path that has routes, but none of this method. */
function otherMethod(
  method: string,
  path: string,
  matches: readonly Match[],
): WrongAddress {
  // A model id may contain anything, even another service's verb.
  return (path.startsWith("/v1/models/")
    ? unsupportedService(path)
    : undefined) ?? {
    error: wrongMethod(method, allowedMethods(matches)),
    dialect: dialectOf(matches[0]?.route),
  };
}

function noSuchPage(): ApiError {
  return new ApiError("not_found", "there is no such page", {
    retryable: false,
  });
}

function wrongMethod(method: string, allow: readonly string[]): ApiError {
  return new ApiError(
    "method_not_allowed",
    `${method.slice(0, 20)} is not allowed for this path; allowed: ${
      allow.join(", ")
    }`,
    {
      allow,
      retryable: false,
    },
  );
}
