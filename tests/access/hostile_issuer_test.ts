/** Company sign-in at an issuer that lies: each lie opens nothing, and holds nothing up. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import {
  type HostileIssuer,
  type Lies,
  PUBLIC_KEY,
  signed,
  signInWith,
  startHostileIssuer,
} from "../support/console/hostile_issuer.ts";
import { startConsole } from "../support/console/visitor.ts";
import { serveLoopback } from "../support/serve_loopback.ts";
import type { TestGateway } from "../support/test_gateway.ts";

const RULE = { claim: "groups", value: "team-a", account: "default" };

async function withHostileIssuer(
  run: (gateway: TestGateway, issuer: HostileIssuer) => Promise<void>,
  rule: object = RULE,
): Promise<void> {
  await using issuer = startHostileIssuer();
  await using gateway = await startConsole({
    configFile: JSON.stringify({
      sign_in: { issuer: issuer.url, client_id: "console", rules: [rule] },
    }),
    env: { GATEWAY_SIGN_IN_SECRET: "a-secret-of-the-client" },
  });
  await run(gateway, issuer);
}

const nowSeconds = (): number => Math.floor(Date.now() / 1000);
const claims = (change: Record<string, unknown>): Lies => ({
  token: (_, claims) => void Object.assign(claims, change),
});
const without = (name: string): Lies => ({
  token: (_, claims) => void delete claims[name],
});
const headed = (
  header: Record<string, unknown>,
  signature: Required<Lies>["signature"],
): Lies => ({
  token: (own) => void Object.assign(own, header),
  signature,
});
const hmac = (secret: string) => (text: string): string =>
  createHmac("sha256", secret).update(text).digest("base64url");
const METADATA_SERVICE = "http://169.254.169.254/latest/meta-data";
const redirect = (): Response =>
  new Response(null, { status: 302, headers: { location: METADATA_SERVICE } });
const large = (): Response =>
  new Response(`{"keys":[],"x":"${"x".repeat(2 * 1024 * 1024)}"}`, {
    headers: { "content-type": "application/json" },
  });
const endless = (): Response => {
  const piece = new Uint8Array(64 * 1024).fill(0x20);
  return new Response(
    new ReadableStream({ pull: (to) => to.enqueue(piece) }),
    { headers: { "content-type": "application/json" } },
  );
};

/** Each is answered with one of these statuses, without a session. */
const LIES: Readonly<Record<string, Lies>> = {
  "an ID token of another issuer": claims({ iss: "https://other.example" }),
  "an ID token for another client": claims({ aud: "other" }),
  "an ID token for several clients, issued to another": claims({
    aud: ["console", "other"],
    azp: "other",
  }),
  "another nonce": claims({ nonce: "other" }),
  "no nonce": without("nonce"),
  "an expired ID token": claims({ exp: nowSeconds() - 3_600 }),
  "an ID token without an end": without("exp"),
  "an ID token of the future": claims({
    iat: nowSeconds() + 3_600,
    exp: nowSeconds() + 7_200,
  }),
  "an ID token that is not valid yet": claims({ nbf: nowSeconds() + 3_600 }),
  "an ID token without a subject": without("sub"),
  "a subject that is no text": claims({ sub: { toString: 1 } }),
  "alg none": headed({ alg: "none" }, () => ""),
  "HS256 with the public key": headed(
    { alg: "HS256" },
    hmac(JSON.stringify(PUBLIC_KEY)),
  ),
  "HS256 with the client's secret": headed(
    { alg: "HS256" },
    hmac("a-secret-of-the-client"),
  ),
  "a signature by another key": {
    signature: async (text) => {
      const { privateKey } = await crypto.subtle.generateKey(
        { name: "ECDSA", namedCurve: "P-256" },
        false,
        ["sign"],
      );
      return await signed(text, privateKey);
    },
  },
  "a signature of another text": { signature: () => signed("other") },
  "a key in the token's own header": headed(
    { jwk: PUBLIC_KEY, kid: "other" },
    signed,
  ),
  "a way back of another issuer (RFC 9207)": {
    back: (query) => query.set("iss", "https://other.example"),
  },
  "a way back without an issuer": { back: (query) => query.delete("iss") },
  "a token in the way back": { back: (query) => query.set("id_token", "x") },
  "metadata of another issuer": {
    metadata: (metadata) => metadata["issuer"] = "https://other.example",
  },
  "a token endpoint at a metadata service": {
    metadata: (metadata) => metadata["token_endpoint"] = METADATA_SERVICE,
  },
  "keys at a metadata service": {
    metadata: (metadata) => metadata["jwks_uri"] = METADATA_SERVICE,
  },
  "keys in a file": {
    metadata: (metadata) => metadata["jwks_uri"] = "file:///etc/passwd",
  },
  "keys that redirect to a metadata service": { keys: redirect },
  "tokens that redirect to a metadata service": { tokens: redirect },
  "keys without end": { keys: endless },
  "very long keys": { keys: large },
  "tokens without end": { tokens: endless },
  "very long tokens": { tokens: large },
  "tokens without an ID token": {
    tokens: () => Response.json({ access_token: "a", token_type: "bearer" }),
  },
  "tokens that are no object": { tokens: () => Response.json(["canary"]) },
};

Deno.test("an honest reply of the same issuer opens a session", () =>
  withHostileIssuer(async (gateway, issuer) => {
    const { status, isIn, text } = await signInWith(gateway, issuer, {});
    assert.equal(status, 200, text);
    assert.ok(isIn);
  }));

Deno.test("an issuer that lies opens no session", (t) =>
  withHostileIssuer(async (gateway, issuer) => {
    for (const [name, lies] of Object.entries(LIES)) {
      await t.step(name, async () => {
        const { status, isIn, text } = await signInWith(gateway, issuer, lies);
        assert.ok(!isIn, "a session was opened");
        assert.ok([401, 503].includes(status), `${status} ${text}`);
        assert.doesNotMatch(
          text,
          /canary|a-secret-of-the-client|other\.example/,
        );
      });
    }
    const { status } = await signInWith(gateway, issuer, {});
    assert.equal(status, 200, "what it states was kept");
  }));

Deno.test("user info counts only for the person of the ID token", (t) =>
  withHostileIssuer(async (gateway, issuer) => {
    const rows: Readonly<Record<string, readonly [object, boolean]>> = {
      "the same": [{ sub: "ada", team: "team-a" }, true],
      "another person": [{ sub: "eve", team: "team-a" }, false],
      "nobody": [{ team: "team-a" }, false],
      "other claims of the ID token": [
        { sub: "ada", iss: "https://other.example", groups: ["x"] },
        false,
      ],
    };
    for (const [name, [info, opens]] of Object.entries(rows)) {
      await t.step(name, async () => {
        const { isIn } = await signInWith(gateway, issuer, {
          userInfo: () => Response.json(info),
        });
        assert.equal(isIn, opens);
      });
    }
    for (const userInfo of [endless, large, redirect]) {
      assert.ok(!(await signInWith(gateway, issuer, { userInfo })).isIn);
    }
  }, { ...RULE, claim: "team" }));

Deno.test("a secret and a code go to no plain address beside this machine", () =>
  withHostileIssuer(async (gateway, issuer) => {
    let asked = 0;
    await using other = serveLoopback(() => {
      asked++;
      return new Response();
    });
    // Every address of 127.0.0.0/8 is this machine; this spelling is none that counts as one.
    const elsewhere = `http://[::ffff:127.0.0.1]:${other.addr.port}/token`;
    const { isIn } = await signInWith(gateway, issuer, {
      metadata: (metadata) => metadata["token_endpoint"] = elsewhere,
    });
    assert.ok(!isIn);
    assert.equal(asked, 0);
  }));
