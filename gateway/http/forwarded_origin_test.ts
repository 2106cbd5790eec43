import assert from "node:assert/strict";
import {
  forwardedOrigin,
  forwardedPort,
  trustedProxies,
} from "./forwarded_origin.ts";

Deno.test("forwardedOrigin() reads both families of headers, in any letter case", () => {
  const cases: readonly (readonly [Record<string, string>, object])[] = [
    [{}, {}],
    [{ "X-FORWARDED-PROTO": "HTTPS" }, { scheme: "https" }],
    [{ "x-forwarded-proto": "https, http" }, { scheme: "https" }],
    [{ "x-forwarded-proto": "wss" }, {}],
    [{ "x-forwarded-host": "Models.Example.com:8443, inner" }, {
      host: "models.example.com:8443",
    }],
    [{ "x-forwarded-host": "[2001:DB8::1]:8443" }, {
      host: "[2001:db8::1]:8443",
    }],
    [{ "x-forwarded-host": "a.test/<script>" }, {}],
    [{
      forwarded:
        "for=192.0.2.1;Proto=HTTPS;Host=a.test, for=10.0.0.1;proto=http",
    }, {
      scheme: "https",
      host: "a.test",
    }],
    [{
      forwarded:
        'host="[2001:db8::1]:8443" ; for="[2001:db8::9]:1";proto=https',
    }, {
      scheme: "https",
      host: "[2001:db8::1]:8443",
    }],
    [{ forwarded: 'for="a,b;proto=http\\"";proto=https' }, { scheme: "https" }],
    [{ forwarded: "for=10.0.0.1, proto=https" }, {}],
    [{ forwarded: "proto=http;host=b.test", "x-forwarded-proto": "https" }, {
      scheme: "https",
      host: "b.test",
    }],
    [{ forwarded: ";;=,proto" }, {}],
  ];
  for (const [headers, expected] of cases) {
    assert.deepEqual(
      forwardedOrigin(new Headers(headers)),
      expected,
      JSON.stringify(headers),
    );
  }
});

Deno.test("forwardedPort() is a port that an address has to name", () => {
  const port = (text: string) =>
    forwardedPort(new Headers({ "x-forwarded-port": text }));
  assert.deepEqual(["8443", "8443, 80", "443", "80", "x", ""].map(port), [
    "8443",
    "8443",
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

Deno.test("trustedProxies() reads addresses, ranges and words", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    [
      "private",
      "127.0.0.1 ::1 10.9.9.9 172.31.0.1 192.168.1.1 fd00::1 fe80::1%eth0 ::ffff:10.0.0.1",
      "172.32.0.1 8.8.8.8 2001:db8::1 host",
    ],
    ["none", "", "127.0.0.1 ::1"],
    ["", "", "127.0.0.1"],
    [
      "203.0.113.0/24, 2001:db8::/32",
      "203.0.113.7 2001:db8::7",
      "127.0.0.1 203.0.114.1",
    ],
    ["private 203.0.113.7", "203.0.113.7 127.0.0.1", "203.0.113.8"],
  ];
  for (const [text, trusted, others] of cases) {
    const isTrusted = trustedProxies(text);
    for (const peer of trusted.split(" ").filter((one) => one !== "")) {
      assert.equal(isTrusted(peer), true, `${text}: ${peer}`);
    }
    for (const peer of others.split(" ")) {
      assert.equal(isTrusted(peer), false, `${text}: ${peer}`);
    }
  }
  assert.throws(() => trustedProxies("10.0.0.0/40"), {
    name: "RangeError",
    message: /^10\.0\.0\.0\/40 is neither/,
  });
});
