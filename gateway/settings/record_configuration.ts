/**
 * Records in the store which configuration is in force: settings, models and prices. A
 * configuration takes effect in memory, so its record follows it.
 */
import type { JsonObject } from "../../translate/bytes/json.ts";
import { keyHash } from "../accounts/key.ts";
import { type CardRate, cardRates } from "../accounts/charges/card_rates.ts";
import type { RateCard } from "../accounts/charges/rate_card.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import type { Config } from "./config.ts";
import type { ConfigurationEvent } from "./reload.ts";

/** Settings in which processes of one deployment differ. */
const OF_A_PROCESS: ReadonlySet<string> = new Set(["HOST", "PORT"]);
/** The record of a configuration without a file. */
const NO_FILE = "none";

/**
 * Records that a configuration took effect or was refused. One that was recorded last, by any
 * process, is not recorded again.
 *
 * @throws {ApiError} `unavailable`
 */
export async function recordConfiguration(
  { changes }: Pick<Admin, "changes">,
  config: Config,
  event: ConfigurationEvent | { readonly type: "started" },
): Promise<void> {
  const hash = config.configHash ?? NO_FILE;
  switch (event.type) {
    case "configuration_unchanged":
    case "configuration_not_recorded":
      return;
    case "configuration_refused":
      return await changes.configurationRefused(hash, event.reason);
    case "started":
      return await changes.configurationLoaded(hash, stateOf(config));
    case "configuration_loaded":
      return await changes.configurationLoaded(
        hash,
        stateOf(config),
        event.secrets,
      );
  }
}

/** The settings that are not defaults, and each model with its prices in micro-dollars. */
function stateOf(config: Config): JsonObject {
  const settings = config.settings.filter(({ name, source, isSet }) =>
    isSet && source !== "default" && !OF_A_PROCESS.has(name)
  ).map(({ name, value = "set" }) => [name, value] as const);
  const secrets = [
    ["GATEWAY_ADMIN_TOKEN", config.adminToken],
    ["GATEWAY_KEY", config.gatewayKey],
    ...Object.entries(config.vendors).map(([name, { apiKey }]) =>
      [`key of ${name}`, apiKey] as const
    ),
  ] as const;
  const models = config.catalogue.models.map(({ id, cards }) =>
    [`model ${id}`, cards.map(cardText).join("; ") || "no price"] as const
  );
  return {
    file: config.configHash ?? null,
    ...Object.fromEntries([
      ...settings,
      ...secrets.flatMap(([name, secret]) =>
        secret === undefined ? [] : [[name, markOf(name, secret)]]
      ),
      ...models,
    ]),
  };
}

/** Differs for another secret. It is too short to confirm a guess. */
function markOf(name: string, secret: string): string {
  return `set, mark ${keyHash(`mark ${name} ${secret}`).slice(0, 4)}`;
}

/** `input 5000000, …, factor 2 (tier priority), version 2026-11-23, from 2026-11-23`. */
function cardText(card: RateCard): string {
  const { isFree, version, fromMs } = card;
  return [
    ...(isFree === true ? ["free"] : cardRates(card).map(rateText)),
    ...(version === undefined ? [] : [`version ${version}`]),
    ...(fromMs === undefined
      ? []
      : [`from ${new Date(fromMs).toISOString().slice(0, 10)}`]),
  ].join(", ");
}

function rateText({ meter, condition, microUsd, factor }: CardRate): string {
  const rate = microUsd !== undefined
    ? `${(meter ?? "").replaceAll("_", " ")} ${microUsd}`
    : factor === undefined
    ? "base rate"
    : `factor ${factor}`;
  return condition === "" ? rate : `${rate} (${condition})`;
}
