const LOOK_MS = 20;

/** Waits until something is so that sends no event, such as what another process has stored. */
export async function until(
  isReached: () => Promise<boolean> | boolean,
): Promise<void> {
  while (!await isReached()) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
