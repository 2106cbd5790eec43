/**
 * Reads a SQLite file for reports, in threads of their own: a statement of SQLite stops the thread
 * that runs it. The threads start with the first reports; statements beyond their number wait in
 * order of arrival.
 */
import { positional } from "./positional.ts";
import {
  MAX_REPORTS,
  REPORT_MS,
  type Sql,
  type SqlRow,
  type SqlValue,
} from "../store.ts";

export interface ReportReaders {
  /**
   * Runs a statement that only reads. SQLite cannot be interrupted: the reader of a statement
   * beyond the limit takes no other before that one ends.
   */
  readonly all: Sql["all"];
  /** Ends the readers without waiting for their statements, which are rejected. */
  close(): Promise<void>;
}

/** Rows of a message: one of very many would block the event loop while it is read. */
const ROWS = 100;
/** The lowest priority of a thread, in the numbers of `nice`. */
const LOWEST = 19;

/**
 * What a reader runs. A `data:` address, so that it needs no permission to read its code, and a
 * compiled program contains it. The first message is the path; each later one a statement, or null
 * to close. Its thread has the lowest priority where the permission for that is given: calls go
 * first on a busy machine.
 */
const READER = `data:text/javascript,${
  encodeURIComponent(`
import { DatabaseSync } from "node:sqlite";
import { setPriority } from "node:os";
const { state } = Deno.permissions.querySync({ name: "sys", kind: "setPriority" });
try {
  // On other systems it would lower the priority of the whole process.
  if (Deno.build.os === "linux" && state === "granted") setPriority(0, ${LOWEST});
} catch {
  // A sandbox may forbid what the permission allows.
}
let database;
const prepared = new Map();
function run({ text, values }) {
  let statement = prepared.get(text);
  if (statement === undefined) prepared.set(text, statement = database.prepare(text));
  return statement.all(...values);
}
onmessage = ({ data: path }) => {
  onmessage = ({ data }) => {
    try {
      if (data === null) {
        database?.close();
        postMessage({ rows: [] });
        return;
      }
      if (database === undefined) {
        database = new DatabaseSync(path, { readOnly: true });
        database.exec("PRAGMA busy_timeout = 2000");
      }
      const rows = run(data);
      let at = 0;
      while (at + ${ROWS} < rows.length) postMessage({ rows: rows.slice(at, at += ${ROWS}), more: true });
      postMessage({ rows: rows.slice(at) });
    } catch (error) {
      postMessage({ problem: String(error?.message ?? error) });
    }
  };
};
`)
}`;

type Reply = {
  readonly rows: readonly SqlRow[];
  /** Whether further rows follow. */
  readonly more?: true;
} | { readonly problem: string };

interface Statement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

interface Task {
  readonly message: Statement | null;
  readonly settle: (reply: Reply) => void;
}

interface Reader {
  readonly worker: Worker;
  task: Task | undefined;
  /** The rows that the running statement has returned so far. */
  rows: SqlRow[];
}

/**
 * Creates the readers of a file.
 *
 * @param limitMs time limit of a statement, in milliseconds
 * @param code address of what a reader runs
 */
export function openReportReaders(
  path: string,
  limitMs: number = REPORT_MS,
  code: string = READER,
): ReportReaders {
  const readers = new Set<Reader>();
  const waiting = new Set<Task>();
  let isClosed = false;

  const start = (): Reader => {
    const worker = new Worker(code, { type: "module", name: "reports" });
    const reader: Reader = { worker, task: undefined, rows: [] };
    readers.add(reader);
    const onEnd = (reply: Reply): void => {
      const { task, rows } = reader;
      reader.task = undefined;
      reader.rows = [];
      task?.settle("rows" in reply ? { rows } : reply);
      next();
    };
    worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      if ("rows" in data) {
        for (const row of data.rows) {
          reader.rows.push(row);
        }
      }
      if (!("more" in data)) onEnd(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      readers.delete(reader);
      worker.terminate();
      onEnd({ problem: `a reader of the store failed: ${event.message}` });
    };
    worker.postMessage(path);
    return reader;
  };
  const give = (reader: Reader, task: Task): void => {
    reader.task = task;
    reader.worker.postMessage(task.message);
  };
  const next = (): void => {
    for (const task of waiting) {
      const reader = [...readers].find((reader) => reader.task === undefined) ??
        (readers.size < MAX_REPORTS ? start() : undefined);
      if (reader === undefined) return;
      waiting.delete(task);
      give(reader, task);
    }
  };

  return {
    all: (text, values = []) =>
      new Promise((resolve, reject) => {
        if (isClosed) throw new Error("the store is closed");
        const { text: message, order } = positional(text);
        const task: Task = {
          message: { text: message, values: order(values) },
          settle(reply) {
            clearTimeout(timer);
            if ("rows" in reply) resolve(reply.rows);
            else reject(new Error(reply.problem));
          },
        };
        const timer = setTimeout(() => {
          waiting.delete(task);
          reject(
            new Error(`a report's statement took longer than ${limitMs} ms`),
          );
        }, limitMs);
        waiting.add(task);
        next();
      }),
    async close() {
      isClosed = true;
      const problem = "the store was closed";
      for (const { settle } of waiting) settle({ problem });
      waiting.clear();
      for (const reader of readers) {
        if (reader.task !== undefined) reader.task.settle({ problem });
        else {
          // The last connection that is closed removes the write-ahead log: not one of these.
          await new Promise<unknown>((settle) =>
            give(reader, { message: null, settle })
          );
        }
        reader.worker.terminate();
      }
      readers.clear();
    },
  };
}
