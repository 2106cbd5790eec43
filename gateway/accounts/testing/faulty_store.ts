/**
 * A shared store as seen by simulated processes: each has its own failures and may die.
 *
 * @module
 */
import { type Store, writeDurably } from "../store/store.ts";

/** A simulated process's view of the shared store. */
export interface FaultyStore extends Store {
  /**
   * Makes the next write fail: `before` the commit, or `after` it, as when only the reply
   * is lost.
   */
  failNext(when: "before" | "after" | undefined): void;
  /** Makes every read and write fail until it is called with false. */
  setDown(isDown: boolean): void;
  /** Kills the process: its lease counts as expired from now on. */
  die(): void;
}

/**
 * Returns a function that creates views of a store. `dead` collects the leases of the dead
 * processes.
 */
export function faultyStores(store: Store): () => FaultyStore {
  const dead = new Set<string>();
  return () => {
    let leaseId = "";
    let fault: "before" | "after" | undefined;
    let isDown = false;
    const assertReachable = (): void => {
      if (isDown) throw new Error("connection refused");
    };
    const commit: Store["commit"] = async (work, cacheOwner) => {
      assertReachable();
      const now = fault;
      fault = undefined;
      if (now === "before") throw new Error("connection lost");
      const result = await store.commit(work, cacheOwner);
      if (now === "after") throw new Error("connection lost");
      return result;
    };
    return {
      ...store,
      leases: {
        async register(registered) {
          leaseId = registered;
          await store.leases.register(registered);
        },
        renew: async () => await assertReachable(),
        expired: () => Promise.resolve([...dead]),
        async remove(removed) {
          dead.delete(removed);
          await store.leases.remove(removed);
        },
      },
      async read(text, values) {
        assertReachable();
        return await store.read(text, values);
      },
      async note(text, values) {
        assertReachable();
        return await store.note(text, values);
      },
      write: (work) => writeDurably({ commit }, work),
      commit,
      commitUncached: async (work) => (await commit(work, {})).value,
      close: () => Promise.resolve(),
      failNext(when) {
        fault = when;
      },
      setDown(to) {
        isDown = to;
      },
      die() {
        dead.add(leaseId);
      },
    };
  };
}
