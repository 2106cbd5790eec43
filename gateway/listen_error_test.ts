import assert from "node:assert/strict";
import { ConfigError } from "./settings/config.ts";
import { listenError } from "./listen_error.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 8787 };

Deno.test("listenError() names the setting at fault", async (t) => {
  const { AddrInUse, AddrNotAvailable, NotCapable, PermissionDenied } =
    Deno.errors;
  const unresolved = new Error(
    "failed to lookup address information: Name not known",
  );
  const rows: readonly [unknown, Partial<typeof LOOPBACK>, RegExp][] = [
    [
      new AddrInUse("in use"),
      {},
      /^PORT: 8787 on 127\.0\.0\.1 is in use by another program/,
    ],
    [
      new AddrNotAvailable("no"),
      { hostname: "192.0.2.7" },
      /^HOST: 192\.0\.2\.7 is not an address of this machine/,
    ],
    [
      new PermissionDenied("no"),
      { port: 80 },
      /^PORT: only a privileged user may listen on 80: set PORT to 1024 or more$/,
    ],
    // The system reserves the port.
    [
      new PermissionDenied("no"),
      {},
      /^PORT: the system does not allow listening on port 8787/,
    ],
    [new NotCapable("no"), {}, /^PORT: .*--allow-net/],
    [
      unresolved,
      { hostname: "gateway.invalid" },
      /^HOST: could not resolve gateway\.invalid/,
    ],
    [
      new URIError("invalid host 'a:b'"),
      { hostname: "a:b" },
      /^HOST: could not resolve a:b/,
    ],
  ];
  for (const [error, address, message] of rows) {
    await t.step(String(message), () => {
      const found = listenError(error, { ...LOOPBACK, ...address });
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
  }, /^ConfigError: .*is in use/);
});

Deno.test("listenError() returns other errors unchanged", () => {
  const error = new TypeError("something else");
  assert.equal(listenError(error, LOOPBACK), error);
  const inUse = new Deno.errors.AddrInUse("x");
  assert.ok(!(listenError(inUse) instanceof ConfigError));
});
