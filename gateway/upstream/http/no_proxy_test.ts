import assert from "node:assert/strict";
import { isMetadataHost, isThisMachine, noProxy } from "./no_proxy.ts";

const AT = (host: string): { hostname: string; port: number } => {
  const { hostname, port, protocol } = new URL(host);
  return {
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port || (protocol === "https:" ? 443 : 80)),
  };
};

/** `NO_PROXY`, destinations without a proxy, and destinations with one. */
const CASES: readonly (readonly [string, string, string])[] = [
  ["", "", "http://a.test https://127.0.0.1"],
  ["*", "http://a.test https://[::1]:8443 http://1.2.3.4", ""],
  [
    "a.test",
    "http://a.test https://A.TEST. https://b.a.test:8443",
    "http://ba.test http://a.test.com http://test",
  ],
  [".a.test", "http://a.test https://b.a.test", "http://ba.test"],
  ["*.a.test", "http://a.test https://c.b.a.test", "http://ba.test"],
  ["b.test, A.Test.", "http://a.test http://b.test", "http://c.test"],
  ["b.test a.test\tc.test", "http://a.test http://c.test", "http://d.test"],
  [
    "a.test:8443",
    "https://a.test:8443 https://b.a.test:8443",
    "https://a.test",
  ],
  ["a.test:443", "https://a.test", "http://a.test"],
  [
    "10.1.2.3",
    "http://10.1.2.3 http://[::ffff:10.1.2.3]",
    "http://10.1.2.4 http://10.1.2.3.test",
  ],
  ["10.1.2.3:80", "http://10.1.2.3", "https://10.1.2.3"],
  [
    "10.0.0.0/8",
    "http://10.9.9.9:1 http://[::ffff:a09:909] http://0xa.1",
    "http://11.0.0.0 http://ten.test",
  ],
  ["192.168.4.0/30", "http://192.168.4.3", "http://192.168.4.4"],
  [
    "fd00::/8,2001:db8::1",
    "https://[fd12::5] https://[2001:db8:0::1]:9",
    "https://[fe12::5] https://[2001:db8::2]",
  ],
  ["[2001:db8::1]:8443", "https://[2001:db8::1]:8443", "https://[2001:db8::1]"],
];

Deno.test("noProxy() reads names, suffixes, addresses, ranges and ports", () => {
  for (const [text, without, through] of CASES) {
    const rule = noProxy(text);
    for (const host of without.split(" ").filter((one) => one !== "")) {
      assert.equal(rule(AT(host)), true, `${text}: ${host}`);
    }
    for (const host of through.split(" ").filter((one) => one !== "")) {
      assert.equal(rule(AT(host)), false, `${text}: ${host}`);
    }
  }
});

Deno.test("noProxy() names an entry that it cannot read", () => {
  for (
    const entry of ["10.0.0.0/33", "a.test/8", "10.*", "http://a.test", ":80"]
  ) {
    assert.throws(() => noProxy(`b.test,${entry}`), {
      name: "RangeError",
      message: new RegExp(`^${RegExp.escape(entry)} is neither`),
    });
  }
});

Deno.test("metadata services and this machine are known in every spelling", () => {
  for (
    const host of [
      "169.254.169.254",
      "169.254.170.2",
      "fd00:ec2::254",
      "::ffff:169.254.169.254",
      "metadata.google.internal",
      "Metadata.Google.Internal.",
      "metadata.goog",
      "168.63.129.16",
      "100.100.100.200",
    ]
  ) assert.equal(isMetadataHost(host), true, host);
  for (const host of ["localhost", "a.LOCALHOST", "127.9.9.9", "::1"]) {
    assert.equal(isThisMachine(host), true, host);
  }
  for (const host of ["metadata.test", "10.0.0.1", "localhost.test"]) {
    assert.equal(isMetadataHost(host) || isThisMachine(host), false, host);
  }
});
