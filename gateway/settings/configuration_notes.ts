/**
 * What an operator should know of a valid configuration: what will not be called or offered, and
 * what can be read on its way.
 */
import type { Config } from "./config.ts";
import { notOffered } from "../upstream/catalogue/not_offered.ts";
import { isUnencrypted } from "../upstream/credentials/auth_settings.ts";

/** One line each about vendors without a key, and about those reached without encryption. */
export function vendorNotes(
  { vendors, vendorsWithoutKey }: Pick<Config, "vendors" | "vendorsWithoutKey">,
): readonly string[] {
  const unencrypted = Object.entries(vendors)
    .filter(([, { baseUrl }]) => isUnencrypted(baseUrl))
    .map(([name]) => name);
  return [
    ...(vendorsWithoutKey.length === 0 ? [] : [
      `Vendors without a key, which are not called: ${
        vendorsWithoutKey.map(({ name, keySetting }) =>
          `${name} (set ${keySetting})`
        ).join(", ")
      }`,
    ]),
    ...(unencrypted.length === 0 ? [] : [
      `Reached without encryption, credential included: ${
        unencrypted.join(", ")
      }`,
    ]),
  ];
}

/** A line about the models that are not offered. */
export function missingNotes(config: Config): readonly string[] {
  const missing = notOffered(config);
  return missing.length === 0 ? [] : [
    `Not offered: ${
      missing.map((group) =>
        `${group.models.join(", ")} (set ${group.keySettings.join(" or ")})`
      ).join("; ")
    }`,
  ];
}
