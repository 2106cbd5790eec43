/**
 * Attributes that the span of a call and its metrics share, by OpenTelemetry's conventions.
 */
import type { Candidate } from "../upstream/catalogue/model_registry.ts";
import type { Vendor } from "../upstream/catalogue/vendors.ts";
import type { LogEntry } from "./log.ts";
import { providerName } from "./provider_name.ts";

/** Who serves a candidate, and where: of its address only host and port. */
export function placeOf(
  { name, address }: Pick<Candidate, "name" | "address">,
  vendors: readonly Pick<Vendor, "name" | "kind">[],
): Record<string, string | number> {
  const { hostname, port, protocol } = new URL(address.whole);
  const vendor = name.split("/", 1)[0];
  return {
    "gen_ai.provider.name": providerName(
      vendors.find((one) => one.name === vendor),
    ),
    "server.address": hostname,
    "server.port": port !== "" ? Number(port) : protocol === "http:" ? 80 : 443,
  };
}

/** The kind of the error that a call failed with; undefined if it did not fail. */
export function errorType(
  { error, error_of: side }: Pick<LogEntry, "error" | "error_of">,
): string | undefined {
  if (side === undefined) return undefined;
  // For an internal error, the log has the top of the stack; here its kind is enough.
  return error !== undefined && /^[a-z_]+$/.test(error) ? error : "internal";
}

/** All input tokens, with what was read from and written to caches; undefined if not reported. */
export function inputTokens(
  { usage = {} }: Pick<LogEntry, "usage">,
): number | undefined {
  const { input, cacheRead, cacheWrite } = usage;
  return input === undefined
    ? undefined
    : input + (cacheRead ?? 0) + (cacheWrite ?? 0);
}
