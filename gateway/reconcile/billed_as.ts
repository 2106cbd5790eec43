/**
 * What besides its tokens decides the price of a line of a vendor's export, or of a charge of the
 * ledger: the life of cache writes, searches, tier, speed and region.
 */
import {
  DIMENSION_NAMES,
  isPerUse,
  isUnit,
  USES,
} from "../accounts/charges/meters.ts";
import type { LedgerEntry } from "../accounts/records.ts";

/** Absent: not known. */
export interface BilledAs {
  /** Tokens written to a cache for an hour. */
  readonly cacheWrite1h?: number;
  /** Uses of the vendor's search. */
  readonly webSearches?: number;
  /** Empty for the base rates. */
  readonly tier?: string;
  /** Empty for the base rates. */
  readonly speed?: string;
  /** Empty for the base rates. */
  readonly region?: string;
}

const SEARCHES = `${USES}web_search`;

/** How a charge was billed. Of an estimate nothing is known. */
export function billedCharge(
  { estimated, lines = [] }: Pick<LedgerEntry, "estimated" | "lines">,
): BilledAs {
  if (estimated) return {};
  const quantityOf = (meter: string): number =>
    lines.reduce(
      (sum, one) => one.meter === meter ? sum + one.quantity : sum,
      0,
    );
  const ofTokens = lines.filter(({ meter }) =>
    !isPerUse(meter) && !isUnit(meter)
  );
  const said = new Map(
    ofTokens.flatMap(({ reasons = [] }) =>
      reasons.flatMap(({ because }) => because.split(" and "))
    ).map((one) => {
      const [name = "", value = ""] = one.split("=");
      return [name, value];
    }),
  );
  // The rate of an unpriced line replaces one that the card does not have.
  const isKnown = ofTokens.every(({ unpriced }) => unpriced !== true);
  return {
    cacheWrite1h: quantityOf("cache_write_1h"),
    webSearches: quantityOf(SEARCHES),
    ...(isKnown
      ? Object.fromEntries(
        DIMENSION_NAMES.map((name) => [name, said.get(name) ?? ""]),
      )
      : {}),
  };
}

const WORDS: Readonly<Record<keyof BilledAs, string>> = {
  cacheWrite1h: "cache write, 1 hour",
  webSearches: "web searches",
  tier: "tier",
  speed: "speed",
  region: "region",
};

/** Properties of a line and a charge that differ: `speed: standard, fast in the file`. */
export function billedOtherwise(
  ours: BilledAs,
  theirs: BilledAs,
): readonly string[] {
  return (Object.keys(WORDS) as (keyof BilledAs)[]).flatMap((name) => {
    const own = ours[name];
    const other = theirs[name];
    return own === undefined || other === undefined || own === other ? [] : [
      `${WORDS[name]}: ${show(own)}, ${show(other)} in the file`,
    ];
  });
}

function show(value: number | string): string {
  return value === "" ? "standard" : String(value);
}
