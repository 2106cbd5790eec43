/**
 * The composition root: assembles a gateway from its settings. `main.ts` and the tests use it, so
 * that both run the same gateway.
 */
import { adminAuth } from "./gateway/admin/auth.ts";
import {
  type ConfiguredAccounts,
  openConfiguredAccounts,
  pricesOf,
} from "./gateway/open_accounts.ts";
import type { AccountsEvent } from "./gateway/accounts/service.ts";
import type { Config } from "./gateway/settings/config.ts";
import { createConsole } from "./gateway/console/console.ts";
import { createGateway, type Gateway } from "./gateway/gateway.ts";
import { EventCounts } from "./gateway/observability/event_counts.ts";
import type { RequestLog } from "./gateway/observability/log.ts";
import type { OtlpEvent } from "./gateway/observability/otlp_settings.ts";
import { gatewayTimers, type Timers } from "./gateway/timers.ts";
import { clientFetch } from "./gateway/upstream/http/client_fetch.ts";
import { upstreamClient } from "./gateway/upstream/http/http_client.ts";
import { DIRECT, type Way, withTls } from "./gateway/upstream/http/way.ts";
import { SYSTEM_FILES } from "./gateway/upstream/credentials/open_credential.ts";
import {
  type ModelRegistry,
  modelRegistry,
} from "./gateway/upstream/catalogue/model_registry.ts";
import {
  type CredentialEvent,
  CredentialSet,
} from "./gateway/upstream/credential_set.ts";
import {
  type HostListEvent,
  HostLists,
  type ListSource,
} from "./gateway/upstream/catalogue/host_lists.ts";
import { catalogue } from "./gateway/upstream/catalogue/catalogue.ts";
import { wantedIds } from "./gateway/upstream/catalogue/wildcards.ts";
import { replayVendors } from "./gateway/upstream/catalogue/replay_vendors.ts";

/** What a gateway is assembled from. Absent members are the system's own. */
export interface ComposeOptions {
  readonly config: Config;
  /**
   * Address of the replay server that replaces every vendor; absent: the vendors of the settings.
   */
  readonly replayUrl?: string;
  /**
   * Addresses and keys of the vendors; absent: as the settings have them, or the replay server's.
   */
  readonly vendors?: Config["vendors"];
  /** Receives an entry per generation call and per refusal. */
  readonly log: RequestLog;
  /**
   * Receives events of the store, of credentials, of hosts' lists and of exports that operators
   * should know.
   */
  readonly onEvent?: (
    event: AccountsEvent | CredentialEvent | HostListEvent | OtlpEvent,
  ) => void;
  /** Lines of the log that were dropped; absent: none ever is. */
  readonly droppedLines?: () => number;
  /** Shows a first key before it is stored. */
  readonly showKey?: (key: string) => void;
  /** Unix time in milliseconds. */
  readonly now?: () => number;
  /** Timers of the pipeline; the upstream client always uses the system's. */
  readonly timers?: Timers;
  /** Returns numbers in [0, 1). */
  readonly random?: () => number;
}

/**
 * An assembled gateway. The caller closes `gateway.accounts`, `gateway.models`, `gateway.client`
 * and `gateway.otlpMetrics`.
 */
interface Composed {
  /** Handles requests through `dispatch` of `routes/mod.ts`. */
  readonly gateway: Gateway;
  /** The opened accounts. */
  readonly accounts: ConfiguredAccounts;
  /** Counts events; those of the store, of credentials and of hosts' lists are counted here. */
  readonly events: EventCounts;
  /**
   * Makes other settings take effect for calls that begin from now on; only models, vendors and
   * secrets may differ.
   */
  configure(next: Config): void;
}

/**
 * Assembles a gateway.
 *
 * @throws {ConfigError} where the store cannot be opened
 */
export async function compose(options: ComposeOptions): Promise<Composed> {
  const { config, replayUrl } = options;
  const localNow = options.now ?? Date.now;
  let inForce = config;
  const events = new EventCounts();
  const onEvent: NonNullable<ComposeOptions["onEvent"]> = (event) => {
    events.count(event.type);
    options.onEvent?.(event);
  };
  let prices = pricesOf(config.catalogue);
  const accounts = await openConfiguredAccounts(
    config,
    onEvent,
    options.showKey,
    options.now,
    {
      price: (model, nowMs) => prices.price(model, nowMs),
      knowsModel: (model) => prices.knowsModel(model),
    },
  );
  // What processes share is dated by the store's clock, which they share.
  const now = options.now ?? (() => accounts.storeClock.now());
  const systemTimers = gatewayTimers();
  const vendorsOf = ({ vendors, catalogue }: Config): Config["vendors"] =>
    options.vendors ??
      (replayUrl === undefined
        ? vendors
        : replayVendors(replayUrl, catalogue.vendors));
  const way = (): Way => inForce.way;
  const client = upstreamClient(config, systemTimers, { way });
  // Credentials may come from the machine's metadata service, where no call is sent.
  const credentialClient = upstreamClient(config, systemTimers, {
    way,
    reachesLinkLocal: true,
  });
  const credentials = new CredentialSet({
    files: SYSTEM_FILES,
    // A vendor's certificates are for the vendor, not for who issues tokens.
    fetchBy: (own) =>
      clientFetch(credentialClient, own && withTls(own, inForce.way.tls)),
    machineFetch: clientFetch(credentialClient, DIRECT),
    now: localNow,
    timers: options.timers ?? systemTimers,
  }, onEvent);
  const modelsOf = (from: Config, previous?: ModelRegistry): ModelRegistry => {
    const vendors = vendorsOf(from);
    const registry = modelRegistry(
      from.catalogue,
      vendors,
      credentials.open(vendors, from.catalogue),
      previous,
    );
    return {
      ...registry,
      close() {
        lists.close();
        registry.close();
      },
    };
  };
  /** With the models that hosts have listed so far. */
  const withLists = (from: Config): Config => ({
    ...from,
    catalogue: catalogue(from.overrides, lists.known()),
  });
  const apply = (next: Config): void => {
    const models = modelsOf(next, gateway.models);
    inForce = next;
    accounts.configure(next);
    prices = pricesOf(next.catalogue);
    gateway.configure(next, models);
  };
  const lists = new HostLists({
    timers: options.timers ?? systemTimers,
    onChange: () => apply(withLists(gateway.config)),
    onEvent,
  });
  const follow = (from: Config): void => {
    // The replay upstream has no list.
    if (replayUrl === undefined) lists.follow(listSources(from));
  };
  const listSources = (from: Config): ReadonlyMap<string, ListSource> => {
    const vendors = vendorsOf(from);
    const open = credentials.open(vendors, from.catalogue);
    return new Map(
      [...wantedIds(from.overrides)].flatMap(([name, wants]) => {
        const baseUrl = vendors[name]?.baseUrl;
        const host = from.catalogue.vendors.find((one) => one.name === name)
          ?.dialects[0];
        const credential = open[name];
        if (
          baseUrl === undefined || host === undefined ||
          credential === undefined
        ) return [];
        const url = `${baseUrl}/models`;
        const source: ListSource = {
          url,
          headers: async () => ({
            ...host.headers,
            ...await credential.headers({
              url,
              body: new Uint8Array(0),
              auth: host.auth,
            }),
          }),
          fetch: clientFetch(client, vendors[name]?.way),
          wants,
        };
        return [[name, source] as const];
      }),
    );
  };
  // Loaded only if spans or metrics are collected, to save the time and memory otherwise.
  const spans = config.traces
    ? await import("./gateway/observability/call_span.ts")
    : undefined;
  const otlpMetrics = config.otlpMetrics === undefined
    ? undefined
    : (await import("./gateway/observability/otlp_metrics.ts")).otlpMetrics(
      config.otlpMetrics,
      onEvent,
      { way },
    );
  const gateway = createGateway({
    config,
    accounts: accounts.accounts,
    admin: accounts.admin,
    lastAudit: accounts.lastAudit,
    clockAheadMs: () => accounts.storeClock.aheadMs(),
    storeSchema: accounts.storeSchema,
    ...(accounts.certificateEnds === undefined
      ? {}
      : { storeCertificateEnds: accounts.certificateEnds }),
    reports: accounts.reports,
    ...(accounts.replicaLagMs === undefined
      ? {}
      : { replicaLagMs: accounts.replicaLagMs }),
    ...(accounts.replies === undefined ? {} : { replies: accounts.replies }),
    ...(config.adminToken === undefined ? {} : {
      adminAuth: adminAuth(
        () => inForce.adminToken ?? "",
        accounts.admin.operatorTokens,
        now,
      ),
    }),
    // Without a kept store the sessions would end with the process.
    ...(config.console === "off" || accounts.isInMemory ? {} : {
      console: createConsole({
        config: () => inForce,
        accounts: accounts.accounts,
        admin: accounts.admin,
        now,
        fetch: clientFetch(client),
      }),
    }),
    models: modelsOf(config),
    client: {
      ...client,
      async close() {
        await Promise.all([client.close(), credentialClient.close()]);
      },
    },
    timers: options.timers ?? systemTimers,
    now,
    random: options.random ?? Math.random,
    ...(spans === undefined ? {} : { startSpan: spans.spanStarter() }),
    ...(otlpMetrics === undefined ? {} : { otlpMetrics }),
    log: options.log,
    events,
    ...(options.droppedLines === undefined
      ? {}
      : { droppedLines: options.droppedLines }),
    ...(accounts.calls === undefined ? {} : { calls: accounts.calls }),
  });
  follow(config);
  return {
    gateway,
    accounts,
    events,
    configure(next) {
      follow(next);
      apply(withLists(next));
      credentials.closeOthers(vendorsOf(next));
    },
  };
}
