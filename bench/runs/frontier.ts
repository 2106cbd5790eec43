/**
 * The highest rates at which a target keeps within bounds.
 */

/** What a target did at one rate. */
export interface AtRate {
  /** The 99th percentile of the time that it added, in milliseconds. */
  readonly addedMs: number;
  /** Whether it served the rate without a failure. */
  readonly isServed: boolean;
}

/** The highest rate within a bound; 0: none was. */
export interface Frontier {
  /** Milliseconds that the target may add, at the 99th percentile. */
  readonly boundMs: number;
  /** Calls per second. */
  readonly perSecond: number;
  /** True: it was the highest rate that was tried, so that the target may serve more. */
  readonly isOpen: boolean;
}

/**
 * Tries ascending rates until one is beyond the widest bound. A rate counts for a bound if all
 * lower ones do; one that misses a bound is tried once more, since other work on the machine may
 * have delayed it.
 */
export async function findFrontiers(
  rates: readonly number[],
  boundsMs: readonly number[],
  measureAt: (perSecond: number) => Promise<AtRate>,
): Promise<readonly Frontier[]> {
  const found = boundsMs.map((boundMs) => ({
    boundMs,
    perSecond: 0,
    isOpen: true,
  }));
  for (const perSecond of rates) {
    let open = found.filter(({ isOpen }) => isOpen);
    for (let attempt = 0; attempt < 2 && open.length > 0; attempt++) {
      const { addedMs, isServed } = await measureAt(perSecond);
      open = open.filter((one) => {
        const isWithin = isServed && addedMs <= one.boundMs;
        if (isWithin) one.perSecond = perSecond;
        return !isWithin;
      });
    }
    for (const one of open) one.isOpen = false;
    if (found.every(({ isOpen }) => !isOpen)) break;
  }
  return found;
}
