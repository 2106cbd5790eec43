/**
 * Link-local addresses and the other ones where clouds serve a machine's credentials, in every
 * spelling that leads there: gateways and tunnels carry an IPv4 address inside an IPv6 one.
 */
import { isIPv4, isIPv6 } from "node:net";

/** Metadata services that are not link-local: Alibaba Cloud, Oracle Cloud, Azure's host. */
const METADATA_IPV4: ReadonlySet<string> = new Set([
  "100.100.100.200",
  "192.0.0.192",
  "168.63.129.16",
]);

/**
 * Whether an address is link-local, unspecified or that of a metadata service. False for text that
 * is no address.
 *
 * @param address IPv4 or IPv6, with or without brackets and zone
 */
export function isLinkLocal(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  if (isIPv4(plain)) return isRefused(plain) || plain.startsWith("0.");
  return isIPv6(plain) && isRefusedIpv6(groupsOf(plain));
}

function isRefused(ipv4: string): boolean {
  return ipv4.startsWith("169.254.") || METADATA_IPV4.has(ipv4);
}

function isRefusedIpv6(groups: readonly number[]): boolean {
  const [first = 0, second = 0] = groups;
  return (first & 0xffc0) === 0xfe80 || groups.every((group) => group === 0) ||
    // Metadata services of AWS and of Google Cloud.
    (first === 0xfd00 && second === 0xec2) ||
    (first === 0xfd20 && second === 0xce) ||
    carriedIpv4(groups).some(isRefused);
}

/** The IPv4 addresses that an IPv6 address may lead to. */
function carriedIpv4(groups: readonly number[]): readonly string[] {
  const bytes = groups.flatMap((group) => [group >> 8, group & 0xff]);
  const at = (...places: readonly number[]): string =>
    places.map((place) => bytes[place] ?? 0).join(".");
  const last = at(12, 13, 14, 15);
  const startsWith = (...start: readonly number[]): boolean =>
    start.every((group, place) => groups[place] === group);
  // IPv4-compatible, mapped (RFC 4291, 2.5.5) and translated (RFC 2765, 2.1).
  if (startsWith(0, 0, 0, 0)) return [last];
  // NAT64 (RFC 6052, 2.1), also with a prefix of its operator's choice (RFC 8215).
  if (startsWith(0x64, 0xff9b, 0, 0, 0, 0)) return [last];
  if (startsWith(0x64, 0xff9b, 1)) {
    return [last, at(6, 7, 9, 10), at(7, 9, 10, 11), at(9, 10, 11, 12)];
  }
  // 6to4 (RFC 3056, 2).
  if (startsWith(0x2002)) return [at(2, 3, 4, 5)];
  // Teredo (RFC 4380, 4): its server, and the client's address inverted.
  if (startsWith(0x2001, 0)) {
    const client = bytes.slice(12).map((byte) => byte ^ 0xff).join(".");
    return [at(4, 5, 6, 7), client];
  }
  // ISATAP (RFC 5214, 6.1), behind any prefix.
  return [0, 0x200].includes(groups[4] ?? -1) && groups[5] === 0x5efe
    ? [last]
    : [];
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(address: string): readonly number[] {
  const { hostname } = new URL(`http://[${address}]`);
  const [head = "", tail] = hostname.slice(1, -1).split("::");
  const read = (text: string): readonly number[] =>
    text === "" ? [] : text.split(":").map((group) => parseInt(group, 16));
  const before = read(head);
  const behind = read(tail ?? "");
  const zeros = Array<number>(8 - before.length - behind.length).fill(0);
  return [...before, ...zeros, ...behind];
}
