/**
 * A worker of `sqlite_test.ts`: holds the write lock of a new file, as another process does that
 * opens it first, and releases it 50 ms after the test calls the function under test. That
 * function blocks the test's thread, so there is no event to wait for.
 */
import { DatabaseSync } from "node:sqlite";

/** What the worker is to lock; the reply, sent once it is locked, is empty. */
export interface WriteLock {
  readonly path: string;
  /** Four bytes; not zero once the function under test is about to be called. */
  readonly begun: SharedArrayBuffer;
}

declare const self: {
  onmessage: (event: MessageEvent<WriteLock>) => void;
  postMessage(reply: null): void;
};

self.onmessage = ({ data: { path, begun } }) => {
  const database = new DatabaseSync(path);
  database.exec("BEGIN IMMEDIATE");
  self.postMessage(null);
  const flag = new Int32Array(begun);
  Atomics.wait(flag, 0, 0);
  Atomics.wait(flag, 0, 1, 50);
  database.close();
};
