import type { JSX } from "../jsx.d.ts";

/** Submits a form, or goes back without a change. */
export function FormButtons(
  { text, cancel }: { readonly text: string; readonly cancel: string },
): JSX.Element {
  return (
    <div class="acts">
      <button class="main" type="submit">{text}</button>
      <a class="button" href={cancel}>Cancel</a>
    </div>
  );
}
