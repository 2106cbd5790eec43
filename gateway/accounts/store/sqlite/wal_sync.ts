/**
 * Waits off the event loop until a file written by SQLite is on disk.
 */
import { closeSync, fdatasync, openSync } from "node:fs";

/** An open file to sync. */
interface WalSync {
  /**
   * Resolves when all data written before the call is on disk. Calls made during a running
   * fsync share the next one.
   */
  synced(): Promise<void>;
  /** Closes the file after the fsyncs under way. */
  close(): Promise<void>;
}

/** Opens the file; undefined if that fails or is not permitted. */
export function openWalSync(
  path: string,
  sync: (file: number) => Promise<void>,
): WalSync | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return undefined;
  }
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    next = undefined;
    running = sync(file).finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    synced() {
      if (running === undefined) return begin();
      // The running fsync may have started before the write.
      next ??= running.then(begin, begin);
      return next;
    },
    async close() {
      for (let last = next ?? running; last !== undefined;) {
        // The caller of `synced` handles a failure.
        await last.catch(() => {});
        last = next ?? running;
      }
      closeSync(file);
    },
  };
}

/** The platform's fdatasync, on a thread of its own. */
export function syncFile(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(file, (error) => error === null ? resolve() : reject(error));
  });
}
