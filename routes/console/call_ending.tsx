/** @jsxImportSource preact */
/** @jsxImportSourceTypes console-jsx */
/**
 * How a call ended and how long it took, in a few words.
 *
 * @module
 */
import type { JSX } from "./jsx.d.ts";

/** How a call ended, in colour and in words. */
export function Ending(
  { ended, status, code }: {
    readonly ended: string;
    readonly status: number | undefined;
    readonly code: string | undefined;
  },
): JSX.Element {
  const kind = ended === "complete"
    ? "ok"
    : ended === "caller_left"
    ? "warn"
    : "bad";
  return (
    <span class={`tag ${kind}`}>
      {[
        ended.replace("_", " "),
        ended === "complete" ? "" : String(status ?? ""),
        (code ?? "").replaceAll("_", " "),
      ].filter((part) => part !== "").join(" ")}
    </span>
  );
}

/** `1.20 s`, `40 ms`; `–` where it is not known. */
export function secondsText(ms: number | undefined | null): string {
  if (ms === undefined || ms === null) return "–";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
