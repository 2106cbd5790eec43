/**
 * What an operator should know of a valid configuration: what will not be called or offered, and
 * what can be read on its way.
 */
import type { Config } from "./config.ts";
import { notOffered } from "../upstream/catalogue/not_offered.ts";
import { destinationOf } from "../upstream/http/way.ts";
import { isUnencrypted } from "../upstream/credentials/auth_settings.ts";

/**
 * One line each about vendors without a key, those reached without encryption, the proxies by which
 * they are reached, and files of certificates.
 */
export function vendorNotes(
  config: Pick<
    Config,
    "vendors" | "vendorsWithoutKey" | "way" | "certificateNotes"
  >,
): readonly string[] {
  const { vendors, vendorsWithoutKey } = config;
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
    ...proxyNotes(config),
    ...config.certificateNotes,
  ];
}

/** The proxy of each vendor, if there is any proxy. */
function proxyNotes(
  { vendors, way }: Pick<Config, "vendors" | "way">,
): readonly string[] {
  const ways = [way, ...Object.values(vendors).flatMap((one) => one.way ?? [])];
  const isDirect = ways.every(({ proxies }) => proxies.length === 0);
  if (isDirect || Object.keys(vendors).length === 0) return [];
  const byProxy = Map.groupBy(
    Object.entries(vendors),
    ([, { baseUrl, way: own = way }]) => {
      const { destination, isTls } = destinationOf(new URL(baseUrl));
      return own.proxyTo(destination, isTls)?.name;
    },
  );
  return [
    `Reached ${
      [...byProxy].map(([proxy, group]) =>
        `${proxy === undefined ? "directly" : `through the proxy ${proxy}`}: ${
          group.map(([name]) => name).join(", ")
        }`
      ).join("; ")
    }`,
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
