/** Named gates: a script waits at a gate until a test opens it. An opened gate stays open. */
export class Gates {
  readonly #open = new Set<string>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #reached = new Map<string, PromiseWithResolvers<void>>();

  /** Opens a gate; opening it again changes nothing. */
  open(name: string): void {
    this.#open.add(name);
    for (const pass of this.#waiting.get(name) ?? []) pass();
    this.#waiting.delete(name);
  }

  /** Calls `pass` once the gate is open; the returned function stops waiting. */
  wait(name: string, pass: () => void): () => void {
    this.#reachedAt(name).resolve();
    if (this.#open.has(name)) {
      pass();
      return () => {};
    }
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting.add(pass));
    return () => {
      waiting.delete(pass);
      if (waiting.size === 0) this.#waiting.delete(name);
    };
  }

  /** Resolves when a script reaches the gate, or has reached it before. */
  reached(name: string): Promise<void> {
    return this.#reachedAt(name).promise;
  }

  #reachedAt(name: string): PromiseWithResolvers<void> {
    const known = this.#reached.get(name);
    if (known !== undefined) return known;
    const fresh = Promise.withResolvers<void>();
    this.#reached.set(name, fresh);
    return fresh;
  }
}
