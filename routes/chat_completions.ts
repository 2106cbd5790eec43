/**
 * `POST /v1/chat/completions`.
 *
 * @module
 */
import { chatCompletions } from "../translate/formats/chat_completions/mod.ts";
import { handleGeneration } from "./generation.ts";
import type { KeyRoute } from "./route.ts";

/** The routes of the chat completion format. */
export const CHAT_COMPLETIONS_ROUTES: readonly KeyRoute[] = [
  {
    access: "key",
    method: "POST",
    path: "/v1/chat/completions",
    operation: "createChatCompletion",
    dialect: chatCompletions,
    handle: (context, caller) =>
      handleGeneration(context, caller, chatCompletions),
  },
];
