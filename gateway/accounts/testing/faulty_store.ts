/**
 * A shared store as seen by simulated processes: each has its own failures and may die.
 */
import type { ParallelWrites, Store } from "../store/store.ts";

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
    const faulty = async <T>(write: () => Promise<T>): Promise<T> => {
      assertReachable();
      const now = fault;
      fault = undefined;
      if (now === "before") throw new Error("connection lost");
      const result = await write();
      if (now === "after") throw new Error("connection lost");
      return result;
    };
    const { parallel } = store;
    const faultyParallel = (writes: ParallelWrites): ParallelWrites => ({
      ...writes,
      commit: (ids, work) => faulty(() => writes.commit(ids, work)),
      write: (lock, work) => faulty(() => writes.write(lock, work)),
    });
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
      write: (work, alone) => faulty(() => store.write(work, alone)),
      commit: (work, cacheOwner) =>
        faulty(() => store.commit(work, cacheOwner)),
      commitUncached: (work) => faulty(() => store.commitUncached(work)),
      ...(parallel === undefined ? {} : { parallel: faultyParallel(parallel) }),
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
