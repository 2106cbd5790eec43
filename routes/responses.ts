/**
 * `/v1/responses`, over HTTP and as a web socket, the count of its tokens, and the stored replies
 * below it.
 */
import type { Caller } from "../gateway/accounts/accounts.ts";
import { bodyOf, type HttpReply } from "../gateway/http/http_reply.ts";
import { jsonInTurns } from "../gateway/in_turns.ts";
import {
  deleteStoredReply,
  storedInputItems,
  storedReply,
  type StoredReplyRequest,
} from "../gateway/responses/stored_operations.ts";
import { invalidField } from "../translate/model/error.ts";
import { state } from "../translate/formats/responses/state.ts";
import { responses } from "../translate/formats/responses/mod.ts";
import { handleCount } from "./count.ts";
import { handleGeneration } from "./generation.ts";
import { jsonReply, type Route, type RouteContext } from "./route.ts";
import { openWebSocket } from "./web_socket/handshake.ts";

const PATH = "/v1/responses";
const STORED_PATH = `${PATH}/:id`;

export const RESPONSES_ROUTES: readonly Route[] = [
  {
    access: "key",
    method: "POST",
    path: PATH,
    operation: "createResponse",
    dialect: responses,
    isPaid: true,
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
    access: "key",
    method: "GET",
    path: PATH,
    operation: "openResponsesWebSocket",
    dialect: responses,
    handle: openWebSocket,
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
      withSlot(context, caller, async (request) => {
        const { gateway, query } = context;
        return await jsonOf(
          jsonInTurns(await storedInputItems(gateway, request, query, state)),
        );
      }),
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
      return withSlot(
        context,
        caller,
        (request) => jsonOf(storedReply(context.gateway, request)),
      );
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

async function jsonOf(written: Promise<Uint8Array>): Promise<HttpReply> {
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    body: bodyOf(await written),
  };
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
