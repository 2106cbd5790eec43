import { embed } from "../gateway/pipeline/embed.ts";
import { chatCompletions } from "../translate/formats/chat_completions/mod.ts";
import { withJsonCall } from "./generation.ts";
import type { KeyRoute } from "./route.ts";

/** The route of embeddings; its errors have the form of the chat completion format. */
export const EMBEDDINGS_ROUTE: KeyRoute = {
  access: "key",
  method: "POST",
  path: "/v1/embeddings",
  operation: "createEmbedding",
  dialect: chatCompletions,
  isPaid: true,
  handle: (context, caller) =>
    withJsonCall(
      context,
      caller,
      chatCompletions,
      undefined,
      (call) => embed(context.gateway, call),
    ),
};
