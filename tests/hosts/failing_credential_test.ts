/** A vendor without an obtainable credential: the gateway starts, reports it and recovers. */
import assert from "node:assert/strict";
import { fakeClock } from "../support/fake_clock.ts";
import { startHostUpstream } from "../support/upstreams/host_upstream.ts";
import { startTestGateway } from "../support/test_gateway.ts";
import { tokenEndpoints } from "../support/upstreams/token_endpoints.ts";
import { readinessReply } from "../../routes/reply_schemas.ts";
import { smallBody } from "../support/small_body.ts";

const MODEL = "vendora-opus-4-8";
const BODY = smallBody({ model: MODEL });

Deno.test("a metadata server out of reach stops neither the start nor other candidates; the vendor recovers by itself", async () => {
  const clock = fakeClock();
  await using google = startHostUpstream();
  await using other = startHostUpstream();
  let isUp = false;
  await using metadata = tokenEndpoints(() =>
    isUp
      ? Response.json({ access_token: "vertex-token-text", expires_in: 3600 })
      : new Response("", { status: 503 })
  );
  await using gateway = await startTestGateway({
    realVendors: true,
    now: clock.now,
    timers: clock.timers,
    random: () => 0,
    env: {
      OTHER_KEY: "other-key",
      GCE_METADATA_HOST: new URL(metadata.url).host,
    },
    configFile: JSON.stringify({
      vendors: {
        vertex: {
          kind: "vertex_claude",
          project: "contoso-ml",
          location: "global",
          base_url: google.url,
          auth: { google: "metadata" },
        },
        other: {
          kind: "vendora",
          base_url: other.url,
          api_key_env: "OTHER_KEY",
        },
      },
      models: {
        [MODEL]: {
          candidates: [
            { vendor: "vertex", upstream_model: "claude-opus-4-8" },
            {
              vendor: "other",
              upstream_model: "claude-opus-4-8",
              priority: 2,
            },
          ],
        },
      },
    }),
  });
  const upstreams = async (): Promise<unknown> => {
    const response = await fetch(`${gateway.url}/readyz?verbose`);
    const reply = await response.json();
    readinessReply.parse(reply);
    return reply.upstreams[0].credential;
  };
  // The first retry is set once the start's request has failed.
  await clock.timer((ms) => ms === 1_000);
  const response = await gateway.post("/v1/messages", BODY);
  assert.equal(response.status, 200, await response.text());
  assert.deepEqual([google.requests.length, other.requests.length], [0, 1]);
  assert.deepEqual(await upstreams(), {
    usable: false,
    failing_since: new Date(clock.now()).toISOString(),
    reason: "Google metadata server: status 503",
  });
  assert.deepEqual(gateway.events, [{
    type: "credential_fails",
    vendor: "vertex",
    reason: "Google metadata server: status 503",
  }]);
  isUp = true;
  const recovered = gateway.event(({ type }) => type === "credential_works");
  clock.advance(1_000);
  await recovered;
  assert.equal(await upstreams(), undefined);
  // Past the breaker's pause, should the failure have opened it.
  clock.advance(60_000);
  const next = await gateway.post("/v1/messages", BODY);
  assert.equal(next.status, 200, await next.text());
  assert.equal(google.requests.length, 1);
  assert.equal(
    google.requests[0]?.headers.get("authorization"),
    "Bearer vertex-token-text",
  );
  const ready = await fetch(`${gateway.url}/readyz?verbose`);
  const metrics = await fetch(`${gateway.url}/metrics`);
  const reported = JSON.stringify([
    gateway.logged,
    gateway.events,
    await ready.text(),
    await metrics.text(),
    google.requests.map(({ path }) => path),
  ]);
  assert.doesNotMatch(reported, /vertex-token-text/);
});
