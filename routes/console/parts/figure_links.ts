/**
 * Links from a figure to what it adds up: the same filters on another page.
 */

import { countText } from "./money.tsx";

/** What a figure adds up; absent fields: everything. */
export interface FigureFilters {
  /** First day, in UTC. */
  readonly from: string;
  readonly to: string;
  readonly account?: string;
  readonly key?: string;
  readonly model?: string;
  readonly user?: string;
  /** What became of calls. */
  readonly outcome?: string;
}

function searchOf(
  { from, to, ...others }: FigureFilters,
): URLSearchParams {
  const search = new URLSearchParams({ from, to });
  for (const [name, value] of Object.entries(others)) {
    if (value !== undefined) search.set(name, value);
  }
  return search;
}

/** The usage behind a figure, grouped by another field. */
export function usageLink(
  base: string,
  filters: FigureFilters,
  by: string,
): string {
  const search = searchOf(filters);
  search.set("by", by);
  return `${base}/usage?${search}`;
}

/** The calls behind a figure. */
export function callsLink(base: string, filters: FigureFilters): string {
  return `${base}/calls?${searchOf(filters)}`;
}

/** `1 charge`, `432 charges`. */
export function chargesText(count: number): string {
  return `${countText(count)} ${count === 1 ? "charge" : "charges"}`;
}

/** The charges behind a figure. */
export function ledgerLink(base: string, filters: FigureFilters): string {
  const search = searchOf(filters);
  search.set("kind", "charge");
  return `${base}/ledger?${search}`;
}
