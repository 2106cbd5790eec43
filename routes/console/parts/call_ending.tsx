/**
 * How a call ended and how long it took, in a few words.
 */
import type { JSX } from "../jsx.d.ts";
import { type LiveCell, LiveText } from "./live_cell.tsx";

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

/** What became of a call, in words, with the class of its colour; its status and reason below. */
export function endingOf(
  outcome: string,
  status: number | undefined,
  code: string | undefined,
): LiveCell {
  const isComplete = outcome === "complete" || outcome === "rescued";
  const note = [
    isComplete ? "" : String(status ?? ""),
    (code ?? "").replaceAll("_", " "),
  ].filter((part) => part !== "").join(" ");
  return {
    text: outcomeText(outcome),
    tag: outcome === "complete"
      ? "ok"
      : outcome === "caller_left" || outcome === "rescued"
      ? "warn"
      : "bad",
    ...(note === "" ? {} : { note }),
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
  return <LiveText cell={endingOf(outcome, status, code)} />;
}

/** `1.20 s`, `40 ms`; `–` where it is not known. */
export function secondsText(ms: number | undefined | null): string {
  if (ms === undefined || ms === null) return "–";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
