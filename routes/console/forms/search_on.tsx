import type { Children, JSX } from "../jsx.d.ts";

/** Leads to older lines, or on from where the search for lines ended. */
export function SearchOn(
  { href, isFull, searched, place, older }: {
    readonly href: string;
    /** Whether the page has as many lines as it may have. */
    readonly isFull: boolean;
    /** How much a page searches at most, such as `500,000 calls`. */
    readonly searched: string;
    /** The last line that was searched. */
    readonly place: Children;
    /** Text of the link to older lines. */
    readonly older: string;
  },
): JSX.Element {
  if (isFull) {
    return (
      <p>
        <a href={href}>{older}</a>
      </p>
    );
  }
  return (
    <p>
      A page searches {searched} at most, here back to {place}.{" "}
      <a href={href}>Search further</a>
    </p>
  );
}
