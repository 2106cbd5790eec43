/**
 * What is known of one thing, a name and a value each.
 */
import type { Children, JSX } from "../jsx.d.ts";

/** A value of `null` leaves its line out. */
export function Facts(
  { of }: { readonly of: Readonly<Record<string, Children>> },
): JSX.Element {
  return (
    <dl>
      {Object.entries(of).filter(([, value]) => value !== null).map((
        [name, value],
      ) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}
