import type { DialectName } from "../../../translate/model/request.ts";
import type { VendorAccess } from "../../settings/config.ts";
import type { HostKind } from "../hosts/host.ts";
import { type Vendor, VENDORS } from "./vendors.ts";

/** The path of the base address of the hosts whose paths the replay server has. */
const HOST_PATHS: ReadonlyMap<HostKind, string> = new Map<HostKind, string>([
  ...VENDORS.map((vendor) =>
    [
      vendor.kind,
      new URL(vendor.baseUrl).pathname.replace(/^\/$/, ""),
    ] as const
  ),
  ["openai_compatible", "/v1"],
]);

/** Formats of the replay server. */
const DIALECTS: readonly DialectName[] = [
  "messages",
  "chat_completions",
  "generate_content",
];

/**
 * Access to the vendors at a replay server, with base addresses that end like each vendor's own.
 */
export function replayVendors(
  url: string,
  vendors: readonly Vendor[] = VENDORS,
): Readonly<Record<string, VendorAccess>> {
  return Object.fromEntries(
    vendors.flatMap(({ name, kind }) => {
      const path = HOST_PATHS.get(kind);
      return path === undefined ? [] : [[name, {
        apiKey: "replay",
        baseUrl: `${url}${path}`,
        dialects: DIALECTS,
      }]];
    }),
  );
}
