/**
 * Shared by the endpoints that count the tokens of a prompt.
 */
import type { Caller } from "../gateway/accounts/accounts.ts";
import { inTurns } from "../gateway/in_turns.ts";
import { forwardedHeaders } from "../gateway/http/forwarded_headers.ts";
import type { HttpReply } from "../gateway/http/http_reply.ts";
import { traceOf } from "../gateway/http/trace.ts";
import { clientClosedReply } from "../gateway/observability/log_entry.ts";
import { countTokens } from "../gateway/pipeline/count_tokens.ts";
import { openConversation } from "../gateway/responses/conversation.ts";
import type { JsonObject } from "../translate/bytes/json.ts";
import type { Dialect } from "../translate/dialect.ts";
import type { GenerationRequest } from "../translate/model/request.ts";
import type { Steps } from "../translate/steps.ts";
import { readRequest } from "../translate/stream/read_request.ts";
import { readBody } from "./generation.ts";
import { jsonReply, type RouteContext } from "./route.ts";

/** How a dialect asks for a count. */
interface CountEndpoint {
  /** Absent: the body is a whole request for a reply. */
  decode?(body: unknown): Steps<GenerationRequest>;
  /** See {@linkcode Dialect.checkPassable}; given together with `decode`. */
  check?(body: unknown): void;
  reply(count: number): JsonObject;
}

/** Handles a request for a count. It is free of charge, and takes a concurrency slot. */
export async function handleCount(
  context: RouteContext,
  caller: Caller,
  dialect: Dialect,
  { decode, check, reply }: CountEndpoint,
): Promise<HttpReply> {
  const { gateway, request: { headers, signal } } = context;
  const slot = gateway.concurrency.acquire(caller.keyId);
  try {
    const { bytes, json: body, top } = await readBody(context);
    const sent = { bytes, body, top };
    const conversation = dialect.state === undefined
      ? undefined
      : await openConversation(gateway, { dialect, caller, ...sent });
    const client = { dialect, ...sent, ...conversation?.request };
    try {
      const count = await countTokens(gateway, {
        client: {
          ...client,
          request: await inTurns(readRequest(
            client.body,
            decode ?? dialect.decodeRequest,
            check ?? dialect.checkPassable,
          )),
          headers: dialect.name === "messages" ? forwardedHeaders(headers) : {},
        },
        caller,
        requestId: context.requestId,
        trace: traceOf(headers),
        signal,
      });
      return jsonReply(reply(count));
    } catch (error) {
      throw conversation === undefined ? error : conversation.ownError(error);
    }
  } catch (error) {
    // The client disconnected and the upstream call was cancelled: not an error.
    if (!signal.aborted) throw error;
    return clientClosedReply();
  } finally {
    slot.release();
  }
}
