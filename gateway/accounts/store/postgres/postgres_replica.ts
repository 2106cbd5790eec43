/**
 * How far a replica of Postgres is behind.
 */
import { intOf, type Replica, type Sql } from "../store.ts";

/**
 * Behind by nothing where everything received is applied and a primary still sends; otherwise since
 * the last write that was applied. Gateways write every few seconds, so that an idle primary is no
 * lag.
 */
const LAG = `SELECT CASE
  WHEN NOT pg_is_in_recovery() THEN 0
  WHEN EXISTS (SELECT 1 FROM pg_stat_wal_receiver) AND pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
  ELSE CAST(EXTRACT(EPOCH FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000 AS BIGINT)
  END AS lag_ms`;

export function replicaOf(read: Sql["all"]): Replica {
  let lagMs: number | undefined;
  return {
    lagMs: () => lagMs,
    async measure() {
      try {
        const [row] = await read(LAG);
        lagMs = row === undefined ? undefined : intOf(row, "lag_ms");
      } catch (error) {
        lagMs = undefined;
        throw error;
      }
    },
  };
}
