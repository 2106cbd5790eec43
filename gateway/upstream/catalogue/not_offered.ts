/**
 * The models that are not offered because none of their vendors has a key, for operators.
 */
import type { Config } from "../../settings/config.ts";
import type { Catalogue, Model } from "./catalogue.ts";
import { VENDORS } from "./vendors.ts";

/** The part of the settings that decides it. */
type KeySettings = Pick<
  Config,
  "catalogue" | "replay" | "vendors" | "vendorsWithoutKey"
>;

/** Models that lack the same keys. */
interface NotOffered {
  /** Their ids, in the catalogue's order. */
  readonly models: readonly string[];
  /** The settings; one of them is enough. */
  readonly keySettings: readonly string[];
}

/** Whether one of the model's vendors can be called. */
export function isOffered(
  { replay, vendors }: Pick<Config, "replay" | "vendors">,
  { candidates }: Model,
): boolean {
  return replay ||
    candidates.some(({ vendor }) => vendors[vendor] !== undefined);
}

/** The models that are not offered, grouped by their missing keys. */
export function notOffered(config: KeySettings): readonly NotOffered[] {
  const missing = config.catalogue.models.filter((model) =>
    !isOffered(config, model)
  );
  const groups = Map.groupBy(
    missing,
    (model) => missingKeys(config, model).join(" or "),
  );
  return [...groups.values()].map((models) => ({
    models: models.map(({ id }) => id),
    keySettings: models[0] === undefined ? [] : missingKeys(config, models[0]),
  }));
}

/** Models of the configuration file without a price, which cannot be called. */
export function unpricedModels({ models }: Catalogue): readonly string[] {
  return models.filter(({ unpriced }) => unpriced === true)
    .map(({ id }) => id);
}

/** The settings that can hold a key for a model; one of them is enough. */
export function missingKeys(
  { vendorsWithoutKey }: Pick<Config, "vendorsWithoutKey">,
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
