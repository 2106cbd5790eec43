/**
 * What a request asks for that its price depends on.
 */
import type { PartMeter, UnitMeter } from "./meters.ts";
import type { RateCard, Situation } from "./rate_card.ts";

/** Cards of other models that a call may be served by, by the vendor's own ids. */
export type OtherCards = ReadonlyMap<string, RateCard>;

/** What a request asks for, beside tokens at the base rates. */
export interface Asked extends Omit<Situation, "promptTokens"> {
  /** Kinds of tokens that only a request that asks for them can cause. */
  readonly meters?: readonly PartMeter[];
  /** The most uses of each of the vendor's tools. */
  readonly uses?: Readonly<Record<string, number>>;
  /** Upper limits of what is counted beside tokens. */
  readonly units?: Readonly<Partial<Record<UnitMeter, number>>>;
  /** Cards of the other models that may serve the call, too. */
  readonly otherCards?: OtherCards;
}

/** A request for tokens at the base rates. */
export const NOTHING_ASKED: Asked = {};
