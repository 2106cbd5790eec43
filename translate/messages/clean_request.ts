/**
 * Keeping what the gateway's own replies put into a conversation from upstreams of the messages format, which would refuse it.
 *
 * @module
 */
import { isObject, type JsonObject } from "../json.ts";

/**
 * A copy without other dialects' signatures and without reasoning that nobody signed; undefined where there is nothing to
 * remove.
 */
export function cleanRequest(body: JsonObject): JsonObject | undefined {
  const messages = body["messages"];
  if (!Array.isArray(messages)) return undefined;
  let changed = false;
  const cleaned: unknown[] = [];
  for (const message of messages) {
    const content = isObject(message) ? message["content"] : undefined;
    if (
      !isObject(message) || !Array.isArray(content) ||
      !content.some((block) => isUnsigned(block) || isCarrier(block))
    ) {
      cleaned.push(message);
      continue;
    }
    changed = true;
    const kept = content.filter((block) => !isUnsigned(block)).map(unladen);
    // A turn of nothing but unsigned reasoning goes with it: an empty one would be refused.
    if (kept.length > 0) cleaned.push({ ...message, content: kept });
  }
  return changed ? { ...body, messages: cleaned } : undefined;
}

/** Reasoning that another dialect's model made: see `stream_encoder.ts`. */
function isUnsigned(block: unknown): boolean {
  return isObject(block) && block["type"] === "thinking" &&
    (block["signature"] ?? "") === "";
}

function isCarrier(block: unknown): block is JsonObject {
  return isObject(block) && block["type"] === "tool_use" &&
    block["extra_content"] !== undefined;
}

function unladen(block: unknown): unknown {
  if (!isCarrier(block)) return block;
  const { extra_content: _, ...rest } = block;
  return rest;
}
