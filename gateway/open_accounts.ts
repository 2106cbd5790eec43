/**
 * Opens the accounts that the settings ask for.
 *
 * @module
 */
import {
  accountInSqlite,
  accountWithKey,
  type OneAccount,
} from "./accounts/one_account.ts";
import { type Config, ConfigError } from "./config.ts";

/**
 * Opens the accounts.
 *
 * @throws {ConfigError} where the store cannot be opened
 */
export function openAccounts(config: Config): OneAccount {
  if (config.gatewayKey !== undefined) return accountWithKey(config.gatewayKey);
  const path = /^sqlite:(.+)$/.exec(config.databaseUrl)?.[1];
  if (path === undefined) {
    throw new ConfigError([
      "GATEWAY_KEY: must be set where DATABASE_URL is not sqlite:PATH",
    ]);
  }
  try {
    return accountInSqlite(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown reason";
    throw new ConfigError([
      `DATABASE_URL: could not open ${config.databaseUrl}: ${reason}. Set GATEWAY_KEY to run without a store, or ` +
      "DATABASE_URL=sqlite::memory: for a key that lasts until the stop",
    ]);
  }
}
