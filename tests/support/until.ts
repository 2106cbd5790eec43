const LOOK_MS = 20;

/** Waits for a condition that no event announces, such as what another process has stored. */
export async function until(
  isReached: () => Promise<boolean> | boolean,
): Promise<void> {
  while (!await isReached()) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
