/**
 * Opens the accounts that the settings ask for.
 *
 * @module
 */
import {
  type AccountsEvent,
  openAccounts as open,
  type OpenedAccounts,
  openStore,
} from "./accounts/mod.ts";
import { type Config, ConfigError, DEFAULT_DATABASE_URL } from "./config.ts";

/** The accounts, and whether what they hold ends with the process. */
export type AccountsInUse = OpenedAccounts & {
  /** True where no store was asked for and none can be written here. */
  readonly forgetful: boolean;
};

/**
 * Opens the accounts. Where no store was named, none can be written and a key is configured, they are kept in memory: a
 * stateless deployment needs nothing else.
 *
 * @throws {ConfigError} where the store cannot be opened
 */
export async function openAccounts(
  config: Config,
  onEvent: (event: AccountsEvent) => void,
): Promise<AccountsInUse> {
  try {
    return {
      ...await opened(config, config.databaseUrl, onEvent),
      forgetful: false,
    };
  } catch (error) {
    if (
      config.databaseUrl === DEFAULT_DATABASE_URL &&
      config.gatewayKey !== undefined
    ) {
      return {
        ...await opened(config, "sqlite::memory:", onEvent),
        forgetful: true,
      };
    }
    const reason = error instanceof Error ? error.message : "unknown reason";
    throw new ConfigError([
      `DATABASE_URL: could not open the store: ${reason}. DATABASE_URL=sqlite::memory: keeps nothing but runs everywhere`,
    ]);
  }
}

async function opened(
  config: Config,
  databaseUrl: string,
  onEvent: (event: AccountsEvent) => void,
): Promise<OpenedAccounts> {
  const prices = new Map(
    config.catalogue.models.map(({ id, price }) => [id, price]),
  );
  return await open({
    store: await openStore(databaseUrl),
    price: (model) => prices.get(model),
    onEvent,
    ...(config.gatewayKey === undefined
      ? {}
      : { configuredKey: config.gatewayKey }),
  });
}
