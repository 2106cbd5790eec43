/**
 * `POST /v1/messages` and `POST /v1/messages/count_tokens`.
 */
import {
  checkCountable,
  decodeCountTokens,
  messages,
} from "../translate/formats/messages/mod.ts";
import { handleCount } from "./count.ts";
import { handleGeneration } from "./generation.ts";
import type { KeyRoute } from "./route.ts";

export const MESSAGES_ROUTES: readonly KeyRoute[] = [
  {
    access: "key",
    method: "POST",
    path: "/v1/messages",
    operation: "createMessage",
    dialect: messages,
    isPaid: true,
    handle: (context, caller) => handleGeneration(context, caller, messages),
  },
  {
    access: "key",
    method: "POST",
    path: "/v1/messages/count_tokens",
    operation: "countMessageTokens",
    dialect: messages,
    handle: (context, caller) =>
      handleCount(context, caller, messages, {
        decode: decodeCountTokens,
        check: checkCountable,
        reply: (count) => ({ input_tokens: count, context_management: null }),
      }),
  },
];
