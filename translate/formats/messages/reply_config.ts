/**
 * The fields of a reply other than its content. The format declares fields that no other format
 * has; they are null, never absent, because typed clients require the keys.
 */
import type { EncodeContext } from "../../dialect.ts";
import type { JsonObject } from "../../bytes/json.ts";

/** A reply before any content; its `usage` is to be added. */
export function replyConfig(
  upstreamId: string | undefined,
  context: EncodeContext,
): JsonObject {
  return {
    id: replyId(upstreamId, context),
    type: "message",
    role: "assistant",
    model: context.model,
    content: [],
    ...endFields(null, null),
    diagnostics: null,
    ...BETA_END,
  };
}

/** How a reply ended: fields of a whole reply, and of the `delta` at a stream's end. */
export function endFields(
  stop_reason: string | null,
  stop_sequence: string | null,
): JsonObject {
  return { stop_reason, stop_sequence, stop_details: null, container: null };
}

/** What the library's beta types declare beside the message, and beside a stream's last `delta`. */
export const BETA_END: JsonObject = { context_management: null };

/** The reply's id: the upstream's under this dialect's prefix, or one made from the seed. */
function replyId(upstream: string | undefined, context: EncodeContext): string {
  const bare = upstream?.replace(/^(?:msg_|chatcmpl-)/, "") ?? "";
  return `msg_${bare === "" ? context.idSeed : bare}`;
}
