/**
 * Marks of what to cache in requests of the messages format.
 *
 * @module
 */
import { isObject, objectOr } from "../../bytes/json.ts";
import type { CacheMark } from "../../model/request.ts";

/** The neutral form of a block's or a tool's mark; empty if it has none. */
export function markOf(block: unknown): { readonly cacheMark?: CacheMark } {
  const mark = objectOr(block)["cache_control"];
  if (!isObject(mark)) return {};
  return { cacheMark: mark["ttl"] === "1h" ? "1h" : "5m" };
}
