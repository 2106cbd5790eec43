/**
 * A store shared by processes that are only played: each has its own way to fail and to die.
 *
 * @module
 */
import { type Store, written } from "../store.ts";

/** A process's own view of a shared store. */
export interface PlayedStore extends Store {
  /** Makes the next write fail: before anything was written, or after everything was, as when only the answer is lost. */
  failNext(when: "before" | "after" | undefined): void;
  /** Makes every read and write fail until told otherwise. */
  setDown(isDown: boolean): void;
  /** The process is dead from now on. */
  die(): void;
}

/** Makes views of a store; `dead` collects the owners whose process died. */
export function playedStores(store: Store): () => PlayedStore {
  const dead = new Set<string>();
  return () => {
    let owner = "";
    let fault: "before" | "after" | undefined;
    let isDown = false;
    const reach = (): void => {
      if (isDown) throw new Error("connection refused");
    };
    const commit: Store["commit"] = async (work, writer) => {
      reach();
      const now = fault;
      fault = undefined;
      if (now === "before") throw new Error("connection lost");
      const result = await store.commit(work, writer);
      if (now === "after") throw new Error("connection lost");
      return result;
    };
    return {
      ...store,
      liveness: {
        async enlist(ownerId) {
          owner = ownerId;
          await store.liveness.enlist(ownerId);
        },
        beat: async () => await reach(),
        gone: () => Promise.resolve([...dead]),
        async strike(ownerId) {
          dead.delete(ownerId);
          await store.liveness.strike(ownerId);
        },
      },
      async read(text, values) {
        reach();
        return await store.read(text, values);
      },
      write: (work) => written({ commit }, work),
      commit,
      close: () => Promise.resolve(),
      failNext(when) {
        fault = when;
      },
      setDown(to) {
        isDown = to;
      },
      die() {
        dead.add(owner);
      },
    };
  };
}
