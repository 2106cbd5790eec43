/**
 * `POST /v1/chat/completions`, and the count of its tokens.
 */
import { chatCompletions } from "../translate/formats/chat_completions/mod.ts";
import { handleCount } from "./count.ts";
import { handleGeneration } from "./generation.ts";
import type { KeyRoute } from "./route.ts";

export const CHAT_COMPLETIONS_ROUTES: readonly KeyRoute[] = [
  {
    access: "key",
    method: "POST",
    path: "/v1/chat/completions",
    operation: "createChatCompletion",
    dialect: chatCompletions,
    isPaid: true,
    handle: (context, caller) =>
      handleGeneration(context, caller, chatCompletions),
  },
  {
    access: "key",
    method: "POST",
    path: "/v1/chat/completions/input_tokens",
    operation: "countChatTokens",
    dialect: chatCompletions,
    handle: (context, caller) =>
      handleCount(context, caller, chatCompletions, {
        reply: (count) => ({
          object: "chat.completion.input_tokens",
          input_tokens: count,
        }),
      }),
  },
];
