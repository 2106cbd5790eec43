/**
 * Every vendor at one address: how the embedded replay upstream stands in for them.
 *
 * @module
 */
import type { VendorAccess } from "../config.ts";
import { type Vendor, type VendorName, VENDORS } from "./vendors.ts";

/** What a vendor's base address has after the host. */
const PATHS: Readonly<Record<VendorName, string>> = {
  vendora: "",
  vendorb: "/v1",
  vendorc: "",
  vendord: "",
};

/** Access to every vendor at a replay server; the base addresses end as each vendor's own do. Absent vendors: the built-in ones. */
export function replayVendors(
  url: string,
  vendors: readonly Vendor[] = VENDORS,
): Readonly<Record<string, VendorAccess>> {
  return Object.fromEntries(
    vendors.map(({ name, kind }) => [
      name,
      { apiKey: "replay", baseUrl: `${url}${PATHS[kind]}` },
    ]),
  );
}
