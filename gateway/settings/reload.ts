/**
 * Makes a changed configuration file, and changed files of secrets, take effect without a restart.
 * With any problem they are refused as a whole, and the configuration in force goes on.
 */
import { type Config, ConfigError } from "./config.ts";
import { isSameStore } from "../accounts/store/same_store.ts";
import { changedCertificates } from "./certificate_files.ts";
import { changedSecrets } from "./secret_files.ts";
import { fileForm, type SettingName } from "./setting_forms.ts";
import {
  isOffered,
  unpricedModels,
} from "../upstream/catalogue/not_offered.ts";

/** What happened to the configuration, for the log. */
export type ConfigurationEvent =
  | {
    readonly type: "configuration_loaded";
    /** The beginning of the file's SHA-256; absent without a file. */
    readonly hash?: string;
    readonly models: number;
    /** Models without a price, which cannot be called; absent if there are none. */
    readonly unpriced?: readonly string[];
    /** Settings whose files have another text than before; absent if there are none. */
    readonly secrets?: readonly SettingName[];
    /** Settings whose files of certificates have another text; absent if there are none. */
    readonly certificates?: readonly string[];
  }
  | {
    readonly type: "configuration_refused";
    /** Every problem, one a line. Contains no secret. */
    readonly reason: string;
    /** Hash of the file in force. */
    readonly hash?: string;
  }
  | {
    readonly type: "configuration_unchanged";
    /** Hash of the file in force. */
    readonly hash?: string;
  }
  | {
    /** The record of the change could not be written; the configuration is in force. */
    readonly type: "configuration_not_recorded";
    readonly error: unknown;
  };

/** The settings of the files that have another text than before. */
interface ChangedFiles {
  readonly secrets: readonly SettingName[];
  readonly certificates: readonly string[];
}

interface ReloadOptions {
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
  let changes: ChangedFiles;
  try {
    next = options.read();
    changes = {
      secrets: changedSecrets(inForce.secretFiles, next.secretFiles),
      certificates: changedCertificates(
        inForce.certificateFiles,
        next.certificateFiles,
      ),
    };
    if (
      next.configHash === inForce.configHash &&
      Object.values(changes).every((names) => names.length === 0)
    ) {
      onEvent({ type: "configuration_unchanged", ...hashOf(inForce) });
      return;
    }
    const problems = fixedUntilStart(inForce, next);
    if (problems.length > 0) throw new ConfigError(problems);
    options.configure(next);
  } catch (error) {
    // Any other error is a fault of the gateway, which must not end the calls under way.
    const reason = error instanceof ConfigError
      ? error.message
      : "the configuration could not be applied";
    onEvent({ type: "configuration_refused", reason, ...hashOf(inForce) });
    return;
  }
  onEvent(loadedEvent(next, changes));
}

/** What of another configuration cannot take effect while the process runs. */
function fixedUntilStart(inForce: Config, next: Config): readonly string[] {
  const later = "takes effect at the next start only";
  return [
    ...(next.replay === inForce.replay ? [] : [
      `GATEWAY_CONFIG: the change between the replay upstream and vendors with a credential ${later}`,
    ]),
    ...(next.storeKey === inForce.storeKey ? [] : [
      `${fileForm("GATEWAY_STORE_KEY")}: another key of the store ${later}`,
    ]),
    ...([
      ["DATABASE_URL", next.databaseUrl, inForce.databaseUrl],
      ["DATABASE_READ_URL", next.databaseReadUrl, inForce.databaseReadUrl],
    ] as const).flatMap(([name, to = "", from = ""]) =>
      isSameStore(to, from) ? [] : [
        `${
          fileForm(name)
        }: another address than before, except for user and password, ${later}`,
      ]
    ),
  ];
}

/** The event of a configuration that has taken effect. */
export function loadedEvent(
  config: Config,
  { secrets, certificates }: ChangedFiles = { secrets: [], certificates: [] },
): ConfigurationEvent {
  const unpriced = unpricedModels(config.catalogue);
  return {
    type: "configuration_loaded",
    ...hashOf(config),
    models: config.catalogue.models.filter((model) => isOffered(config, model))
      .length,
    ...(unpriced.length === 0 ? {} : { unpriced }),
    ...(secrets.length === 0 ? {} : { secrets }),
    ...(certificates.length === 0 ? {} : { certificates }),
  };
}

function hashOf({ configHash }: Config): { readonly hash?: string } {
  return configHash === undefined ? {} : { hash: configHash };
}
