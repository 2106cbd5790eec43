/**
 * The plan of a reply, sent to the mock upstream as a tag in the prompt, which every gateway passes
 * on. The load generator checks replies against the same plan.
 */

/** The reply that the mock upstream sends. */
export interface ReplyPlan {
  /** Number of text pieces; in a stream each is an event. */
  readonly events: number;
  /** Events of a stream per second; 0: as fast as the client reads them. */
  readonly perSecond: number;
  /**
   * Events per write when they are not paced, each still an HTTP chunk of its own; 0: all in one
   * write.
   */
  readonly perWrite: number;
  /** Length of a text piece. */
  readonly textBytes: number;
  /** Time from the request to the first byte of the reply, in milliseconds. */
  readonly waitMs: number;
}

/** The plan of a prompt without a tag. */
export const DEFAULT_PLAN: ReplyPlan = {
  events: 60,
  perSecond: 0,
  perWrite: 1,
  textBytes: 14,
  waitMs: 0,
};

/** The tag for a plan. It must be near the start of the request's body. */
export function planTag(plan: Partial<ReplyPlan>): string {
  const { events, perSecond, perWrite, textBytes, waitMs } = {
    ...DEFAULT_PLAN,
    ...plan,
  };
  return `[[bench ${events} ${perSecond} ${perWrite} ${textBytes} ${waitMs}]]`;
}

/** The plan in a text's tag; undefined without a tag. */
export function parsePlan(text: string): ReplyPlan | undefined {
  const found = /\[\[bench (\d+) (\d+(?:\.\d+)?) (\d+) (\d+) (\d+)\]\]/
    .exec(text);
  if (found === null) return undefined;
  return {
    events: Number(found[1]),
    perSecond: Number(found[2]),
    perWrite: Number(found[3]),
    textBytes: Number(found[4]),
    waitMs: Number(found[5]),
  };
}

/** Placeholder for the stamp in a text piece: "@", then the stamp's digits. */
export const UNSTAMPED = "@--------";

const FILL = "lorem ipsum dolor sit amet ";

/**
 * The text of an event. Its number reveals lost, repeated and reordered events; a paced event also
 * has space for the time at which it is sent.
 */
export function pieceText(plan: ReplyPlan, index: number): string {
  const opening = plan.perSecond > 0 ? `#${index} ${UNSTAMPED} ` : `#${index} `;
  const missing = Math.max(0, plan.textBytes - opening.length);
  return opening +
    FILL.repeat(Math.ceil(missing / FILL.length)).slice(0, missing);
}
