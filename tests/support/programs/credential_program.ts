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

const plan: CredentialPlan = JSON.parse(Deno.env.get("PLAN") ?? "");
const endpoints = Deno.env.get("TOKEN_ENDPOINTS");
const auth = {
  schemes: ["sigv4"],
  service: "bedrock",
  region: "us-east-1",
} as const;
const credential = openCredential(plan, {
  now: Date.now,
  timers: gatewayTimers(),
  files: SYSTEM_FILES,
  fetch: endpoints === undefined ? fetch : (input, init) => {
    const { pathname, search } = new URL(String(input));
    return fetch(`${endpoints}${pathname}${search}`, init);
  },
}, auth);
await credential.start();
const state = credential.state();
credential.close();
const headers = state.usable
  ? await credential.headers({
    url: "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/invoke",
    body: new TextEncoder().encode("{}"),
    auth,
  })
  : {};
const line = JSON.stringify({ ...state, headers: Object.keys(headers) });
Deno.stdout.writeSync(new TextEncoder().encode(line));
