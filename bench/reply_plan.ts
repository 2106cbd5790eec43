/**
 * What the mock upstream is to answer, told in the prompt: a tag that survives every translation. The same tag tells the load
 * generator what to expect.
 *
 * @module
 */

/** A reply to be made. */
export interface ReplyPlan {
  /** Pieces of text: in a stream an event each. */
  readonly events: number;
  /** Events of a stream per second; 0: as fast as the reader takes them. */
  readonly perSecond: number;
  /** Events in one write where they are not paced, each its own HTTP chunk all the same; 0: as many as there are. */
  readonly perWrite: number;
  /** Length of a piece of text. */
  readonly textBytes: number;
}

/** The plan of a prompt without a tag. */
export const DEFAULT_PLAN: ReplyPlan = {
  events: 60,
  perSecond: 0,
  perWrite: 1,
  textBytes: 14,
};

/** The tag that asks for a plan. It must stand near the beginning of a request's body. */
export function planTag(plan: Partial<ReplyPlan>): string {
  const { events, perSecond, perWrite, textBytes } = {
    ...DEFAULT_PLAN,
    ...plan,
  };
  return `[[bench ${events} ${perSecond} ${perWrite} ${textBytes}]]`;
}

/** The plan that a text's tag asks for; undefined where there is none. */
export function planIn(text: string): ReplyPlan | undefined {
  const found = /\[\[bench (\d+) (\d+(?:\.\d+)?) (\d+) (\d+)\]\]/.exec(text);
  if (found === null) return undefined;
  return {
    events: Number(found[1]),
    perSecond: Number(found[2]),
    perWrite: Number(found[3]),
    textBytes: Number(found[4]),
  };
}

/** Where a stamp is in a piece, and what stands there before it is stamped. */
export const UNSTAMPED = "@--------";

const FILL = "lorem ipsum dolor sit amet ";

/**
 * The text of an event. It is numbered, so that one lost, doubled or out of order is noticed; a paced one has room for the time
 * at which it was sent.
 */
export function pieceText(plan: ReplyPlan, index: number): string {
  const opening = plan.perSecond > 0 ? `#${index} ${UNSTAMPED} ` : `#${index} `;
  const missing = Math.max(0, plan.textBytes - opening.length);
  return opening +
    FILL.repeat(Math.ceil(missing / FILL.length)).slice(0, missing);
}
