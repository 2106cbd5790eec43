/**
 * Directs the calls to every vendor to the embedded replay upstream.
 *
 * @module
 */
import type { DialectName } from "../../translate/model/request.ts";
import type { VendorAccess } from "../config.ts";
import { type Vendor, type VendorName, VENDORS } from "./vendors.ts";

/** The path of each vendor's base address. */
const PATHS: Readonly<Record<VendorName, string>> = {
  vendora: "",
  vendorb: "/v1",
  vendorc: "",
  vendord: "",
};

/** Formats of the replay server. */
const DIALECTS: readonly DialectName[] = [
  "messages",
  "chat_completions",
  "generate_content",
];

/**
 * Access to every vendor at a replay server, with base addresses that end like each vendor's own.
 */
export function replayVendors(
  url: string,
  vendors: readonly Vendor[] = VENDORS,
): Readonly<Record<string, VendorAccess>> {
  return Object.fromEntries(
    vendors.map(({ name, kind }) => [
      name,
      {
        apiKey: "replay",
        baseUrl: `${url}${PATHS[kind]}`,
        dialects: DIALECTS,
      },
    ]),
  );
}
