/**
 * The live list as an event stream.
 */
import type { ViewerOptions } from "../../gateway/live/viewers.ts";
import type { HttpReply } from "../../gateway/http/http_reply.ts";
import { ApiError } from "../../translate/model/error.ts";
import type { RouteContext } from "../route.ts";

/**
 * Opens an event stream for a viewer.
 *
 * @throws {ApiError} `rate_limit` if too many are open
 */
export function liveStream(
  { gateway, request }: Pick<RouteContext, "gateway" | "request">,
  viewer: ViewerOptions,
  headers: HttpReply["headers"] = {},
): HttpReply {
  return {
    status: 200,
    headers: {
      "cache-control": "no-store",
      ...headers,
      "content-type": "text/event-stream; charset=utf-8",
      // For proxies that would collect the events.
      "x-accel-buffering": "no",
    },
    // A body that is not sent would stay open.
    body: request.method === "HEAD" ? null : gateway.live.watch(viewer),
  };
}

/**
 * Whether a credential is still accepted; `verify` throws if it is not.
 *
 * @throws what `verify` throws beside a refusal
 */
export async function isAccepted(
  verify: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await verify();
    return true;
  } catch (error) {
    if (
      error instanceof ApiError &&
      (error.kind === "authentication" || error.kind === "permission")
    ) return false;
    throw error;
  }
}
