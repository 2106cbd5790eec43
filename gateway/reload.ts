/**
 * Makes a changed configuration file take effect without a restart. A file with any problem is
 * refused as a whole, and the configuration in force goes on.
 *
 * @module
 */
import { type Config, ConfigError } from "./config.ts";
import { unpricedModels } from "./upstream/catalogue/not_offered.ts";

/** What happened to the configuration, for the log. */
export type ConfigurationEvent =
  | {
    readonly type: "configuration_loaded";
    /** The beginning of the file's SHA-256; absent without a file. */
    readonly hash?: string;
    /** Number of models in it, offered or not. */
    readonly models: number;
    /** Models without a price, whose calls cost nothing; absent if there are none. */
    readonly unpriced?: readonly string[];
  }
  | {
    readonly type: "configuration_refused";
    /** Every problem, one a line. Contains no secret. */
    readonly reason: string;
    /** Of the file in force. */
    readonly hash?: string;
  }
  | {
    readonly type: "configuration_unchanged";
    /** Of the file in force. */
    readonly hash?: string;
  }
  | {
    /** The record of the change could not be written; the configuration is in force. */
    readonly type: "configuration_not_recorded";
    readonly error: unknown;
  };

/** What a reload needs. */
export interface ReloadOptions {
  /**
   * Reads the settings and the file again.
   *
   * @throws {ConfigError} naming every problem
   */
  readonly read: () => Config;
  /** The configuration in force. */
  readonly current: () => Config;
  /** Makes another one take effect. */
  readonly configure: (next: Config) => void;
  /** Receives what happened. */
  readonly onEvent: (event: ConfigurationEvent) => void;
}

/** Reads the configuration again, and makes it take effect if it is valid. Never throws. */
export function reload(options: ReloadOptions): void {
  const { current, onEvent } = options;
  const inForce = current();
  let next: Config;
  try {
    next = options.read();
    if (next.configHash === inForce.configHash) {
      onEvent({ type: "configuration_unchanged", ...hashOf(inForce) });
      return;
    }
    if (next.replay !== inForce.replay) {
      throw new ConfigError([
        "GATEWAY_CONFIG: the change between the replay upstream and vendors with a credential takes effect at the next start only",
      ]);
    }
    options.configure(next);
  } catch (error) {
    // Any other error is a fault of the gateway, which must not end the calls under way.
    const reason = error instanceof ConfigError
      ? error.message
      : "the configuration could not be applied";
    onEvent({ type: "configuration_refused", reason, ...hashOf(inForce) });
    return;
  }
  onEvent(loadedEvent(next));
}

/** The event of a configuration that has taken effect. */
export function loadedEvent(config: Config): ConfigurationEvent {
  const unpriced = unpricedModels(config.catalogue);
  return {
    type: "configuration_loaded",
    ...hashOf(config),
    models: config.catalogue.models.length,
    ...(unpriced.length === 0 ? {} : { unpriced }),
  };
}

function hashOf({ configHash }: Config): { readonly hash?: string } {
  return configHash === undefined ? {} : { hash: configHash };
}
