/**
 * `POST /v1/responses`, and the reply to clients that request a web socket there.
 *
 * @module
 */
import { ApiError } from "../translate/model/error.ts";
import { responses } from "../translate/formats/responses/mod.ts";
import { handleGeneration } from "./generation.ts";
import { jsonReply, type Route, type RouteContext } from "./route.ts";

const PATH = "/v1/responses";

/** Clients that try a web socket first fall back to HTTP immediately only on this status. */
const UPGRADE_REQUIRED = 426;

/** The routes of the Responses format. */
export const RESPONSES_ROUTES: readonly Route[] = [
  {
    access: "key",
    method: "POST",
    path: PATH,
    operation: "createResponse",
    dialect: responses,
    handle: (context, caller) => handleGeneration(context, caller, responses),
  },
  {
    access: "open",
    method: "GET",
    path: PATH,
    handle({ request, requestId }: RouteContext) {
      const error = new ApiError(
        "method_not_allowed",
        wantsSocket(request)
          ? `web sockets are not supported here: use POST ${PATH}`
          : "GET is not possible here; possible: POST, OPTIONS",
        { allow: ["POST", "OPTIONS"], retryable: false },
      );
      if (!wantsSocket(request)) throw error;
      const { body } = responses.encodeError(error, requestId);
      return jsonReply(body, { status: UPGRADE_REQUIRED });
    },
  },
];

function wantsSocket(request: Request): boolean {
  return request.headers.get("upgrade")?.toLowerCase() === "websocket";
}
