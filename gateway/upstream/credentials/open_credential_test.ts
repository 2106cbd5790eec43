import assert from "node:assert/strict";
import { ApiError } from "../../../translate/model/error.ts";
import { fakeClock } from "../../../tests/support/fake_clock.ts";
import { tokenEndpoints } from "../../../tests/support/upstreams/token_endpoints.ts";
import type { HostAuth } from "./credential.ts";
import type { CredentialPlan } from "./credential_plan.ts";
import { openCredential, SYSTEM_FILES } from "./open_credential.ts";
import { temporaryFolder } from "../../../tests/support/temporary_folder.ts";

const AUTH: HostAuth = { schemes: ["google"] };
const CALL = {
  url: "https://aiplatform.googleapis.com/v1/x",
  body: new Uint8Array(),
  auth: AUTH,
};
const REFUSAL = { header: () => undefined };

const SOURCES = { files: SYSTEM_FILES, fetch, machineFetch: fetch };
const unasked: typeof fetch = () =>
  Promise.reject(new Error("no service but the machine's is asked"));

/** A metadata server that the test switches on and off. */
function metadata() {
  const clock = fakeClock();
  const state = { isUp: true, issued: 0 };
  const endpoints = tokenEndpoints(() =>
    state.isUp
      ? Response.json({
        access_token: `token-${++state.issued}`,
        expires_in: 3600,
      })
      : new Response("", { status: 503 })
  );
  const plan: CredentialPlan = {
    type: "google_metadata",
    env: { GCE_METADATA_HOST: new URL(endpoints.url).host },
  };
  const open = () =>
    openCredential(plan, { ...clock, ...SOURCES, fetch: unasked }, AUTH);
  return { ...endpoints, clock, state, open };
}

Deno.test("openCredential() calls nothing before its first use", async () => {
  await using at = metadata();
  at.open();
  assert.equal(at.requests.length, 0);
});

Deno.test("a token's headers are no promise while it is fresh, and one object", async () => {
  await using at = metadata();
  const { clock } = at;
  const credential = at.open();
  await credential.start();
  const headers = credential.headers(CALL);
  assert.deepEqual(headers, { authorization: "Bearer token-1" });
  clock.advance(54 * 60_000);
  assert.equal(credential.headers(CALL), headers);
  assert.equal(at.requests.length, 1);
});

Deno.test("a source out of reach at the start: the credential is failing, and recovers by itself", async () => {
  await using at = metadata();
  const { clock, state } = at;
  state.isUp = false;
  const credential = at.open();
  await credential.start();
  const reason = "Google metadata server: status 503";
  const failure = { sinceMs: clock.now(), reason };
  assert.deepEqual(credential.state(), { usable: false, failure });
  await assert.rejects(Promise.resolve(credential.headers(CALL)), (error) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.kind, "upstream");
    assert.equal(error.details.code, "no_credential");
    assert.equal(error.details.note, reason);
    return true;
  });
  state.isUp = true;
  clock.advance(1_000);
  await credential.start();
  assert.deepEqual(credential.state(), { usable: true });
  assert.deepEqual(credential.headers(CALL), {
    authorization: "Bearer token-1",
  });
  credential.close();
});

Deno.test("a refused token is replaced, and both are secrets", async () => {
  await using at = metadata();
  const credential = at.open();
  await credential.start();
  const sent = await credential.headers(CALL);
  assert.equal(await credential.refused(sent, REFUSAL), true);
  assert.deepEqual(credential.headers(CALL), {
    authorization: "Bearer token-2",
  });
  assert.deepEqual(credential.secrets(), ["token-2", "token-1"]);
  // Late: the newer one is in use.
  assert.equal(await credential.refused(sent, REFUSAL), true);
  assert.equal(at.requests.length, 2);
});

Deno.test("an Entra credential holds a token for each scope, and starts with that of its host", async () => {
  const base = "https://login.microsoftonline.com/tenant";
  await using endpoints = tokenEndpoints(({ url, body }) =>
    url.includes("openid-configuration")
      ? Response.json({
        token_endpoint: `${base}/oauth2/v2.0/token`,
        authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
        issuer: `${base}/v2.0`,
        jwks_uri: `${base}/keys`,
      })
      : Response.json({
        access_token: `token for ${new URLSearchParams(body).get("scope")}`,
        expires_in: 3600,
        token_type: "Bearer",
      })
  );
  const [foundry, azure] = ["ai", "cognitiveservices"].map((name) => ({
    schemes: ["entra" as const],
    scope: `https://${name}.azure.com/.default`,
  }));
  assert.ok(foundry !== undefined && azure !== undefined);
  // The library dates tokens by the system's clock.
  const clock = { ...fakeClock(), now: Date.now };
  const credential = openCredential(
    {
      type: "entra_secret",
      tenantId: "tenant",
      clientId: "client",
      secret: "secret",
      authority: "https://login.microsoftonline.com",
    },
    { ...clock, ...SOURCES, fetch: endpoints.fetch },
    foundry,
  );
  await credential.start();
  assert.deepEqual(credential.headers({ ...CALL, auth: foundry }), {
    authorization: `Bearer token for ${foundry.scope}`,
  });
  assert.deepEqual(await credential.headers({ ...CALL, auth: azure }), {
    authorization: `Bearer token for ${azure.scope}`,
  });
  assert.equal(credential.secrets().length, 2);
});

Deno.test("a key of a file is read through the system", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/key`;
  await Deno.writeTextFile(file, "key-1\n");
  const credential = openCredential(
    { type: "keys", keys: [{ file, key: "key-1" }] },
    { ...fakeClock(), ...SOURCES },
  );
  const auth: HostAuth = { schemes: ["bearer"] };
  const sent = await credential.headers({ ...CALL, auth });
  await Deno.writeTextFile(file, "key-2\n");
  assert.equal(await credential.refused(sent, REFUSAL), true);
  assert.deepEqual(credential.headers({ ...CALL, auth }), {
    authorization: "Bearer key-2",
  });
});

Deno.test('"none" sends nothing', async () => {
  const credential = openCredential({ type: "none" }, {
    ...fakeClock(),
    ...SOURCES,
  });
  await credential.start();
  assert.deepEqual(credential.headers({ ...CALL, auth: AUTH }), {});
  assert.equal(await credential.refused({}, REFUSAL), false);
  assert.deepEqual(credential.secrets(), []);
});
