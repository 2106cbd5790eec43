/**
 * A cell of plain texts: the page, its event stream and its script show the same.
 */
import type { JSX } from "../jsx.d.ts";

/** A cell; the script makes the same elements of it as the page. */
export interface LiveCell {
  readonly text: string;
  /** True: a text that a caller chose. */
  readonly foreign?: true;
  /** Shown as a tag of this colour. */
  readonly tag?: "ok" | "warn" | "bad";
  /** Where it leads. */
  readonly href?: string;
  /** A smaller line below. */
  readonly note?: string;
}

/** What a cell holds. */
export function LiveText({ cell }: { readonly cell: LiveCell }): JSX.Element {
  const { text, foreign, tag, href, note } = cell;
  const shown = foreign === true ? <bdi>{text}</bdi> : text;
  return (
    <>
      {href !== undefined
        ? <a href={href}>{shown}</a>
        : tag !== undefined
        ? <span class={`tag ${tag}`}>{text}</span>
        : shown}
      {note === undefined ? null : <code class="id">{note}</code>}
    </>
  );
}
