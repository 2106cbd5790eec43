/**
 * A program that opens one credential and prints its state, for tests of permissions. `PLAN` is the
 * plan as JSON; with `TOKEN_ENDPOINTS`, an address on loopback, every call of the gateway's own
 * HTTP goes there.
 */
import type { CredentialPlan } from "../../../gateway/upstream/credentials/credential_plan.ts";
import {
  openCredential,
  SYSTEM_FILES,
} from "../../../gateway/upstream/credentials/open_credential.ts";
import { gatewayTimers } from "../../../gateway/timers.ts";
import { clientFetch } from "../../../gateway/upstream/http/client_fetch.ts";
import { upstreamClient } from "../../../gateway/upstream/http/http_client.ts";

const plan: CredentialPlan = JSON.parse(Deno.env.get("PLAN") ?? "");
const endpoints = Deno.env.get("TOKEN_ENDPOINTS");
const client = upstreamClient({
  connectTimeoutMs: 10_000,
  firstByteTimeoutMs: 10_000,
  idleTimeoutMs: 10_000,
}, gatewayTimers());
const httpFetch = clientFetch(client);
const toEndpoints: typeof fetch = endpoints === undefined
  ? httpFetch
  : (input, init) => {
    const { pathname, search } = new URL(String(input));
    return httpFetch(`${endpoints}${pathname}${search}`, init);
  };
const auth = {
  schemes: ["sigv4"],
  service: "bedrock",
  region: "us-east-1",
} as const;
const credential = openCredential(plan, {
  now: Date.now,
  timers: gatewayTimers(),
  files: SYSTEM_FILES,
  fetch: toEndpoints,
  machineFetch: toEndpoints,
}, auth);
await credential.start();
const state = credential.state();
credential.close();
await client.close();
const headers = state.usable
  ? await credential.headers({
    url: "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/invoke",
    body: new TextEncoder().encode("{}"),
    auth,
  })
  : {};
const line = JSON.stringify({ ...state, headers: Object.keys(headers) });
Deno.stdout.writeSync(new TextEncoder().encode(line));
