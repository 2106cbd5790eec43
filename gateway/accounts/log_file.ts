/**
 * Waiting until a file that somebody else writes is on disk, beside the event loop.
 *
 * @module
 */
import { closeSync, fdatasync, openSync } from "node:fs";

/** A file that is waited for. */
export interface LogFile {
  /** Resolves when all that was written before the call is on disk. Who comes while the disk is busy shares the next time. */
  reachedDisk(): Promise<void>;
  /** Lets the file go, once nobody waits for it any more. */
  close(): Promise<void>;
}

/** Opens the file; undefined where that is not possible or not permitted. */
export function openLogFile(
  path: string,
  sync: (file: number) => Promise<void>,
): LogFile | undefined {
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
    reachedDisk() {
      if (running === undefined) return begin();
      // What is under way may have begun before the write.
      next ??= running.then(begin, begin);
      return next;
    },
    async close() {
      for (let last = next ?? running; last !== undefined;) {
        // Who waits for it hears of a failure.
        await last.catch(() => {});
        last = next ?? running;
      }
      closeSync(file);
    },
  };
}

/** The platform's own way, on a thread of its own. */
export function syncFile(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(file, (error) => error === null ? resolve() : reject(error));
  });
}
