/**
 * Marks of what to cache in requests of the messages format.
 */
import { isObject, type JsonObject, objectOr } from "../../bytes/json.ts";
import type { CacheMark } from "../../model/request.ts";

/** The most marks that the format takes in a request, its own field included. */
export const MOST_MARKS = 4;

/** The neutral form of a block's or a tool's mark; empty if it has none. */
export function markOf(block: unknown): { readonly cacheMark?: CacheMark } {
  const mark = objectOr(block)["cache_control"];
  if (!isObject(mark)) return {};
  return { cacheMark: mark["ttl"] === "1h" ? "1h" : "5m" };
}

/** The mark of a block or a tool, as its `cache_control`; empty if it has none. */
export function markField(
  marked: { readonly cacheMark?: CacheMark },
): JsonObject {
  return marked.cacheMark === undefined
    ? {}
    : { cache_control: cacheControl(marked.cacheMark) };
}

/** The format's word for a mark; five minutes are its default. */
export function cacheControl(mark: CacheMark): JsonObject {
  return { type: "ephemeral", ...(mark === "1h" ? { ttl: "1h" } : {}) };
}
