/**
 * A call for embeddings: reads the request and has the vectors made and paid for, by their prompt
 * tokens alone.
 */
import { decodeEmbeddings } from "../../translate/embeddings/embedding_request.ts";
import { withDoubles } from "../../translate/bytes/exact_json.ts";
import type { Gateway } from "../gateway.ts";
import type { HttpReply } from "../http/http_reply.ts";
import { isLarge } from "../http/request_body.ts";
import { nextTurn } from "../accounts/next_turn.ts";
import type { JsonCall } from "./call_request.ts";
import { Embedding } from "./embedding.ts";
import { embeddingTokens } from "./estimate.ts";
import { accessibleModel, assertActive } from "./model_access.ts";
import { assertAccepting, payFor } from "./paid_call.ts";

/**
 * Makes the call.
 *
 * @throws {ApiError} what the client is to receive in place of the vectors
 */
export async function embed(
  gateway: Gateway,
  call: JsonCall,
): Promise<HttpReply> {
  assertAccepting(gateway);
  // The body has just been parsed.
  if (isLarge(call)) await nextTurn();
  const { caller, facts, bytes, top } = call;
  const request = decodeEmbeddings(withDoubles(call.body));
  const user = request.user === undefined
    ? undefined
    : gateway.withoutCredentials(request.user);
  facts.user = user;
  assertActive(caller);
  facts.model = request.model;
  const model = accessibleModel(gateway, caller, request.model, "embeddings");
  const inputTokens = embeddingTokens(request.inputs);
  return await payFor(gateway, call, {
    name: "embeddings",
    model,
    operation: new Embedding({ request, bytes, top }, inputTokens),
    replyCount: 1,
    // A token has at least one byte; models add fewer to an input than its own quotes and comma
    // have.
    mostUsage: (_, sentBytes) => ({ input: 2 * sentBytes, output: 0 }),
    taps: [],
    worstCase: () => ({
      inputTokens,
      maxOutputTokens: 0,
      ...(user === undefined ? {} : { user }),
    }),
  });
}
