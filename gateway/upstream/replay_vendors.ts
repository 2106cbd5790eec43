/**
 * Every vendor at one address: how the embedded replay upstream stands in for them.
 *
 * @module
 */
import type { VendorAccess } from "../config.ts";
import type { VendorName } from "./vendors.ts";

/** Access to every vendor at a replay server; the base addresses end as each vendor's own do. */
export function replayVendors(
  url: string,
): Readonly<Record<VendorName, VendorAccess>> {
  const apiKey = "replay";
  return {
    vendora: { apiKey, baseUrl: url },
    vendorb: { apiKey, baseUrl: `${url}/v1` },
    vendorc: { apiKey, baseUrl: url },
    vendord: { apiKey, baseUrl: url },
  };
}
