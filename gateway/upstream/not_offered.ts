/**
 * The models that are not offered because none of their vendors has a key, for operators.
 *
 * @module
 */
import type { Config } from "../config.ts";
import { isLoopback } from "../loopback.ts";
import type { Catalogue, Model } from "./catalogue.ts";
import { VENDORS } from "./vendors.ts";

/** The part of the settings that decides it. */
type KeySettings = Pick<Config, "catalogue" | "vendorsWithoutKey">;

/** Models that lack the same keys. */
export interface NotOffered {
  /** Their ids, in the catalogue's order. */
  readonly models: readonly string[];
  /** The settings; one of them is enough. */
  readonly keySettings: readonly string[];
}

/** The models that are not offered, grouped by their missing keys. */
export function notOffered(
  config: KeySettings,
  isOffered: (id: string) => boolean,
): readonly NotOffered[] {
  const missing = config.catalogue.models.filter(({ id }) => !isOffered(id));
  const groups = Map.groupBy(
    missing,
    (model) => missingKeys(config, model).join(" or "),
  );
  return [...groups.values()].map((models) => ({
    models: models.map(({ id }) => id),
    keySettings: models[0] === undefined ? [] : missingKeys(config, models[0]),
  }));
}

/** Models of the configuration file without a price, whose calls cost nothing, and whose hosts are not this machine. */
export function silentlyFree(
  { models, vendors }: Catalogue,
): readonly string[] {
  const isLocal = (name: string): boolean => {
    const address = vendors.find((vendor) => vendor.name === name)?.baseUrl;
    return address !== undefined && isLoopback(new URL(address).hostname);
  };
  return models.filter((model) =>
    model.unpriced === "free" &&
    !model.candidates.every(({ vendor }) => isLocal(vendor))
  ).map(({ id }) => id);
}

/** The settings that can hold a key for a model; one of them is enough. */
export function missingKeys(
  { vendorsWithoutKey }: KeySettings,
  model: Model,
): readonly string[] {
  const settings = new Map<string, string>([
    ...VENDORS.map(({ name, keySetting }) => [name, keySetting] as const),
    ...vendorsWithoutKey.map(({ name, keySetting }) =>
      [name, keySetting] as const
    ),
  ]);
  return [
    ...new Set(
      model.candidates.flatMap(({ vendor }) => settings.get(vendor) ?? []),
    ),
  ];
}
