/** Below the ports that systems hand out to connections and to listeners of port 0. */
const FIRST = 12_000;
const COUNT = 20_000;

/**
 * A port that no other program takes before a program listens there, nor between its end and its
 * next start: they would have to choose the same one at random.
 */
export function freePort(): string {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return String(port);
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
