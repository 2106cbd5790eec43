/**
 * A figure with its name, which leads to what it adds up.
 */
import type { Children, JSX } from "../jsx.d.ts";

export function StatCard(
  { name, figure, link, children }: {
    readonly name: string;
    readonly figure: Children;
    /** To what the figure adds up; absent: no page lists it. */
    readonly link?: string | undefined;
    /** Below the figure. */
    readonly children?: Children;
  },
): JSX.Element {
  return (
    <section class="card">
      <span class="label">{name}</span>
      <span class="stat">
        {link === undefined ? figure : <a href={link}>{figure}</a>}
      </span>
      {children}
    </section>
  );
}
