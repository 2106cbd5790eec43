/**
 * What is below a list by a figure: which rows are in order, and the link to the next ones.
 */
import type { JSX } from "../jsx.d.ts";
import {
  RANKED,
  type RankedPage,
} from "../../../gateway/accounts/reports/ranked.ts";
import { countText } from "./money.tsx";

/** Nothing below a list in its own order. */
export function RankedNote(
  { page: { isWhole, hasMore }, of, next }: {
    readonly page: Partial<RankedPage<unknown>>;
    /** What the rows are. */
    readonly of: string;
    readonly next: string;
  },
): JSX.Element {
  return (
    <>
      {isWhole === false
        ? (
          <p class="soft">
            In order are the newest {countText(RANKED)} {of}{" "}
            that match; choose fewer days for older ones.
          </p>
        )
        : null}
      {hasMore === true
        ? (
          <p>
            <a href={next}>More {of}</a>
          </p>
        )
        : null}
    </>
  );
}
