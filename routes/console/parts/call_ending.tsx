/**
 * How a call ended and how long it took, in a few words.
 */
import type { JSX } from "../jsx.d.ts";

/** Texts of outcomes whose names do not explain themselves. */
const WORDS: Readonly<Record<string, string>> = {
  limited: "refused by limit",
  invalid: "refused as invalid",
  upstream_failed: "vendor failed",
  gateway_failed: "gateway failed",
  caller_left: "client left",
  refused: "any refusal",
  failed: "any error",
};

/** An outcome for people: `refused by limit`. */
export function outcomeText(outcome: string): string {
  return WORDS[outcome] ?? outcome;
}

/** What became of a call, in words, with the class of its colour. */
export function endingOf(
  outcome: string,
  status: number | undefined,
  code: string | undefined,
): { readonly text: string; readonly tag: "ok" | "warn" | "bad" } {
  const isComplete = outcome === "complete" || outcome === "rescued";
  return {
    text: [
      outcomeText(outcome),
      isComplete ? "" : String(status ?? ""),
      (code ?? "").replaceAll("_", " "),
    ].filter((part) => part !== "").join(" "),
    tag: outcome === "complete"
      ? "ok"
      : outcome === "caller_left" || outcome === "rescued"
      ? "warn"
      : "bad",
  };
}

/** What became of a call, in colour and in words. */
export function Ending(
  { outcome, status, code }: {
    readonly outcome: string;
    readonly status?: number | undefined;
    readonly code?: string | undefined;
  },
): JSX.Element {
  const { text, tag } = endingOf(outcome, status, code);
  return <span class={`tag ${tag}`}>{text}</span>;
}

/** `1.20 s`, `40 ms`; `–` where it is not known. */
export function secondsText(ms: number | undefined | null): string {
  if (ms === undefined || ms === null) return "–";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
