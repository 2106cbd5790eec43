/**
 * Marks of what to cache in the Converse format: blocks of their own, after what they are for.
 *
 * Source: docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html, 2026-11-22
 *
 * @module
 */
import type { JsonObject } from "../../bytes/json.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import type {
  FunctionTool,
  GenerationRequest,
  Part,
} from "../../model/request.ts";

/** The path of the marks that some models take everywhere but here. */
export const TOOL_MARKS = "tools[].cache_control";
/** The paths of the other marks. */
export const SYSTEM_MARKS = "system[].cache_control";
export const TURN_MARKS = "messages[].content[].cache_control";

/** Records the client's path of a dropped field. */
type Drop = (path: string) => void;

/**
 * The block after a part or a tool: none if it has no mark, or the model does not take it. Only some
 * models know a longer time than the usual five minutes, so that it is dropped everywhere.
 *
 * @param path of the mark in the client's format
 */
export function cachePoint(
  marked: Part | FunctionTool,
  path: string,
  { cacheMarks }: Capabilities,
  drop: Drop,
): readonly JsonObject[] {
  const isTaken = cacheMarks === "all" ||
    (cacheMarks === "prompt" && marked.type !== "function");
  const mark = "cacheMark" in marked ? marked.cacheMark : undefined;
  if (!isTaken || mark === undefined) return [];
  if (mark === "1h") drop(`${path}.ttl`);
  return [{ cachePoint: { type: "default" } }];
}

/** The request's unmapped paths without those of the marks that become blocks. */
export function withoutTakenMarks(
  { unmapped, cacheMarks = [] }: GenerationRequest,
  can: Capabilities,
): readonly string[] {
  return unmapped.filter((path) =>
    can.cacheMarks === "none" || !cacheMarks.includes(path) ||
    (can.cacheMarks === "prompt" && path === TOOL_MARKS)
  );
}
