/**
 * `POST /v1/responses`, the count of its tokens, the reply to clients that request a web socket there, and the stored
 * replies below it.
 *
 * @module
 */
import type { Caller } from "../gateway/accounts/accounts.ts";
import type { HttpReply } from "../gateway/http/http_reply.ts";
import {
  deleteStoredReply,
  storedInputItems,
  storedReply,
  type StoredReplyRequest,
} from "../gateway/responses/stored_operations.ts";
import { ApiError, invalidField } from "../translate/model/error.ts";
import { state } from "../translate/formats/responses/state.ts";
import { responses } from "../translate/formats/responses/mod.ts";
import { handleCount } from "./count.ts";
import { handleGeneration } from "./generation.ts";
import { jsonReply, type Route, type RouteContext } from "./route.ts";

const PATH = "/v1/responses";
const STORED_PATH = `${PATH}/:id`;

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
    access: "key",
    method: "POST",
    path: `${PATH}/input_tokens`,
    operation: "countResponseTokens",
    dialect: responses,
    handle: (context, caller) =>
      handleCount(context, caller, responses, {
        reply: (count) => ({
          object: "response.input_tokens",
          input_tokens: count,
        }),
      }),
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
      return jsonReply(body, {
        status: UPGRADE_REQUIRED,
        headers: { connection: "upgrade", upgrade: "websocket" },
      });
    },
  },
  // Before the routes whose last part takes the rest of the path.
  {
    access: "key",
    method: "GET",
    path: `${STORED_PATH}/input_items`,
    accepts: isReplyId,
    operation: "listResponseInputItems",
    dialect: responses,
    handle: (context, caller) =>
      withSlot(context, caller, async (request) =>
        jsonReply(
          await storedInputItems(
            context.gateway,
            request,
            context.query,
            state,
          ),
        )),
  },
  {
    access: "key",
    method: "POST",
    path: `${STORED_PATH}/cancel`,
    accepts: isReplyId,
    dialect: responses,
    handle() {
      throw invalidField(
        "background",
        "only replies generated in the background can be cancelled, and there are none here; close the connection to cancel a reply",
        "unsupported_parameter",
      );
    },
  },
  {
    access: "key",
    method: "GET",
    path: STORED_PATH,
    accepts: isReplyId,
    operation: "getResponse",
    dialect: responses,
    handle(context, caller) {
      if (context.query.get("stream") === "true") {
        throw invalidField(
          "stream",
          "a stored reply is sent whole; only replies generated in the background can be streamed again, and there are none here",
          "unsupported_parameter",
        );
      }
      return withSlot(context, caller, async (request) => ({
        status: 200,
        headers: { "content-type": "application/json" },
        body: await storedReply(context.gateway, request),
      }));
    },
  },
  {
    access: "key",
    method: "DELETE",
    path: STORED_PATH,
    accepts: isReplyId,
    operation: "deleteResponse",
    dialect: responses,
    handle: (context, caller) =>
      withSlot(
        context,
        caller,
        async (request) =>
          jsonReply(await deleteStoredReply(context.gateway, request)),
      ),
  },
];

/** The last part of a path takes its rest: other paths below this one are wrong addresses. */
function isReplyId({ id }: Readonly<Record<string, string>>): boolean {
  return id !== undefined && /^resp_[^/]*$/.test(id);
}

/** Handles a request for a stored reply in a concurrency slot: its conversation may be large. */
async function withSlot(
  { gateway, parameters }: RouteContext,
  caller: Caller,
  handle: (request: StoredReplyRequest) => Promise<HttpReply>,
): Promise<HttpReply> {
  const slot = gateway.concurrency.acquire(caller.keyId);
  try {
    const id = parameters["id"] ?? "";
    return await handle({ caller, id });
  } finally {
    slot.release();
  }
}

function wantsSocket(request: Request): boolean {
  return request.headers.get("upgrade")?.toLowerCase() === "websocket";
}
