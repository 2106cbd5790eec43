import assert from "node:assert/strict";
import { postgresAddress } from "./postgres_address.ts";

Deno.test("postgresAddress() reads every part, percent-decoded", () => {
  assert.deepEqual(
    postgresAddress("postgres://us%20er:p%40ss@db.example:6543/my%2Fdb"),
    {
      host: "db.example",
      port: 6543,
      user: "us er",
      password: "p@ss",
      database: "my/db",
      allowsPlaintext: false,
      prepare: true,
    },
  );
});

Deno.test("postgresAddress() omits the parts that the address omits", () => {
  assert.deepEqual(postgresAddress("postgresql://db"), {
    host: "db",
    allowsPlaintext: false,
    prepare: true,
  });
  assert.equal(postgresAddress("postgres://u@[::1]:5432/d").host, "::1");
  assert.equal(postgresAddress("postgres://db/d?prepare=false").prepare, false);
});

Deno.test("postgresAddress() passes session settings on", () => {
  assert.equal(
    postgresAddress("postgres://db/d?search_path=a b\\c&options=-c%20geqo=off")
      .options,
    "-c geqo=off -c search_path=a\\ b\\\\c",
  );
});

Deno.test("postgresAddress() checks the certificate if sslmode requires it", async (t) => {
  const ssl = (mode: string) =>
    postgresAddress(`postgres://db/d?sslmode=${mode}`);
  await t.step("disable", () => assert.equal(ssl("disable").ssl, false));
  for (const mode of ["allow", "prefer", "require"]) {
    await t.step(mode, () => {
      assert.deepEqual(ssl(mode).ssl, { rejectUnauthorized: false });
      assert.equal(ssl(mode).allowsPlaintext, mode !== "require");
    });
  }
  await t.step("verify-ca", () => {
    const found = ssl("verify-ca").ssl;
    assert.ok(found !== undefined && found !== false);
    assert.equal(found.rejectUnauthorized, undefined);
    assert.equal(typeof found.checkServerIdentity, "function");
  });
  await t.step("verify-full", () => {
    assert.deepEqual(ssl("verify-full").ssl, {});
  });
  await t.step("an unknown mode", () => {
    assert.throws(() => ssl("verify"), /^Error: sslmode in the address must/);
  });
});

Deno.test("postgresAddress() names the malformed part without repeating it", async (t) => {
  for (
    const [text, wanted] of [
      ["postgres://u:secret@db:port/d", /is not a URL/],
      ["postgres://u:secret%@db/d", /password in the address is not percent/],
      ["postgres://u:secret@db/d?sslrootcert=/nowhere", /sslrootcert/],
    ] as const
  ) {
    await t.step(text, () => {
      assert.throws(() => postgresAddress(text), (error: unknown) => {
        assert.ok(error instanceof Error);
        assert.match(error.message, wanted);
        assert.doesNotMatch(error.message, /secret|nowhere/);
        return true;
      });
    });
  }
});
