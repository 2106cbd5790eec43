/**
 * `POST /v1/messages` and `POST /v1/messages/count_tokens`.
 *
 * @module
 */
import { nobodyThere } from "../gateway/call_entry.ts";
import { countTokens } from "../gateway/count_tokens.ts";
import { traceOf } from "../gateway/trace.ts";
import { versionHeaders } from "../gateway/version_headers.ts";
import { decodeCountTokens, messages } from "../translate/messages/mod.ts";
import { answerGeneration, bodyOf } from "./generation.ts";
import { json, type KeyRoute } from "./route.ts";

/** The routes of the message format. */
export const MESSAGES_ROUTES: readonly KeyRoute[] = [
  {
    access: "key",
    method: "POST",
    path: "/v1/messages",
    operation: "createMessage",
    dialect: messages,
    handle: (context, caller) => answerGeneration(context, caller, messages),
  },
  {
    access: "key",
    method: "POST",
    path: "/v1/messages/count_tokens",
    operation: "countMessageTokens",
    dialect: messages,
    async handle(context, caller) {
      const slot = context.gateway.slots.take(caller.keyId);
      try {
        const { bytes, json: body, top } = await bodyOf(context);
        const counted = await countTokens(context.gateway, {
          dialect: messages,
          caller,
          bytes,
          body,
          top,
          request: decodeCountTokens(body),
          headers: versionHeaders(context.request.headers),
          trace: traceOf(context.request.headers),
          signal: context.request.signal,
        });
        return json({ input_tokens: counted });
      } catch (error) {
        // Nobody is there for an answer, and the vendor was let go: that is nobody's fault.
        if (!context.request.signal.aborted) throw error;
        return nobodyThere();
      } finally {
        slot.release();
      }
    },
  },
];
