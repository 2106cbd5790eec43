/**
 * What the processes on one store report of themselves: each writes its own rows and reads those of
 * the others. A report may be lost; nothing of the ledger depends on it.
 */
import { intOf, type Store, textOf } from "../store/store.ts";
import { newId, orUnavailable } from "../repositories/repository.ts";

/** `calls`: calls under way and just ended; `state`: upstreams, version and counts. */
export type ReportPart = "calls" | "state";

/** A report of another process. */
export interface ProcessReport {
  readonly processId: string;
  /** Unix time in milliseconds, by the clock of the process that wrote it. */
  readonly atMs: number;
  /** JSON text. */
  readonly body: string;
}

/** The reports of all processes. */
export interface ProcessReports {
  /** Sorts by the start of the process. */
  readonly processId: string;
  /**
   * Replaces a report of this process; `atMs` is the Unix time of its content in milliseconds.
   *
   * @throws {ApiError} `unavailable`
   */
  put(part: ReportPart, atMs: number, body: string): Promise<void>;
  /**
   * The reports of other processes, by process id.
   *
   * @throws {ApiError} `unavailable`
   */
  others(part: ReportPart): Promise<readonly ProcessReport[]>;
  /** Removes the reports of processes that have been silent since a Unix time in milliseconds. */
  purge(beforeMs: number): Promise<void>;
  /** Removes the reports of this process. */
  remove(): Promise<void>;
}

export function processReports(
  store: Pick<Store, "note" | "read">,
  nowMs: number,
): ProcessReports {
  const processId = newId("process", nowMs);
  const note: Store["note"] = (text, values) =>
    orUnavailable(() => store.note(text, values));
  return {
    processId,
    async put(part, atMs, body) {
      await note(
        "INSERT INTO process_reports (process_id, part, at_ms, body) VALUES ($1, $2, $3, $4) " +
          "ON CONFLICT (process_id, part) DO UPDATE SET at_ms = excluded.at_ms, body = excluded.body",
        [processId, part, atMs, body],
      );
    },
    async others(part) {
      const rows = await orUnavailable(() =>
        store.read(
          "SELECT process_id, at_ms, body FROM process_reports WHERE part = $1 AND process_id <> $2 ORDER BY process_id",
          [part, processId],
        )
      );
      return rows.map((row) => ({
        processId: textOf(row, "process_id"),
        atMs: intOf(row, "at_ms"),
        body: textOf(row, "body"),
      }));
    },
    async purge(beforeMs) {
      await note("DELETE FROM process_reports WHERE at_ms < $1", [beforeMs]);
    },
    async remove() {
      await note("DELETE FROM process_reports WHERE process_id = $1", [
        processId,
      ]);
    },
  };
}
