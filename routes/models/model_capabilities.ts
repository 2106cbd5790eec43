/**
 * What a model can do, in the shape of the messages format's model list. It is about calls through
 * this gateway: what is translated counts as supported, and so does what passes
 * unchanged to an upstream, unless it is known not to take it.
 *
 * Source: type declarations of @anthropic-ai/sdk 1.12.0, 2026-11-20
 */
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { Capabilities } from "../../translate/model/capabilities.ts";
import type { DialectName } from "../../translate/model/request.ts";

const LEVELS = ["low", "medium", "high", "xhigh", "max"] as const;

/**
 * The capabilities of a model whose upstream is called in `dialect`.
 *
 * @param hasPrice whether the model has a price for uses of a tool of the vendor; without one,
 * requests with the tool are refused
 * @param isSearchTranslated whether the format's search of the web is translated for the model
 */
export function modelCapabilities(
  dialect: DialectName,
  can: Capabilities,
  hasPrice: (tool: string) => boolean,
  isSearchTranslated: boolean,
): JsonObject {
  const isOwn = dialect === "messages";
  const reasons = can.reasoning !== "none";
  // Of the upstreams of the messages format, only the vendor's own address keeps conversations;
  // only it runs tools and edits contexts.
  const isVendor = isOwn && can.threads;
  const runs = {
    code_execution: isVendor && hasPrice("code_execution"),
    web_search: (isVendor || isSearchTranslated) && hasPrice("web_search"),
  };
  const takes = {
    // A budget is made of an effort in translation; in the format itself it is another field.
    effort: can.reasoning === "adaptive" || (reasons && !isOwn),
    adaptive: can.reasoning === "adaptive" || (reasons && !isOwn),
    enabled: can.reasoning === "budget" || (reasons && !isOwn),
    between_tools: reasons && !isOwn,
    disabled: !reasons || can.reasoningOff,
  };
  const hasLevel = (level: typeof LEVELS[number]): boolean =>
    takes.effort &&
    (can.reasoning === "budget" || can.efforts.includes(level));
  return {
    batch: supportOf(false),
    citations: supportOf(isOwn),
    code_execution: supportOf(runs.code_execution),
    // Declared by the library's beta types.
    compaction: { ...supportOf(isVendor), summarize: supportOf(isVendor) },
    context_management: {
      ...supportOf(isVendor),
      clear_thinking_20251015: supportOf(isVendor),
      clear_tool_uses_20250919: supportOf(isVendor),
      compact_20260112: supportOf(isVendor),
    },
    effort: {
      ...supportOf(takes.effort),
      ...Object.fromEntries(
        LEVELS.map((level) => [level, supportOf(hasLevel(level))]),
      ),
    },
    image_input: supportOf(can.images),
    pdf_input: supportOf(dialect !== "chat_completions" || can.files),
    server_tools: {
      ...supportOf(runs.code_execution || runs.web_search),
      code_execution: supportOf(runs.code_execution),
      web_search: supportOf(runs.web_search),
    },
    // In translation a forced tool replaces what the model lacks.
    structured_outputs: supportOf(can.structuredOutput || !isOwn),
    thinking: {
      ...supportOf(reasons),
      types: {
        adaptive: supportOf(takes.adaptive),
        between_tools: supportOf(takes.between_tools),
        disabled: supportOf(takes.disabled),
        enabled: supportOf(takes.enabled),
      },
    },
  };
}

function supportOf(value: boolean): { readonly supported: boolean } {
  return { supported: value };
}
