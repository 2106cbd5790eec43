/**
 * The table of routes and the only router: finds the route, finds the caller, and is the outermost catch. What routes answer
 * becomes a Response here, with the headers that every answer has.
 *
 * @module
 */
import { RefusedCall } from "../gateway/accounts/accounts.ts";
import { type Answer, responseOf } from "../gateway/answer.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { errorText } from "../gateway/log.ts";
import { rateLimitHeaders } from "../gateway/rate_limit_headers.ts";
import { newRequestId } from "../gateway/request_id.ts";
import { traceOf } from "../gateway/trace.ts";
import type { Dialect } from "../translate/dialect.ts";
import { ApiError } from "../translate/error.ts";
import { messages } from "../translate/messages/mod.ts";
import { adminRoutes } from "./admin/mod.ts";
import { CHAT_COMPLETIONS_ROUTES } from "./chat_completions.ts";
import { corsHeaders, preflight } from "./cors.ts";
import { healthRoutes } from "./health.ts";
import { presentedKeys } from "./keys.ts";
import { MESSAGES_ROUTES } from "./messages.ts";
import { metricsRoutes } from "./metrics.ts";
import { MODELS_ROUTES } from "./models.ts";
import { openapiRoutes } from "./openapi.ts";
import { json, type Route, type RouteContext } from "./route.ts";
import { targetOf } from "./target.ts";
import { usageRoutes } from "./usage.ts";

const API_ROUTES: readonly Route[] = [
  ...MESSAGES_ROUTES,
  ...CHAT_COMPLETIONS_ROUTES,
  ...MODELS_ROUTES,
  ...usageRoutes(({ desk }) => desk),
  ...healthRoutes(({ desk }) => desk),
  ...metricsRoutes(({ desk }) => desk),
  ...adminRoutes(({ desk }) => desk),
];

/** Every route. */
export const ROUTES: readonly Route[] = [
  ...API_ROUTES,
  ...openapiRoutes(API_ROUTES),
];

interface Match {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

/** What is known of a request before it is looked at. */
type Arrival = Pick<
  RouteContext,
  "gateway" | "request" | "requestId" | "arrivedMs"
>;

/** Answers any request; never throws. */
export async function dispatch(
  gateway: Gateway,
  request: Request,
): Promise<Response> {
  const arrivedMs = gateway.now();
  const requestId = newRequestId(arrivedMs);
  const { status, headers, body } = await answered({
    gateway,
    request,
    requestId,
    arrivedMs,
  });
  return responseOf({
    status,
    headers: {
      ...headers,
      "request-id": requestId,
      "x-request-id": requestId,
      ...corsHeaders(gateway, request),
    },
    body: request.method === "HEAD" ? null : body,
  });
}

async function answered(arrival: Arrival): Promise<Answer> {
  const { gateway, request } = arrival;
  // For the words and the log line of a refusal: as far as it is known.
  let path = "";
  let endpoint: string | undefined;
  let dialect: Dialect = messages;
  try {
    const target = targetOf(request);
    path = target.path;
    const matches = matching(path);
    if (matches.length === 0) throw unknownPath(path);
    if (request.method === "OPTIONS") {
      return preflight(gateway, request, allowed(matches));
    }
    const wanted = request.method === "HEAD" ? "GET" : request.method;
    const match = matches.find(({ route }) => route.method === wanted);
    if (match === undefined) {
      throw wrongMethod(request.method, allowed(matches));
    }
    const { route, parameters } = match;
    endpoint = route.path;
    if (route.access === "key") dialect = route.dialect ?? messages;
    return await handled(route, { ...arrival, ...target, parameters });
  } catch (error) {
    return refusal(gateway, dialect, error, { ...arrival, path, endpoint });
  }
}

async function handled(route: Route, context: RouteContext): Promise<Answer> {
  if (route.access === "open") return await route.handle(context);
  const caller = await context.gateway.accounts.authenticate(
    presentedKeys(context.request.headers),
  );
  return await route.handle(context, caller);
}

function refusal(
  gateway: Gateway,
  dialect: Dialect,
  error: unknown,
  at: Arrival & {
    readonly path: string;
    readonly endpoint: string | undefined;
  },
): Answer {
  const known = error instanceof ApiError
    ? error
    : new ApiError("internal", "the gateway failed; the fault is logged");
  const encoded = dialect.encodeError(withRetryAfter(known), at.requestId);
  if (!(error instanceof Error && gateway.logged.has(error))) {
    const trace = traceOf(at.request.headers);
    const { upstreamStatus } = known.details;
    gateway.log({
      request_id: at.requestId,
      method: at.request.method,
      path: at.path,
      ...(at.endpoint === undefined ? {} : { endpoint: at.endpoint }),
      status: encoded.status,
      duration_ms: gateway.now() - at.arrivedMs,
      ended: "refused",
      ...(trace === undefined ? {} : { trace_id: trace.traceId }),
      ...(upstreamStatus === undefined
        ? {}
        : { upstream_status: upstreamStatus }),
      error: errorText(error),
    });
  }
  const limits = error instanceof RefusedCall
    ? rateLimitHeaders(dialect.name, error.limits, gateway.now())
    : {};
  return json(encoded.body, {
    status: encoded.status,
    headers: { ...encoded.headers, ...limits },
  });
}

/** Clients give up on a 429 that does not say when to come back. */
function withRetryAfter(error: ApiError): ApiError {
  const temporary = error.kind === "rate_limit" ||
    error.kind === "overloaded" || error.kind === "unavailable";
  if (
    !temporary || error.details.retryAfterSeconds !== undefined ||
    error.details.retryable === false
  ) return error;
  return new ApiError(error.kind, error.message, {
    ...error.details,
    retryAfterSeconds: 5,
  });
}

/** Each route's path, split once. */
const PATTERNS: readonly {
  readonly route: Route;
  readonly segments: readonly string[];
}[] = ROUTES.map((route) => ({
  route,
  segments: route.path.split("/"),
}));

/** The routes of each path without a variable part, found once. */
const FIXED: ReadonlyMap<string, readonly Match[]> = new Map(
  ROUTES.filter(({ path }) => !path.includes(":"))
    .map(({ path }) => [path, found(path)]),
);

function matching(path: string): readonly Match[] {
  return FIXED.get(path) ?? found(path);
}

function found(path: string): readonly Match[] {
  const segments = path.split("/");
  const matches: Match[] = [];
  for (const { route, segments: pattern } of PATTERNS) {
    const parameters = matched(pattern, segments);
    if (parameters !== undefined) matches.push({ route, parameters });
  }
  return matches;
}

function matched(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  const open = pattern.at(-1)?.startsWith(":") === true;
  if (
    open ? segments.length < pattern.length : segments.length !== pattern.length
  ) return undefined;
  const parameters: Record<string, string> = {};
  for (const [i, part] of pattern.entries()) {
    if (!part.startsWith(":")) {
      if (part !== segments[i]) return undefined;
      continue;
    }
    // A last variable part takes the rest of the path: model ids may hold slashes.
    const raw = i === pattern.length - 1
      ? segments.slice(i).join("/")
      : segments[i] ?? "";
    const value = decodedPart(raw);
    if (value === undefined || value === "") return undefined;
    parameters[part.slice(1)] = value;
  }
  return parameters;
}

function decodedPart(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

function allowed(matches: readonly Match[]): readonly string[] {
  const methods = new Set(matches.map(({ route }) => route.method as string));
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods, "OPTIONS"];
}

function unknownPath(path: string): ApiError {
  const doubled = path.startsWith("/v1/v1/");
  return new ApiError(
    "not_found",
    doubled
      ? "no such path: the client's base address ends in /v1 and its library adds another; drop the /v1 from the base address"
      : "no such path: GET /openapi.json describes what there is",
    { retryable: false },
  );
}

function wrongMethod(method: string, allow: readonly string[]): ApiError {
  return new ApiError(
    "method_not_allowed",
    `${method.slice(0, 20)} is not possible here; possible: ${
      allow.join(", ")
    }`,
    {
      allow,
      retryable: false,
    },
  );
}
