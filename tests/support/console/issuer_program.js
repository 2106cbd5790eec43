/**
 * An issuer of OpenID Connect on loopback, `npm:oidc-provider`: `issuer_program.js SPECIFIER`.
 * Prints its address. Any name signs in. `PUT /test/claims/NAME` sets claims, `PUT /test/console`
 * the address of the console that it serves, and `PUT /test/clock` the seconds by which its clock
 * is ahead; the last two start it anew, with other keys.
 */
import { createServer } from "node:http";
import { Buffer } from "node:buffer";
import process from "node:process";

const [specifier] = process.argv.slice(2);
const platformNow = Date.now.bind(Date);
let aheadMs = 0;
Date.now = () => platformNow() + aheadMs;
const { default: Provider } = await import(specifier);

const claims = new Map();

async function keys() {
  const { privateKey } = await crypto.subtle.generateKey(
    { name: "ECDSA", namedCurve: "P-256" },
    true,
    ["sign", "verify"],
  );
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey(
    "jwk",
    privateKey,
  );
  const kid = crypto.randomUUID();
  return [{ kty, crv, x, y, d, kid, use: "sig", alg: "ES256" }];
}

let issuer;
let consoleUrl = "http://127.0.0.1:1";

async function provider() {
  return new Provider(issuer, {
    jwks: { keys: await keys() },
    clients: [{
      client_id: "console",
      client_secret: "a-secret-of-the-client",
      redirect_uris: [`${consoleUrl}/console/company-sign-in/callback`],
      post_logout_redirect_uris: [
        `${consoleUrl}/console/sign-in`,
        `${consoleUrl}/console/operator/sign-in`,
      ],
      id_token_signed_response_alg: "ES256",
    }],
    cookies: { keys: ["of a test"] },
    ttl: { IdToken: 20, AccessToken: 600 },
    claims: {
      openid: ["sub"],
      email: ["email", "email_verified"],
      profile: ["name"],
      groups: ["groups"],
    },
    scopes: ["openid", "email", "profile", "groups"],
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, ...claims.get(id) }),
    }),
  });
}

let current;

async function received(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
}

const server = createServer(async (request, response) => {
  const [, area, what, name] = request.url.split("/");
  if (area !== "test") return current.callback()(request, response);
  const value = await received(request);
  if (what === "claims") claims.set(name, value);
  else {
    if (what === "console") consoleUrl = value;
    if (what === "clock") aheadMs = value * 1000;
    current = await provider();
  }
  response.end();
});
server.listen(0, "127.0.0.1", async () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  current = await provider();
  // deno-lint-ignore no-console
  console.log(issuer);
});
