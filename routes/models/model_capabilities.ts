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
 */
export function modelCapabilities(
  dialect: DialectName,
  can: Capabilities,
): JsonObject {
  const isOwn = dialect === "messages";
  const reasons = can.reasoning !== "none";
  // Of the upstreams of the messages format, only the vendor's own address keeps conversations; only
  // it runs tools and edits contexts.
  const isVendor = isOwn && can.threads;
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
    batch: supported(false),
    citations: supported(isOwn),
    code_execution: supported(isVendor),
    // Declared by the library's beta types.
    compaction: { ...supported(isVendor), summarize: supported(isVendor) },
    context_management: {
      ...supported(isVendor),
      clear_thinking_20251015: supported(isVendor),
      clear_tool_uses_20250919: supported(isVendor),
      compact_20260112: supported(isVendor),
    },
    effort: {
      ...supported(takes.effort),
      ...Object.fromEntries(
        LEVELS.map((level) => [level, supported(hasLevel(level))]),
      ),
    },
    image_input: supported(true),
    pdf_input: supported(dialect !== "chat_completions" || can.files),
    server_tools: {
      ...supported(isVendor),
      code_execution: supported(isVendor),
      web_search: supported(isVendor),
    },
    // In translation a forced tool replaces what the model lacks.
    structured_outputs: supported(can.structuredOutput || !isOwn),
    thinking: {
      ...supported(reasons),
      types: {
        adaptive: supported(takes.adaptive),
        between_tools: supported(takes.between_tools),
        disabled: supported(takes.disabled),
        enabled: supported(takes.enabled),
      },
    },
  };
}

function supported(value: boolean): { readonly supported: boolean } {
  return { supported: value };
}
