import assert from "node:assert/strict";
import { ConfigError } from "./settings/config.ts";
import { listenError } from "./listen_error.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 8787 };

Deno.test("listenError() names the setting at fault", async (t) => {
  const rows: readonly [string, unknown, typeof LOOPBACK, RegExp][] = [
    [
      "a taken port",
      new Deno.errors.AddrInUse("in use"),
      LOOPBACK,
      /^PORT: 8787 on 127\.0\.0\.1 is in use by another program/,
    ],
    [
      "another machine's address",
      new Deno.errors.AddrNotAvailable("no"),
      { hostname: "192.0.2.7", port: 8787 },
      /^HOST: 192\.0\.2\.7 is not an address of this machine/,
    ],
    [
      "a privileged port",
      new Deno.errors.PermissionDenied("no"),
      { hostname: "127.0.0.1", port: 80 },
      /^PORT: only a privileged user may listen on 80: set PORT to 1024 or more$/,
    ],
    [
      "a port that the system reserves",
      new Deno.errors.PermissionDenied("no"),
      LOOPBACK,
      /^PORT: the system does not allow listening on port 8787/,
    ],
    [
      "a missing permission",
      new Deno.errors.NotCapable("no"),
      LOOPBACK,
      /^PORT: .*--allow-net/,
    ],
    [
      "an unknown name",
      new Error("failed to lookup address information: Name not known"),
      { hostname: "gateway.invalid", port: 8787 },
      /^HOST: could not resolve gateway\.invalid/,
    ],
    [
      "an invalid name",
      new URIError("invalid host 'a:b'"),
      { hostname: "a:b", port: 8787 },
      /^HOST: could not resolve a:b/,
    ],
  ];
  for (const [name, error, address, message] of rows) {
    await t.step(name, () => {
      const found = listenError(error, address);
      assert.ok(found instanceof ConfigError);
      assert.match(found.message, message);
      assert.ok(!found.message.includes("\n"));
    });
  }
});

Deno.test("listenError() explains the error that Deno throws for a taken port", () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const address = { hostname: "127.0.0.1", port: taken.addr.port };
  assert.throws(() => {
    try {
      Deno.serve({ ...address, onListen() {} }, () => new Response());
    } catch (error) {
      throw listenError(error, address);
    }
  }, (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.message, /is in use/);
    return true;
  });
});

Deno.test("listenError() returns other errors unchanged", () => {
  const error = new TypeError("something else");
  assert.equal(listenError(error, LOOPBACK), error);
  assert.equal(
    listenError(new Deno.errors.AddrInUse("x")) instanceof ConfigError,
    false,
  );
});
