/**
 * `POST /v1/messages` and `POST /v1/messages/count_tokens`.
 *
 * @module
 */
import { clientClosedReply } from "../gateway/observability/log_entry.ts";
import { countTokens } from "../gateway/pipeline/count_tokens.ts";
import { traceOf } from "../gateway/http/trace.ts";
import { forwardedHeaders } from "../gateway/http/forwarded_headers.ts";
import {
  checkCountable,
  decodeCountTokens,
  messages,
} from "../translate/formats/messages/mod.ts";
import { readRequest } from "../translate/stream/read_request.ts";
import { handleGeneration, readBody } from "./generation.ts";
import { jsonReply, type KeyRoute } from "./route.ts";

/** The routes of the message format. */
export const MESSAGES_ROUTES: readonly KeyRoute[] = [
  {
    access: "key",
    method: "POST",
    path: "/v1/messages",
    operation: "createMessage",
    dialect: messages,
    handle: (context, caller) => handleGeneration(context, caller, messages),
  },
  {
    access: "key",
    method: "POST",
    path: "/v1/messages/count_tokens",
    operation: "countMessageTokens",
    dialect: messages,
    async handle(context, caller) {
      const slot = context.gateway.concurrency.acquire(caller.keyId);
      try {
        const { bytes, json: body, top } = await readBody(context);
        const count = await countTokens(context.gateway, {
          dialect: messages,
          caller,
          bytes,
          body,
          top,
          request: readRequest(body, decodeCountTokens, checkCountable),
          headers: forwardedHeaders(context.request.headers),
          trace: traceOf(context.request.headers),
          signal: context.request.signal,
        });
        return jsonReply({ input_tokens: count, context_management: null });
      } catch (error) {
        // The client disconnected and the upstream call was cancelled: not an error.
        if (!context.request.signal.aborted) throw error;
        return clientClosedReply();
      } finally {
        slot.release();
      }
    },
  },
];
