/**
 * Marks of what to cache in the Converse format: blocks of their own, after what they are for.
 *
 * Source: docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html, 2026-11-22
 */
import type { JsonObject } from "../../bytes/json.ts";
import { takesMarks } from "../../turns/cache_marks.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import type {
  FunctionTool,
  GenerationRequest,
  MarkPaths,
  Part,
} from "../../model/request.ts";

/** Records the client's path of a dropped field. */
type Drop = (path: string) => void;

/**
 * The block after a part or a tool: none if it has no mark, or the model does not take it. Only
 * some models know a longer time than the usual five minutes, so that it is dropped everywhere.
 *
 * @param place what carries the mark
 */
export function cachePoint(
  marked: Part | FunctionTool,
  place: keyof MarkPaths,
  { cacheMarks }: GenerationRequest,
  can: Capabilities,
  drop: Drop,
): readonly JsonObject[] {
  const mark = "cacheMark" in marked ? marked.cacheMark : undefined;
  const path = cacheMarks?.[place];
  if (mark === undefined || path === undefined || !takesMarks(place, can)) {
    return [];
  }
  if (mark === "1h") drop(`${path}.ttl`);
  return [{ cachePoint: { type: "default" } }];
}
