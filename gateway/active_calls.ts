/**
 * The calls under way. When a `Set` grows, its old table keeps what was in it, and refers to the
 * new one: once such a table is in the old generation, the garbage collector's frequent runs take
 * everything in all later tables for alive. So members forget their calls when they are removed.
 */

interface Member<Call> {
  call: Call | undefined;
}

/** Calls, in the order in which they were added. */
export class ActiveCalls<Call> implements Iterable<Call> {
  readonly #members = new Set<Member<Call>>();

  get size(): number {
    return this.#members.size;
  }

  /** Adds a call. Returns the function that removes it. */
  add(call: Call): () => void {
    const member: Member<Call> = { call };
    this.#members.add(member);
    return () => {
      this.#members.delete(member);
      member.call = undefined;
    };
  }

  *[Symbol.iterator](): Generator<Call, void, void> {
    for (const { call } of this.#members) {
      if (call !== undefined) yield call;
    }
  }
}
