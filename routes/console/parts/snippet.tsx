import type { JSX } from "../jsx.d.ts";

/** A block of code with a copy button. `id` is unique on the page. */
export function Snippet(
  { id, title, text }: {
    readonly id: string;
    readonly title: string;
    readonly text: string;
  },
): JSX.Element {
  return (
    <div>
      <div class="head">
        <h2>{title}</h2>
        <button type="button" data-copy={id} hidden>Copy</button>
      </div>
      <pre id={id} tabIndex={0} aria-label={title}>{text}</pre>
    </div>
  );
}
