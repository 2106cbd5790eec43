/** Faults of streams of the chat endpoint. */
import type { Hooks } from "../../reference_gateway/hooks.ts";

export const ID = "chatcmpl-0123456789";

/** Streams with another content type. */
export function typed(type: string): Hooks {
  return {
    streamHeaders: (headers, { endpoint }) =>
      endpoint === "chat" ? { ...headers, "content-type": type } : headers,
  };
}
