/**
 * For tests that wait for an event that must come: one that does not fails the test instead of stopping it.
 *
 * @module
 */

/** Far beyond what a loaded machine needs. */
const LIMIT_MS = 20_000;

/**
 * What the promise gives.
 *
 * @throws {Error} naming what did not come
 */
export async function soon<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what} did not come`)),
      LIMIT_MS,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
