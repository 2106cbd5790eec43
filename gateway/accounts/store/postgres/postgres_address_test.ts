import assert from "node:assert/strict";
import { type PostgresAddress, postgresAddress } from "./postgres_address.ts";

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
      ["postgres://u:secret@a,db:port/d", /is not a URL/],
      ["postgres://u:sec#ret@db/d", /is not a URL/],
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

Deno.test("postgresAddress() reads the addresses that hosts of databases show to copy", async (t) => {
  const rows: readonly (readonly [string, string, Partial<PostgresAddress>])[] =
    [
      [
        "Neon",
        "postgresql://u:p@ep-x.neon.tech/db?sslmode=require&channel_binding=require",
        { host: "ep-x.neon.tech", channelBinding: "require" },
      ],
      [
        "Cloud SQL",
        "postgres://u:p@localhost/db?host=/cloudsql/project:region:instance",
        { host: "/cloudsql/project:region:instance" },
      ],
      ["a socket", "postgres:///db?host=/var/run/postgresql", {
        host: "/var/run/postgresql",
      }],
      ["an encoded socket", "postgres://u@%2Fvar%2Frun/db", {
        host: "/var/run",
      }],
      [
        "two servers",
        "postgres://u:p@a:5432,b:5433/db?target_session_attrs=read-write",
        {
          host: "a",
          port: 5432,
          others: [{ host: "b", port: 5433 }],
          target: "read-write",
        },
      ],
      ["one port for all", "postgres://a,[::1]/db?port=6432", {
        host: "a",
        port: 6432,
        others: [{ host: "::1", port: 6432 }],
      }],
      [
        "times",
        "postgres://h/db?connect_timeout=3&keepalives=1&keepalives_idle=60&keepalives_interval=5&keepalives_count=2&tcp_user_timeout=9",
        { connectMs: 3000, keepAliveIdleMs: 60_000 },
      ],
      [
        "no probes, no limit",
        "postgres://h/db?keepalives=0&connect_timeout=0",
        {
          keepAlive: false,
          connectMs: 0,
        },
      ],
      [
        "a name",
        "postgres://h/db?application_name=gw&fallback_application_name=x",
        {
          applicationName: "gw",
        },
      ],
      [
        "all as parameters",
        "postgresql://?host=h&port=1&user=u&password=p%40&dbname=d",
        {
          host: "h",
          port: 1,
          user: "u",
          password: "p@",
          database: "d",
        },
      ],
      [
        "an encoding and no Kerberos",
        "postgres://h/db?client_encoding=UTF8&gssencmode=disable",
        {
          host: "h",
        },
      ],
    ];
  for (const [name, text, wanted] of rows) {
    await t.step(name, () => {
      const found = postgresAddress(text);
      assert.deepEqual({ ...found, ...wanted }, found);
      assert.equal(found.options, undefined);
    });
  }
  const { ssl } = postgresAddress(
    "postgres://h/db?sslmode=require&ssl_min_protocol_version=TLSv1.3",
  );
  assert.deepEqual(ssl, { rejectUnauthorized: false, minVersion: "TLSv1.3" });
});

Deno.test("postgresAddress() names the parameter that it cannot follow", async (t) => {
  for (
    const [search, wanted] of [
      ["service=main", /cannot follow service in/],
      ["gssencmode=require", /cannot follow gssencmode in/],
      ["require_auth=md5", /cannot follow require_auth in/],
      ["sslcrl=/a", /cannot follow this sslcrl in/],
      [
        "target_session_attrs=writer",
        /target_session_attrs in the address must/,
      ],
      [
        "connect_timeout=soon",
        /connect_timeout in the address must be a number/,
      ],
      [
        "channel_binding=require",
        /channel_binding=require in the address needs sslmode/,
      ],
      ["host=a,b&port=1,2,3", /port in the address must be one/],
      [
        "ssl_min_protocol_version=3",
        /ssl_min_protocol_version in the address must/,
      ],
    ] as const
  ) {
    await t.step(search, () => {
      assert.throws(
        () => postgresAddress(`postgres://u:secret@h/db?${search}`),
        (error: unknown) => {
          assert.ok(error instanceof Error);
          assert.match(error.message, wanted);
          assert.doesNotMatch(error.message, /secret/);
          return true;
        },
      );
    });
  }
});
