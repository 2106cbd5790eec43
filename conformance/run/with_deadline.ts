/**
 * Rejects when the promise has not settled and `answered` has not grown for `ms`, so that a hanging
 * scenario does not block the run and a slow target is not taken for a hanging one.
 */
export async function withDeadline(
  promise: Promise<void>,
  ms: number,
  answered: () => number,
): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  let before = 0;
  const timer = setInterval(() => {
    const now = answered();
    if (now === before) {
      reject(new Error(`it had no reply for ${ms / 1000} s`));
    }
    before = now;
  }, ms);
  try {
    await Promise.race([promise, late]);
  } finally {
    clearInterval(timer);
  }
}
