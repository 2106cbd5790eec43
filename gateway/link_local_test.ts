import assert from "node:assert/strict";
import { isLinkLocal } from "./link_local.ts";

const REFUSED: readonly string[] = [
  "169.254.169.254",
  "169.254.0.1",
  "0.0.0.0",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fe80::1",
  "fe80::1%eth0",
  "febf::1",
  "::",
  "fd00:ec2::254",
  "fd20:ce::254",
  // Mapped, translated, compatible.
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "0:0:0:0:0:ffff:a9fe:a9fe",
  "::ffff:0:169.254.169.254",
  "::169.254.169.254",
  // NAT64, with the four places of RFC 6052.
  "64:ff9b::a9fe:a9fe",
  "64:ff9b:1::a9fe:a9fe",
  "64:ff9b:1:a9fe:a9:fe00::",
  "64:ff9b:1:a9:fe:a9fe::",
  "64:ff9b:1:0:a9:fea9:fe00::",
  // 6to4, Teredo by its server and by its client, ISATAP.
  "2002:a9fe:a9fe::",
  "2002:a9fe:a9fe:1::7",
  "2001:0:a9fe:a9fe::1",
  "2001:0:102:304:0:0:5601:5601",
  "fd12::5efe:169.254.169.254",
  "2001:db8::200:5efe:169.254.169.254",
  "[64:ff9b::a9fe:a9fe]",
];

const ACCEPTED: readonly string[] = [
  "127.0.0.1",
  "::1",
  "10.0.0.5",
  "192.168.1.20",
  "172.16.0.9",
  "100.64.0.1",
  "8.8.8.8",
  "fd12:3456::1",
  "2606:4700::6810:84e5",
  "::ffff:10.0.0.5",
  "64:ff9b::a00:5",
  "64:ff9b::808:808",
  "2002:a00:5::1",
  "2001:0:102:304::fefe:fefe",
  "2001:db8::a9fe:a9fe",
  "metadata.google.internal",
  "",
];

Deno.test("isLinkLocal() knows every spelling of link-local and metadata addresses, and no others", () => {
  for (const address of REFUSED) assert.ok(isLinkLocal(address), address);
  for (const address of ACCEPTED) assert.ok(!isLinkLocal(address), address);
});
