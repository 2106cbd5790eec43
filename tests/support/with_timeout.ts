/**
 * A deadline for events that tests wait for: a missing event fails the test instead of hanging it.
 */

/** Far longer than a loaded machine needs. */
const LIMIT_MS = 20_000;

/**
 * The promise's value.
 *
 * @throws {Error} with `what` if the promise does not settle in time
 */
export async function withTimeout<T>(
  promise: Promise<T>,
  what: string,
  limitMs: number = LIMIT_MS,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`timed out waiting for ${what}`)),
      limitMs,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
