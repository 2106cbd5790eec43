/**
 * The betas of the messages format, by what they do to the price of a call. A date ends a beta's
 * name; another date of the same name does the same.
 *
 * Source: `AnthropicBeta` of @anthropic-ai/sdk 1.14.0; @anthropic-ai/claude-code 2.1.197
 */

/**
 * Betas that change no price, or whose price is that of a field or a tool that the request needs
 * for it: `speed`, `fallbacks`, `cache_control.ttl`, a search.
 */
const UNPRICED: ReadonlySet<string> = new Set(
  `
  advanced-tool-use advisor-tool afk-mode cache-diagnosis claude-code code-execution compact
  computer-use context-hint context-management dev-full-thinking effort extended-cache-ttl
  fallback-credit fast-mode files-api fine-grained-tool-streaming inline-tools interleaved-thinking
  mcp-client mcp-servers message-threads mid-conversation-output-config mid-conversation-system
  mid-conversation-system-clear-at mid-conversation-tool-changes model-context-window-exceeded
  oauth output-128k output-300k pdfs prompt-caching prompt-caching-scope redact-thinking
  server-side-fallback skills structured-outputs summarize-connector-text task-budgets
  thinking-binding-controls thinking-display-updates thinking-token-count token-counting
  token-efficient-tools tool-examples tool-search-tool user-profiles web-fetch web-search
  `.trim().split(/\s+/),
);

/** The beta that makes long prompts possible: for some models they cost more. */
const LONG_CONTEXT = "context-1m";

/** Betas that pass where the model's row has their price, or names them. */
export const PRICED_BETAS: ReadonlySet<string> = new Set([LONG_CONTEXT]);

/** Betas of endpoints that the gateway does not have, and one that lets another pay. */
export const OTHER_BETAS: ReadonlySet<string> = new Set(
  `
  admin-user-sign-out agent-memory analytics-usage-cost ce-claude-code-managed-settings ce-plugins
  ce-user-management dreaming efs experimental-claude-tag google-managed-data-controls
  managed-agents mcp-tunnels message-batches spend-limit-reads telemetry-destinations
  user-profiles-billing webhooks
  `.trim().split(/\s+/),
);

/** A beta's name without its date. */
export function betaName(beta: string): string {
  return beta.replace(/-\d{4}-?\d\d-?\d\d$/, "");
}

/** Whether a client's beta may be sent whatever the model's prices are. */
export function isUnpricedBeta(beta: string): boolean {
  return UNPRICED.has(betaName(beta));
}
