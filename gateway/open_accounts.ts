import { compact } from "../translate/bytes/compact.ts";
import {
  type AccountsEvent,
  openAccountService as open,
  type OpenedAccounts,
  openStore,
} from "./accounts/mod.ts";
import { cardAt, type RateCard } from "./accounts/charges/rate_card.ts";
import { exposedFiles } from "./accounts/store/sqlite/file_modes.ts";
import { NewerStoreError } from "./accounts/store/migrate.ts";
import { accountsOfLockedWebhooks } from "./accounts/rows/webhook_rows.ts";
import { READ_ONLY } from "./accounts/store/store.ts";
import type { CertificateEnds } from "./certificate_ends.ts";
import type { Catalogue } from "./upstream/catalogue/catalogue.ts";
import { openWhenThere } from "./open_when_there.ts";
import { openReplies } from "./responses/open_replies.ts";
import type { StoredReplies } from "./responses/stored_replies.ts";
import {
  type Config,
  ConfigError,
  DEFAULT_DATABASE_URL,
} from "./settings/config.ts";
import { storeOptions } from "./settings/store_options.ts";

const MEMORY = "sqlite::memory:";
/** Most records of calls in the store. */
const MAX_CALLS = 5_000_000;
const MAX_CALLS_IN_MEMORY = 20_000;

/** The opened accounts, their stored replies, and whether the data ends with the process. */
export type ConfiguredAccounts = OpenedAccounts & {
  /** See {@linkcode OpenedReplies}; closed together with the accounts. */
  readonly replies?: StoredReplies;
  /** True if no store was configured and none can be written, so that data is kept in memory. */
  readonly isInMemory: boolean;
  /**
   * Makes another key of the settings, another way to receivers, and another user and password of
   * the store take effect.
   */
  configure(
    next: Pick<
      Config,
      "gatewayKey" | "webhookWay" | "databaseUrl" | "databaseReadUrl"
    >,
  ): void;
  /** See {@linkcode Replica.lagMs}; absent: reports are read from the store. */
  readonly replicaLagMs?: () => number | undefined;
  /** See {@linkcode Store.certificateEnds}. */
  readonly certificateEnds?: CertificateEnds;
};

/** The models by what their calls cost. */
interface Prices {
  /** The card that counts at a time; undefined for a model without one. */
  readonly price: (model: string, nowMs: number) => RateCard | undefined;
  /** Whether there is such a model, with a price or without. */
  readonly knowsModel: (model: string) => boolean;
}

export function pricesOf({ models }: Catalogue): Prices {
  const cards = new Map(models.map((model) => [model.id, model.cards]));
  return {
    price: (model, nowMs) => cardAt(cards.get(model) ?? [], nowMs),
    knowsModel: (model) => cards.has(model),
  };
}

/**
 * Opens the accounts. If `DATABASE_URL` is not set, the default store cannot be written and
 * `GATEWAY_KEY` is set, data is kept in memory, without replies: enough for a stateless deployment.
 * `showKey` receives a first key before it is stored; `now` is the clock of the stored replies,
 * absent: the store's; `prices` are asked at each call, because the models may change.
 *
 * @throws {ConfigError} if the store cannot be opened, or thrown by `showKey`
 */
export async function openConfiguredAccounts(
  config: Config,
  onEvent: (event: AccountsEvent) => void,
  showKey: (key: string) => void = () => {},
  now: (() => number) | undefined = undefined,
  prices: Prices = pricesOf(config.catalogue),
): Promise<ConfiguredAccounts> {
  try {
    return {
      ...await openWith(
        config,
        config.databaseUrl,
        onEvent,
        showKey,
        now,
        prices,
      ),
      isInMemory: false,
    };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (
      config.databaseUrl === DEFAULT_DATABASE_URL &&
      config.gatewayKey !== undefined &&
      isUnusableFile(config.databaseUrl, error)
    ) {
      return {
        // Such a deployment usually has several processes, which would not find each other's
        // replies.
        ...await openWith(
          { ...config, storeResponses: false },
          MEMORY,
          onEvent,
          showKey,
          now,
          prices,
        ),
        isInMemory: true,
      };
    }
    throw new ConfigError([
      `DATABASE_URL: could not open the store: ${reasonOf(error)}${
        isUnusableFile(config.databaseUrl, error)
          ? ". DATABASE_URL=sqlite::memory: works everywhere, but keeps its data only until the gateway stops"
          : ""
      }`,
    ]);
  }
}

/** Whether there is no file for the store; what a store contains is never given up. */
function isUnusableFile(databaseUrl: string, error: unknown): boolean {
  return databaseUrl.startsWith("sqlite:") &&
    !(error instanceof NewerStoreError);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown reason";
  if ("code" in error && error.code === READ_ONLY) {
    return `the server accepts no writes, as a standby does, so name its primary (${error.message})`;
  }
  return error.name === "NotCapable"
    ? `the process may not write to its file; under deno task start it may write to ./data (${error.message})`
    : error.message;
}

async function openWith(
  config: Config,
  databaseUrl: string,
  onEvent: (event: AccountsEvent) => void,
  showKey: (key: string) => void,
  now: (() => number) | undefined,
  prices: Prices,
): Promise<Omit<ConfiguredAccounts, "isInMemory">> {
  const store = await openWhenThere(
    () => openStore(databaseUrl, storeOptions(config)),
    config.startWaitMs,
    onEvent,
  );
  const path = /^sqlite:(?!:memory:)(.+)$/.exec(databaseUrl)?.[1];
  const files = path === undefined ? [] : exposedFiles(
    ["", "-wal", "-shm", "-key"].map((end) => path + end),
  );
  if (files.length > 0) onEvent({ type: "store_readable_by_others", files });
  if (store.lacksLog === true) onEvent({ type: "store_lacks_log" });
  const locked = await accountsOfLockedWebhooks(store);
  if (locked.length > 0) {
    onEvent({ type: "webhooks_need_setting", accounts: locked });
  }
  let { gatewayKey, webhookWay } = config;
  const opened = await open({
    store,
    ...prices,
    onEvent,
    showKey,
    ...(config.callsAgeMs === undefined ? {} : {
      calls: {
        maxAgeMs: config.callsAgeMs,
        maxRows: databaseUrl === MEMORY ? MAX_CALLS_IN_MEMORY : MAX_CALLS,
      },
    }),
    configuredKey: () => gatewayKey,
    webhookWay: () => webhookWay,
  });
  const { replies, close } = openReplies(
    config,
    store,
    now ?? (() => store.clock.now()),
  );
  return {
    ...opened,
    accounts: {
      ...opened.accounts,
      async close() {
        await close();
        await opened.accounts.close();
      },
    },
    ...compact({ replies, certificateEnds: store.certificateEnds }),
    ...(store.replica !== undefined && { replicaLagMs: store.replica.lagMs }),
    configure(next) {
      ({ gatewayKey, webhookWay } = next);
      store.setLogin?.(next.databaseUrl, next.databaseReadUrl);
    },
  };
}
