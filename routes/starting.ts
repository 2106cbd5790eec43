/**
 * Replies of a gateway that waits for its store at the start: it is live, and not ready.
 */
import { newRequestId } from "../gateway/http/request_id.ts";
import { VERSION } from "../gateway/version.ts";
import { messages } from "../translate/formats/messages/mod.ts";
import { ApiError } from "../translate/model/error.ts";
import { withoutBasePath } from "./base_path.ts";
import { ROUTES } from "./mod.ts";
import { routeTable } from "./route_table.ts";

const RETRY_AFTER_SECONDS = 5;

const table = routeTable(ROUTES);

/** The reply to any request; errors have the format of the path. */
export function respondWhileStarting(
  { url }: Request,
  basePath: string,
): Response {
  const path = withoutBasePath(new URL(url).pathname, basePath);
  if (path === "/healthz") {
    return Response.json({ status: "ok", version: VERSION });
  }
  const headers = { "retry-after": String(RETRY_AFTER_SECONDS) };
  if (path === "/readyz") {
    return Response.json({ status: "store unavailable" }, {
      status: 503,
      headers,
    });
  }
  const route = table(path)[0]?.route;
  const { encodeError } = route?.access === "key"
    ? route.dialect ?? messages
    : messages;
  const requestId = newRequestId(Date.now());
  const { status, body, headers: more } = encodeError(
    new ApiError("unavailable", "the gateway waits for its store", {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    }),
    requestId,
  );
  return Response.json(body, {
    status,
    headers: { ...headers, ...more, "request-id": requestId },
  });
}
