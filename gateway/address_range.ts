/** Addresses and ranges of addresses (RFC 4632), as settings have them. */
import { BlockList, isIP } from "node:net";

/** Whether an address is in a range; false for text that is no address. */
export type AddressRange = (address: string) => boolean;

/**
 * Reads an address or a range such as `10.0.0.0/8`; undefined for other text. A range of IPv4 has
 * the same addresses inside IPv6 (`::ffff:10.0.0.1`).
 */
export function addressRange(text: string): AddressRange | undefined {
  const [, network = text, bits] = /^(.*)\/(\d{1,3})$/.exec(text) ?? [];
  const version = isIP(network);
  if (version === 0) return undefined;
  const most = version === 4 ? 32 : 128;
  const length = bits === undefined ? most : Number(bits);
  if (length > most) return undefined;
  const list = new BlockList();
  list.addSubnet(network, length, familyOf(network));
  return (address) => {
    const plain = address.replace(/%.*$/, "");
    return isIP(plain) !== 0 && list.check(plain, familyOf(plain));
  };
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}
