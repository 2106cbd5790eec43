const BILLING_LINE = /^x-anthropic-billing-header:[^\n]*\n?/;

/**
 * A system text without the first line that Claude-style clients add: it changes on every request,
 * means nothing to other vendors' models and defeats prompt caches. Usually the line is a block of
 * its own, so an empty text remains.
 */
export function withoutBillingLine(text: string): string {
  return text.replace(BILLING_LINE, "");
}
